"""Blank texts: a turn of thinking only, a call saved with "", a command that printed nothing."""

from tests.zoo.expecting import ALL, Expect, alternates, variant
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

TITLE = "texts are blank"
TARGETS = ALL
ALTERNATING = Expect(on=("anthropic", "mistral", "bedrock"), also=alternates)

VARIANTS = [
    variant(
        "beside a call, in a result, in a turn",
        neutral(
            human("make the path"),
            ai("", call("mk", "make_path", {"to": "barn"})),
            tool(result("mk", "")),
            ai("   "),
            human("next field"),
        ),
        ALTERNATING,
        Expect(reports=("EMPTY_TEXT_OMITTED x2",), pairs=[("make_path", "")]),
    ),
    variant(
        "every kind of blank in every role",
        neutral(
            system(" \n"),
            human("\t", "plough", "\u00a0"),
            ai("\r\n\r\n", call("pl", "plough"), "\u2003"),
            tool(result("pl", "ploughed deep"), " "),
            ai("\n"),
            human("\n\n"),
            ai("Rows are straight."),
            human("sow"),
        ),
        ALTERNATING,
        Expect(
            reports=("EMPTY_TEXT_OMITTED x8",),
            pairs=[("plough", "ploughed deep")],
            order=("plough", "ploughed deep", "Rows are straight.", "sow"),
        ),
    ),
    variant(
        "nothing but blanks",
        neutral(human(" "), ai("\n"), human("\t")),
        Expect(reports=("EMPTY_TEXT_OMITTED x3", "BRIDGE_USER x1"), first="user", pairs=[]),
    ),
    variant(
        "the model says nothing between two users",
        chat(
            user("first furrow"),
            assistant(""),
            user("second furrow"),
            assistant("  "),
            user("third furrow"),
        ),
        ALTERNATING,
        Expect(order=("first furrow", "second furrow", "third furrow")),
        Expect(on=("anthropic",), roles=("user",)),
        Expect(on=("openai",), roles=("user", "user", "user")),
    ),
    variant(
        "anthropic shape",
        claude(
            ("user", [{"type": "text", "text": ""}, {"type": "text", "text": "reap"}]),
            ("assistant", [{"type": "text", "text": " "}, tool_use("toolu_r", "reap")]),
            ("user", [tool_result("toolu_r", "  "), {"type": "text", "text": "\n"}]),
            ("assistant", [{"type": "text", "text": "Reaped."}]),
        ),
        ALTERNATING,
        Expect(reports=("EMPTY_TEXT_OMITTED x3",), pairs=[("reap", "")], shows=("Reaped.",)),
    ),
    variant(
        "chat shape, after a healthy history",
        [
            neutral(*rounds(2)),
            chat(
                user("gather"),
                assistant("", function("call_g", "gather")),
                answer("call_g", ""),
                user([{"type": "text", "text": ""}]),
            ),
        ],
        ALTERNATING,
        Expect(
            reports=("EMPTY_TEXT_OMITTED x1",),
            pairs=[("look_up", "entry of <0>"), ("look_up", "entry of <1>"), ("gather", "")],
        ),
    ),
]
