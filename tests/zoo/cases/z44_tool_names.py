"""Tool names that were invented, are empty, dotted, too long, or carry leaked tokens."""

from collections.abc import Sequence

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
    rounds,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "a tool's name is refused"
TARGETS = ALL
STRICT = tuple(target for target in ALL if target not in ("gemini", "anthropic"))


def distinct(seen: Seen) -> Sequence[str]:
    names = [name for _, name, _, _ in seen.calls]
    return [] if len(set(names)) == len(names) else [f"names fall together: {names}"]


APART = Expect(also=distinct)

VARIANTS = [
    variant(
        "invented, dotted, empty",
        neutral(
            human("do it all"),
            ai(
                call("a", "$LAUNCH<|channel|>", {"to": "moon"}),
                call("b", "multi.tool_use"),
                call("c", ""),
            ),
            tool(*(result(one, f"no such tool: {one}", status="error") for one in "abc")),
        ),
        APART,
        Expect(
            pairs=[(None, f"no such tool: {one}") for one in "abc"],
            failed=(True, True, True),
        ),
        Expect(on=(*STRICT, "anthropic"), reports=("NAME_SANITIZED x3",)),
        # Gemini takes dots and colons.
        Expect(on=("gemini",), reports=("NAME_SANITIZED x2",)),
    ),
    variant(
        "alike once they are cleaned",
        neutral(
            *rounds(1),
            human("four readers"),
            ai(
                *(
                    call(f"n{at}", name)
                    for at, name in enumerate(("a.b", "a/b", "a b", "a_b", "ä_b"))
                )
            ),
            *(tool(result(f"n{at}", f"reader {at} reads")) for at in range(5)),
        ),
        APART,
        Expect(
            pairs=[("look_up", "entry of <0>"), *((None, f"reader {at} reads") for at in range(5))]
        ),
        Expect(on=STRICT, reports=("NAME_SANITIZED x4",)),
    ),
    variant(
        "sixty-four characters pass, more do not",
        chat(
            user("long names"),
            assistant(
                "",
                function("call_1", "n" * 64),
                function("call_2", "n" * 65),
                function("call_3", "n" * 64 + "m"),
                function("call_4", "n" * 129),
            ),
            *(answer(f"call_{n}", f"name {n} is long") for n in range(1, 5)),
        ),
        APART,
        Expect(pairs=[(None, f"name {n} is long") for n in range(1, 5)]),
        Expect(on=STRICT, reports=("NAME_SANITIZED x3",)),
        Expect(on=("anthropic",), reports=("NAME_SANITIZED x1",)),
    ),
    variant(
        "digits in front, only signs, other scripts",
        claude(
            ("user", "strange names"),
            (
                "assistant",
                [
                    tool_use("toolu_1", "9lives"),
                    tool_use("toolu_2", "---"),
                    tool_use("toolu_3", "読む"),
                    tool_use("toolu_4", "💥"),
                    tool_use("toolu_5", "\n"),
                ],
            ),
            ("user", [tool_result(f"toolu_{n}", f"strange {n}") for n in range(1, 6)]),
        ),
        APART,
        Expect(pairs=[(None, f"strange {n}") for n in range(1, 6)]),
        Expect(on=("kimi",), reports=("NAME_SANITIZED x5",)),
        Expect(on=("openai",), reports=("NAME_SANITIZED x3",)),
    ),
    variant(
        "one refused name keeps one shown name",
        neutral(
            human("twice the same"),
            ai(call("t1", "mcp.read"), call("t2", "mcp.read")),
            tool(result("t1", "read once"), result("t2", "read twice")),
        ),
        Expect(
            also=lambda seen: (
                []
                if len({name for _, name, _, _ in seen.calls}) == 1
                else [f"one name became several: {seen.calls}"]
            ),
            pairs=[(None, "read once"), (None, "read twice")],
        ),
    ),
]
