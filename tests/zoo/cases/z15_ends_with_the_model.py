"""The history ends with the model, perhaps with blanks at the end of its words."""

from collections.abc import Callable, Sequence

from tests.zoo.expecting import Expect, Seen, variant
from tests.zoo.spoken import (
    ai,
    assistant,
    call,
    chat,
    claude,
    human,
    neutral,
    result,
    rounds,
    tool,
    user,
)

TITLE = "the history ends with the model"
TARGETS = ("anthropic", "mistral", "openai", "kimi", "gemini", "bedrock")
FLAGGED = ("anthropic", "mistral", "gemini", "bedrock")
AS_IT_IS = ("openai", "kimi")
WAITED = ("anthropic", "gemini", "bedrock")
GOES_ON = "[turnkeep] The conversation goes on here."


def ends_with(words: str) -> Callable[[Seen], Sequence[str]]:
    def last_words(seen: Seen) -> Sequence[str]:
        found = seen.texts[-1]
        return [] if found == words else [f"the last words are {found!r}"]

    return last_words


def is_not_marked(seen: Seen) -> Sequence[str]:
    return ["the last message is marked as a prefix"] if "prefix" in seen.messages[-1] else []


def is_marked(seen: Seen) -> Sequence[str]:
    return [] if seen.messages[-1].get("prefix") is True else ["the last message is not marked"]


VARIANTS = [
    variant(
        "the next message is the caller's to append",
        neutral(human("sit"), ai("I sit."), human("stay"), ai("I stay.")),
        Expect(never=("BRIDGE_USER", "MARKED_AS_PREFIX"), hides=("[turnkeep]",)),
        Expect(also=is_not_marked),
    ),
    variant(
        "ready to be sent, with blanks",
        neutral(human("good night"), ai("Sleep well. \n")),
        Expect(on=WAITED, only=("BRIDGE_USER",), also=ends_with(GOES_ON)),
        Expect(on=WAITED, order=("Sleep well. \n", GOES_ON)),
        Expect(
            on=("mistral",),
            only=("MARKED_AS_PREFIX", "TRAILING_TRIMMED"),
            also=is_marked,
        ),
        Expect(on=AS_IT_IS, only=(), also=ends_with("Sleep well. \n")),
        options={"ready": True},
    ),
    variant(
        "with blanks",
        neutral(human("good night"), ai("Sleep well. \n\t\n")),
        Expect(
            on=FLAGGED,
            reports=("ENDS_WITH_ASSISTANT x1", "TRAILING_TRIMMED x1"),
            also=ends_with("Sleep well."),
        ),
        Expect(on=AS_IT_IS, only=(), also=ends_with("Sleep well. \n\t\n")),
    ),
    variant(
        "without blanks",
        neutral(human("good morning"), ai("The sun is up.")),
        Expect(
            on=FLAGGED,
            reports=("ENDS_WITH_ASSISTANT x1",),
            never=("TRAILING_TRIMMED",),
            also=ends_with("The sun is up."),
        ),
        Expect(on=AS_IT_IS, only=()),
    ),
    variant(
        "only the last words are trimmed",
        neutral(
            *rounds(1),
            human("sing"),
            ai("La la. \n"),
            human("again"),
            ai(call("song-1", "hum")),
            tool(result("song-1", "hummed softly \n")),
            ai("Lu lu.   "),
        ),
        Expect(on=FLAGGED, reports=("TRAILING_TRIMMED x1",), also=ends_with("Lu lu.")),
        Expect(shows=("La la. \n", "hummed softly \n")),
    ),
    variant(
        "blank words at the end are left out",
        neutral(human("are you there?"), ai("Yes."), human("really?"), ai(" \n ")),
        Expect(never=("ENDS_WITH_ASSISTANT",), reports=("EMPTY_TEXT_OMITTED x1",)),
        Expect(also=ends_with("really?")),
    ),
    variant(
        "chat shape",
        chat(user("tell me"), assistant("Once upon a time ")),
        Expect(
            on=FLAGGED,
            reports=("ENDS_WITH_ASSISTANT x1", "TRAILING_TRIMMED x1"),
            also=ends_with("Once upon a time"),
        ),
        Expect(on=AS_IT_IS, only=(), also=ends_with("Once upon a time ")),
    ),
    variant(
        "anthropic shape, several blocks",
        claude(
            ("user", "and then?"),
            (
                "assistant",
                [{"type": "text", "text": "the fox ran "}, {"type": "text", "text": "home \n"}],
            ),
        ),
        Expect(on=FLAGGED, reports=("TRAILING_TRIMMED x1",)),
        Expect(on=("anthropic",), shows=("the fox ran ",), also=ends_with("home")),
    ),
]
