"""A system or developer turn stands inside the conversation."""

from tests.zoo.expecting import ALL, Expect, alternates, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    function,
    human,
    neutral,
    result,
    rounds,
    system,
    tool,
    user,
)

TITLE = "a system turn stands inside the conversation"
TARGETS = ALL
DEMOTING = ("anthropic", "gemini", "mistral", "bedrock")


def demoted(count: int) -> tuple[Expect, Expect]:
    there = Expect(on=DEMOTING, reports=(f"SYSTEM_DEMOTED x{count}",), shows=("[turnkeep]",))
    return there, Expect(on=("openai",), never=("SYSTEM_DEMOTED",), hides=("[turnkeep]",))


VARIANTS = [
    variant(
        "a new rule",
        neutral(
            system("speak plainly"),
            human("hello"),
            ai("Hello."),
            system("from here on speak in verse"),
            human("the sea?"),
        ),
        *demoted(1),
        Expect(
            order=("speak plainly", "hello", "Hello.", "from here on speak in verse", "the sea?")
        ),
        Expect(on=("anthropic", "bedrock"), also=alternates),
        Expect(on=("openai",), roles=("system", "user", "assistant", "system", "user")),
    ),
    variant(
        "several notes, some in a row",
        neutral(
            human("begin"),
            system("note one: be brief"),
            ai("Begun."),
            system("note two: be kind"),
            system("note three: be done"),
            human("end"),
        ),
        *demoted(3),
        Expect(order=("note one: be brief", "Begun.", "note two: be kind", "note three: be done")),
    ),
    variant(
        "between a call and its result",
        neutral(
            *rounds(1),
            human("rhyme"),
            ai(call("rhyme-1", "rhyme", {"with": "moon"})),
            system("the model was switched"),
            tool(result("rhyme-1", "soon, tune, dune")),
        ),
        *demoted(1),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            pairs=[("look_up", "entry of <0>"), ("rhyme", "soon, tune, dune")],
            order=("soon, tune, dune", "the model was switched"),
        ),
    ),
    variant(
        "chat shape, developer role",
        chat(
            {"role": "developer", "content": "you are a poet"},
            user("a haiku"),
            assistant("", function("call_syl", "syllables")),
            answer("call_syl", "five, seven, five"),
            {"role": "developer", "content": "now a sonnet"},
            user("again"),
        ),
        *demoted(1),
        Expect(order=("you are a poet", "a haiku", "five, seven, five", "now a sonnet", "again")),
    ),
    variant(
        "two leading turns stay what they are",
        neutral(system("first rule"), system("second rule"), human("go"), ai("Gone.")),
        Expect(never=("SYSTEM_DEMOTED",), order=("first rule", "second rule", "go", "Gone.")),
    ),
    variant(
        "the system has the last word",
        neutral(human("good verse"), ai("Thank you."), system("close the book")),
        *demoted(1),
        Expect(order=("Thank you.", "close the book")),
    ),
]
