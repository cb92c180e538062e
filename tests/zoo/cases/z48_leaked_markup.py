"""Markup of tool calls leaked into text: it stays text, and is pointed out."""

from tests.zoo.expecting import ALL, Expect, variant
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
    tool,
    user,
)

TITLE = "markup of tool calls stands in text"
TARGETS = ALL
LEAK = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.list:0"
    '<|tool_call_argument_begin|>{"of": "caves"}<|tool_call_end|><|tool_calls_section_end|>'
)
QWEN = '<tool_call>\n{"name": "list", "arguments": {"of": "cliffs"}}\n</tool_call>'

VARIANTS = [
    variant(
        "kimi's tokens",
        neutral(human("list the caves"), ai(LEAK), human("and?")),
        Expect(reports=("SUSPECT_MARKUP x1",), shows=(LEAK,), pairs=[]),
    ),
    variant(
        "qwen's tags, chat shape",
        chat(user("list the cliffs"), assistant(QWEN), user("well?"), provider="qwen"),
        Expect(reports=("SUSPECT_MARKUP x1",), shows=(QWEN,), pairs=[]),
    ),
    variant(
        "beside a real call, after a healthy history",
        neutral(
            *rounds(1),
            human("list both"),
            ai(LEAK, call("r", "list", {"of": "rocks"})),
            tool(result("r", "nine rocks")),
        ),
        Expect(
            reports=("SUSPECT_MARKUP x1",),
            shows=(LEAK,),
            pairs=[("look_up", "entry of <0>"), ("list", "nine rocks")],
        ),
    ),
    variant(
        "a human who talks about it",
        neutral(
            human("what does <tool_call> mean, and <|tool_call_begin|>?"),
            ai("They begin a call."),
            tool(result("gone", "docs: <tool_call> opens a call")),
        ),
        Expect(
            never=("SUSPECT_MARKUP",),
            shows=(
                "what does <tool_call> mean, and <|tool_call_begin|>?",
                "docs: <tool_call> opens a call",
            ),
            pairs=[],
        ),
    ),
    variant(
        "in arguments and results it is data",
        chat(
            user("save the template"),
            assistant("", function("call_s", "save", '{"text": "<tool_call>{}</tool_call>"}')),
            answer("call_s", f"saved: {QWEN}"),
        ),
        Expect(
            never=("SUSPECT_MARKUP",),
            arguments=[{"text": "<tool_call>{}</tool_call>"}],
            pairs=[("save", "saved: <tool_call>")],
        ),
    ),
]
