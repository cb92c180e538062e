"""The same id stands on several calls of one response."""

from tests.zoo.expecting import ALL, KEEPING, NAMING, UNKNOWN, Expect, variant
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

TITLE = "one id stands on several calls of a turn"
TARGETS = ALL

VARIANTS = [
    variant(
        "twice",
        neutral(
            human("two pages"),
            ai(call("pg", "page", {"n": 1}), call("pg", "page", {"n": 2})),
            tool(result("pg", "page with a map"), result("pg", "page with a poem")),
        ),
        Expect(on=KEEPING, reports=("ID_REMAPPED x1",)),
        Expect(on=NAMING, reports=("ID_REMAPPED x2",)),
        Expect(
            never=("DUP_RESULT_SUPERSEDED", "SYNTH_RESULT"),
            pairs=[("page", "page with a map"), ("page", "page with a poem")],
            arguments=[{"n": 1}, {"n": 2}],
        ),
    ),
    variant(
        "four times under three names, results apart",
        neutral(
            *rounds(1),
            human("prepare"),
            ai(*(call("x", name) for name in ("wash", "peel", "cut", "peel"))),
            *(tool(result("x", f"step {n} done")) for n in range(4)),
        ),
        Expect(
            reports=("ID_REMAPPED",),
            never=("DUP_RESULT_SUPERSEDED",),
            pairs=[
                ("look_up", "entry of <0>"),
                ("wash", "step 0 done"),
                ("peel", "step 1 done"),
                ("cut", "step 2 done"),
                ("peel", "step 3 done"),
            ],
        ),
    ),
    variant(
        "chat shape by kimi",
        chat(
            user("read both"),
            assistant(
                "",
                function("functions.read:0", "read", '{"f": "left"}'),
                function("functions.read:0", "read", '{"f": "right"}'),
            ),
            answer("functions.read:0", "left file"),
            answer("functions.read:0", "right file"),
            provider="kimi",
        ),
        Expect(pairs=[("read", "left file"), ("read", "right file")]),
        # Anthropic and Mistral refuse the id, whoever used it before.
        Expect(on=("openai",), reports=("ID_REMAPPED x1",)),
        Expect(on=("anthropic", "mistral"), reports=("ID_REMAPPED x2",)),
        # The first of them is shown under its own id.
        Expect(
            on=("kimi",),
            call_ids=("functions.read:0", "functions.read:1"),
            reports=("ID_REMAPPED x1",),
        ),
    ),
    variant(
        "anthropic shape, one result missing",
        claude(
            ("user", "three eggs"),
            ("assistant", [tool_use("toolu_e", "boil", {"egg": n}) for n in (1, 2, 3)]),
            (
                "user",
                [
                    tool_result("toolu_e", "first egg soft"),
                    tool_result("toolu_e", "second egg hard"),
                ],
            ),
            ("assistant", "Two are done."),
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("boil", "first egg soft"), ("boil", "second egg hard"), ("boil", UNKNOWN)],
        ),
    ),
    variant(
        "one result too many is a repeat",
        neutral(
            human("two candles"),
            ai(call("c", "light", {"n": 1}), call("c", "light", {"n": 2})),
            tool(
                result("c", "candle one burns"),
                result("c", "candle two smokes"),
                result("c", "candle two burns"),
            ),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x1",),
            pairs=[("light", "candle one burns"), ("light", "candle two burns")],
        ),
    ),
]
