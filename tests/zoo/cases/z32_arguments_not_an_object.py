"""Arguments that are null, empty, a list or a bare value."""

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
    items,
    neutral,
    result,
    rounds,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "arguments are no object"
TARGETS = ALL
EMPTY: tuple[object, ...] = ([], "", "   ")
VALUES = (0, False, 2.5, "noon", [1, "two"], True)

VARIANTS = [
    variant(
        "empty of every kind",
        neutral(
            human("what time is it?"),
            ai(
                {"type": "tool_call", "id": "t0", "name": "clock", "parameters": None},
                {"type": "tool_call", "id": "t9", "name": "clock"},
                *(call(f"t{at}", "clock", value) for at, value in enumerate(EMPTY, 1)),
            ),
            tool(*(result(f"t{at}", f"clock <{at}> says ten") for at in (0, 9, 1, 2, 3))),
        ),
        Expect(
            reports=("ARGS_COERCED_OBJECT x5",),
            arguments=[{}] * 5,
            pairs=[("clock", f"clock <{at}> says ten") for at in (0, 9, 1, 2, 3)],
        ),
    ),
    variant(
        "values that say something",
        neutral(
            *rounds(1),
            human("set the clock"),
            ai(*(call(f"v{at}", "set", value) for at, value in enumerate(VALUES))),
            *(tool(result(f"v{at}", f"set by <{at}>")) for at in range(len(VALUES))),
        ),
        Expect(
            reports=(f"ARGS_COERCED_OBJECT x{len(VALUES)}",),
            arguments=[{"entry": 0}, *({"value": value} for value in VALUES)],
        ),
    ),
    variant(
        "chat shape, nothing and null and an object",
        chat(
            user("chime"),
            assistant(
                "",
                function("call_a", "chime", ""),
                function("call_b", "chime", None),
                function("call_c", "chime", "null"),
                function("call_d", "chime", {"times": 3}),
            ),
            *(answer(f"call_{one}", f"chimed {one}") for one in "abcd"),
        ),
        Expect(
            reports=("ARGS_COERCED_OBJECT x3",),
            arguments=[{}, {}, {}, {"times": 3}],
            pairs=[("chime", f"chimed {one}") for one in "abcd"],
        ),
    ),
    variant(
        "anthropic shape",
        claude(
            ("user", "alarm"),
            (
                "assistant",
                [
                    {"type": "tool_use", "id": "toolu_1", "name": "alarm", "input": None},
                    tool_use("toolu_2", "alarm", []),
                    tool_use("toolu_3", "alarm", [7, 30]),
                ],
            ),
            ("user", [tool_result(f"toolu_{n}", f"alarm {n} rings") for n in (1, 2, 3)]),
        ),
        Expect(
            reports=("ARGS_COERCED_OBJECT x3",),
            arguments=[{}, {}, {"value": [7, 30]}],
            pairs=[("alarm", f"alarm {n} rings") for n in (1, 2, 3)],
        ),
    ),
    variant(
        "responses and gemini shape",
        [
            items(
                "openai-responses",
                {"type": "function_call", "call_id": "call_r", "name": "wind", "arguments": ""},
                {"type": "function_call_output", "call_id": "call_r", "output": "wound up"},
            ),
            items(
                "gemini",
                {"role": "model", "parts": [{"functionCall": {"name": "tick"}}]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "tick", "response": {"result": "tock"}}}
                    ],
                },
            ),
        ],
        Expect(arguments=[{}, {}], pairs=[("wind", "wound up"), ("tick", "tock")]),
    ),
]
