"""Kimi K2 reads the tool's name out of an id that counts through the whole conversation."""

from tests.zoo.expecting import Expect, variant
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

TITLE = "kimi's ids count through the conversation"
TARGETS = ("kimi", "openai", "anthropic")

VARIANTS = [
    variant(
        "calls of two providers",
        neutral(
            human("open the box"),
            ai(call("toolu_box", "open_box", {"box": 1})),
            tool(result("toolu_box", "a key")),
            human("use it"),
            ai(call("call_71", "turn_key"), call("call_72", "open_box", {"box": 2})),
            tool(result("call_71", "key turns"), result("call_72", "box two is empty")),
        ),
        Expect(
            pairs=[
                ("open_box", "a key"),
                ("turn_key", "key turns"),
                ("open_box", "box two is empty"),
            ]
        ),
        Expect(
            on=("kimi",),
            reports=("ID_REMAPPED x3",),
            call_ids=("functions.open_box:0", "functions.turn_key:1", "functions.open_box:2"),
        ),
    ),
    variant(
        "a window does not count anew",
        neutral(*rounds(4), human("go on")),
        Expect(on=("kimi",), call_ids=("functions.look_up:3",)),
        Expect(pairs=[("look_up", "entry of <3>")]),
        options={"last": 4},
    ),
    variant(
        "its own ids are echoed, with their gaps",
        [
            chat(
                user("first"),
                assistant("", function("functions.lock:0", "lock")),
                answer("functions.lock:0", "locked once"),
                assistant("", function("functions.bolt:5", "bolt")),
                answer("functions.bolt:5", "bolted"),
                provider="kimi",
            ),
            chat(
                user("second"),
                assistant("", function("call_other", "lock")),
                answer("call_other", "locked twice"),
            ),
        ],
        Expect(
            on=("kimi",),
            call_ids=("functions.lock:0", "functions.bolt:5", "functions.lock:6"),
            reports=("ID_REMAPPED x1",),
        ),
        Expect(pairs=[("lock", "locked once"), ("bolt", "bolted"), ("lock", "locked twice")]),
    ),
    variant(
        "a host that counts every turn from zero",
        chat(
            user("knock"),
            assistant(
                "", function("functions.knock:0", "knock"), function("functions.wait:1", "wait")
            ),
            answer("functions.knock:0", "no answer at the door"),
            answer("functions.wait:1", "waited a minute"),
            assistant("", function("functions.ring:0", "ring")),
            answer("functions.ring:0", "somebody comes"),
            assistant("", function("functions.knock:0", "knock")),
            answer("functions.knock:0", "door opens"),
            provider="kimi",
        ),
        Expect(
            on=("kimi",),
            call_ids=(
                "functions.knock:0",
                "functions.wait:1",
                "functions.ring:2",
                "functions.knock:3",
            ),
        ),
        # functions.ring:0 has the right form and is used once, but 0 is taken: it cannot be used.
        Expect(on=("kimi",), reports=("ID_REMAPPED x2",)),
        Expect(
            pairs=[
                ("knock", "no answer at the door"),
                ("wait", "waited a minute"),
                ("ring", "somebody comes"),
                ("knock", "door opens"),
            ]
        ),
    ),
    variant(
        "names that kimi refuses",
        claude(
            ("user", "pick the lock"),
            ("assistant", [tool_use("toolu_1", "7_picks"), tool_use("toolu_2", "mcp.lock/pick")]),
            (
                "user",
                [tool_result("toolu_1", "seven broken"), tool_result("toolu_2", "lock clicks")],
            ),
        ),
        Expect(
            on=("kimi",),
            ids=r"functions\.[a-zA-Z_][a-zA-Z0-9_-]{0,63}:[01]",
            reports=("NAME_SANITIZED x2",),
        ),
        Expect(pairs=[(None, "seven broken"), (None, "lock clicks")]),
    ),
]
