"""The history begins with the model or a tool: it was trimmed, or the agent started itself."""

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
    system,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "the history does not begin with the user"
TARGETS = ALL
BRIDGED = ("anthropic", "mistral", "gemini", "bedrock")
AS_IT_IS = ("openai", "kimi")
ADDED = Expect(on=BRIDGED, first="user", reports=("BRIDGE_USER x1",), shows=("[turnkeep]",))

VARIANTS = [
    variant(
        "a system turn and a call",
        neutral(
            system("you guard the gate"),
            ai(call("boot", "open_gate")),
            tool(result("boot", "gate stands open")),
            ai("Ready."),
        ),
        ADDED,
        Expect(on=AS_IT_IS, first="assistant", never=("BRIDGE_USER",), hides=("[turnkeep]",)),
        Expect(pairs=[("open_gate", "gate stands open")]),
    ),
    variant(
        "the model greets",
        neutral(ai("Who goes there?"), human("a friend"), ai("Pass, friend.")),
        ADDED,
        Expect(on=AS_IT_IS, first="assistant", never=("BRIDGE_USER",)),
        Expect(order=("Who goes there?", "a friend", "Pass, friend.")),
    ),
    variant(
        "a strange result comes first",
        neutral(tool(result("gone", "torches burn")), ai("They burn."), human("good")),
        Expect(first="user", never=("BRIDGE_USER",), reports=("ORPHAN_RESULT x1",)),
    ),
    variant(
        "a window begins with the model",
        neutral(*rounds(2), human("once again")),
        ADDED,
        Expect(on=AS_IT_IS, first="assistant", never=("BRIDGE_USER",)),
        Expect(hides=("question number <1>",), shows=("conclusion <1>", "once again")),
        options={"last": 2},
    ),
    variant(
        "chat shape",
        chat(
            {"role": "system", "content": "night watch"},
            assistant("", function("call_bell", "bell")),
            answer("call_bell", "bell rings"),
            user("who rang?"),
        ),
        ADDED,
        Expect(pairs=[("bell", "bell rings")]),
    ),
    variant(
        "anthropic shape, call and two answers",
        claude(
            ("assistant", [tool_use("toolu_1", "lamp"), tool_use("toolu_2", "lamp")]),
            ("user", [tool_result("toolu_1", "lamp one"), tool_result("toolu_2", "lamp two")]),
            system="keep the lamps",
        ),
        ADDED,
        Expect(pairs=[("lamp", "lamp one"), ("lamp", "lamp two")], shows=("keep the lamps",)),
    ),
    variant(
        "the user's own words were blank",
        neutral(human("  "), ai("You said nothing."), human("true")),
        ADDED,
        Expect(reports=("EMPTY_TEXT_OMITTED x1",), shows=("You said nothing.",)),
    ),
]
