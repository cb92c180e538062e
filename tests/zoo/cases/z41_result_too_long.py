"""A result that is longer than a wire's longest text."""

from collections.abc import Sequence

from tests.judges.wellformed import leaves
from tests.zoo.expecting import ALL, Expect, Seen, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    claude,
    function,
    human,
    neutral,
    result,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "a result is too long"
TARGETS = ALL
# The limits that the providers' own errors name.
MOST = {"openai": 1_048_576}


def short_enough(seen: Seen) -> Sequence[str]:
    sizes = [len(leaf) for leaf in leaves(seen.render.request)]
    most = MOST.get(seen.target, 10_485_760)
    return [f"a text has {size} characters" for size in sizes if size > most]


ELIDED = Expect(reports=("RESULT_ELIDED x1",), shows=("[turnkeep]",), also=short_enough)

VARIANTS = [
    variant(
        "head and tail are kept",
        neutral(
            human("list all stars"),
            ai(call("st", "list_stars")),
            tool(result("st", "FIRST STAR " + "*" * 11_437_877 + " LAST STAR")),
        ),
        ELIDED,
        Expect(shows=("FIRST STAR", "LAST STAR")),
        targets=("openai", "openai-responses", "vercel"),
        huge=True,
    ),
    variant(
        "no character is cut in half, chat shape",
        chat(
            user("all planets"),
            assistant("", function("call_p", "planets")),
            answer("call_p", "\U0001fa90" * 1_100_000),
        ),
        ELIDED,
        Expect(hides=("\ufffd",)),
        targets=("openai",),
        huge=True,
    ),
    variant(
        "an object with one long text",
        neutral(
            human("the whole log"),
            ai(call("lg", "log")),
            tool(result("lg", {"lines": "x" * 11_000_000, "status": "complete"})),
        ),
        ELIDED,
        targets=("gemini", "bedrock", "vercel"),
        huge=True,
    ),
    variant(
        "parts, one of them long, anthropic shape",
        claude(
            ("user", "both tapes"),
            ("assistant", tool_use("toolu_t", "tapes")),
            (
                "user",
                tool_result(
                    "toolu_t",
                    [
                        {"type": "text", "text": "tape one is short"},
                        {"type": "text", "text": "-" * 10_600_000},
                    ],
                ),
            ),
        ),
        ELIDED,
        Expect(shows=("tape one is short",)),
        targets=("anthropic", "mistral"),
        huge=True,
    ),
    variant(
        "what fits is left alone",
        neutral(
            human("half the log"),
            ai(call("hl", "log")),
            tool(result("hl", "fits: " + "y" * 100_000 + " :fits")),
        ),
        Expect(never=("RESULT_ELIDED",), raw_shows=("fits: " + "y" * 100_000 + " :fits",)),
        huge=True,
    ),
]
