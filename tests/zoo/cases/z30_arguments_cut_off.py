"""Arguments that end in the middle, or are no JSON for another reason."""

from tests.zoo.expecting import ALL, UNKNOWN, Expect, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    function,
    human,
    items,
    neutral,
    result,
    rounds,
    tool,
    user,
)

TITLE = "arguments are cut off"
TARGETS = ALL
CUT = '{"file": "story.txt", "text": "Once there was a gooseberry bu'

VARIANTS = [
    variant(
        "in the middle of a text",
        chat(
            user("write the story"),
            assistant("", function("call_1", "write", CUT)),
            answer("call_1", "argument 'text' is missing"),
        ),
        Expect(
            reports=("ARGS_UNPARSEABLE x1",),
            arguments=[{}],
            raw_hides=("gooseberry", "story.txt"),
            pairs=[("write", "argument 'text' is missing")],
        ),
        Expect(on=("openai",), raw_shows=(r'"arguments":"{}"',)),
    ),
    variant(
        "and the tool never ran",
        chat(user("write more"), assistant("", function("call_2", "write", CUT)), user("hello?")),
        Expect(
            reports=("ARGS_UNPARSEABLE x1", "SYNTH_RESULT x1"),
            arguments=[{}],
            pairs=[("write", UNKNOWN)],
            raw_hides=("gooseberry",),
        ),
    ),
    variant(
        "two objects glued together are not parted by guess",
        chat(
            user("look up both"),
            assistant("", function("call_3", "look", '{"q": "hazel"}{"q": "birch"}')),
            answer("call_3", "bad arguments"),
            provider="nebius",
        ),
        Expect(
            reports=("ARGS_UNPARSEABLE x1",),
            arguments=[{}],
            pairs=[("look", "bad arguments")],
            raw_hides=("hazel", "birch"),
        ),
    ),
    variant(
        "one of three is broken",
        neutral(
            *rounds(1),
            human("three edits"),
            ai(
                call("e1", "edit", {"line": 1}),
                {"type": "tool_call", "id": "e2", "name": "edit", "arguments": '{"line": 2, "by'},
                {"type": "tool_call", "id": "e3", "name": "edit", "arguments": '{"line": 3}'},
            ),
            tool(
                result("e1", "edit one ok"), result("e2", "edit two bad"), result("e3", "three ok")
            ),
        ),
        Expect(
            reports=("ARGS_UNPARSEABLE x1",),
            arguments=[{"entry": 0}, {"line": 1}, {}, {"line": 3}],
            pairs=[
                ("look_up", "entry of <0>"),
                ("edit", "edit one ok"),
                ("edit", "edit two bad"),
                ("edit", "three ok"),
            ],
        ),
    ),
    variant(
        "numbers that are none, and depth without end",
        chat(
            user("compute"),
            assistant(
                "",
                function("call_n", "compute", '{"x": NaN, "y": Infinity}'),
                function("call_d", "compute", "[" * 500 + "]" * 500),
                function("call_p", "compute", "print('plainly no JSON')"),
                function("call_t", "compute", '{"x": 1} and so on'),
            ),
            *(answer(f"call_{one}", f"refused {one}") for one in "ndpt"),
        ),
        Expect(
            reports=("ARGS_UNPARSEABLE x4",),
            arguments=[{}, {}, {}, {}],
            pairs=[("compute", f"refused {one}") for one in "ndpt"],
        ),
    ),
    variant(
        "responses shape",
        items(
            "openai-responses",
            {"role": "user", "content": "continue the story"},
            {"type": "function_call", "call_id": "call_c", "name": "write", "arguments": CUT},
            {"type": "function_call_output", "call_id": "call_c", "output": "cannot write that"},
        ),
        Expect(
            reports=("ARGS_UNPARSEABLE x1",), arguments=[{}], pairs=[("write", "cannot write that")]
        ),
    ),
]
