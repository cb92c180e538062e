"""Arguments that are JSON inside a JSON text."""

import json

from tests.zoo.expecting import ALL, Expect, variant
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

TITLE = "arguments are encoded twice"
TARGETS = ALL
INNER = {"river": "Elbe", "km": [1, 2]}
ONCE = json.dumps(INNER)
TWICE = json.dumps(ONCE)

VARIANTS = [
    variant(
        "chat shape",
        chat(
            user("how long?"),
            assistant(None, function("call_1", "length", TWICE)),
            answer("call_1", "long enough"),
        ),
        Expect(
            reports=("ARGS_UNWRAPPED x1",), arguments=[INNER], pairs=[("length", "long enough")]
        ),
    ),
    variant(
        "neutral and anthropic shape",
        [
            neutral(
                *rounds(1),
                human("source?"),
                ai(call("s", "source", ONCE)),
                tool(result("s", "a hill")),
            ),
            claude(
                ("assistant", tool_use("toolu_m", "mouth", ONCE)),
                ("user", tool_result("toolu_m", "the sea")),
            ),
        ],
        Expect(
            reports=("ARGS_UNWRAPPED x2",),
            arguments=[{"entry": 0}, INNER, INNER],
            pairs=[("look_up", "entry of <0>"), ("source", "a hill"), ("mouth", "the sea")],
        ),
    ),
    variant(
        "a text that is meant as a text stays one",
        chat(
            user("keep this"),
            assistant("", function("call_k", "keep", json.dumps({"payload": ONCE, "n": "[1]"}))),
            answer("call_k", "kept safe"),
        ),
        Expect(
            never=("ARGS_UNWRAPPED", "ARGS_COERCED_OBJECT"),
            arguments=[{"payload": ONCE, "n": "[1]"}],
        ),
    ),
    variant(
        "only one layer, and only around an object",
        chat(
            user("strange ones"),
            assistant(
                "",
                function("call_a", "odd", json.dumps(TWICE)),
                function("call_b", "odd", json.dumps("just words")),
                function("call_c", "odd", json.dumps("[1, 2]")),
            ),
            *(answer(f"call_{one}", f"odd {one}") for one in "abc"),
        ),
        Expect(
            never=("ARGS_UNWRAPPED", "ARGS_UNPARSEABLE"),
            reports=("ARGS_COERCED_OBJECT x3",),
            arguments=[{"value": TWICE}, {"value": "just words"}, {"value": "[1, 2]"}],
        ),
    ),
    variant(
        "cut off inside the inner text",
        chat(
            user("and broken"),
            assistant("", function("call_x", "length", json.dumps('{"river": "Od'))),
            answer("call_x", "no such river"),
        ),
        Expect(
            never=("ARGS_UNWRAPPED",),
            pairs=[("length", "no such river")],
            arguments=[{"value": '{"river": "Od'}],
        ),
    ),
]
