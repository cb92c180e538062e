"""Content that is null, absent or an empty list."""

from collections.abc import Sequence

from tests.zoo.expecting import ALL, CHAT, Expect, Seen, variant
from tests.zoo.spoken import (
    answer,
    assistant,
    chat,
    claude,
    function,
    neutral,
    rounds,
    tool_result,
    tool_use,
    user,
)

TITLE = "content is null"
TARGETS = ALL


def text_is_text(seen: Seen) -> Sequence[str]:
    """Null stands beside calls only, and a tool always says a text."""
    return [
        f"content is {message.get('content')!r} in {message}"
        for message in seen.messages
        if (message.get("content") is None and "tool_calls" not in message)
        or (message["role"] == "tool" and not isinstance(message["content"], str))
    ]


TEXT = Expect(on=CHAT, also=text_is_text)

VARIANTS = [
    variant(
        "a message of nothing, a call, a result",
        chat(
            user("ring the bell"),
            assistant(None),
            assistant(None, function("call_b", "ring")),
            answer("call_b", None),
        ),
        TEXT,
        Expect(reports=("CONTENT_NORMALISED x1",), pairs=[("ring", "")]),
        Expect(on=("openai", "kimi", "mistral"), results=[""]),
    ),
    variant(
        "absent and empty lists",
        chat(
            {"role": "user", "content": "ring again"},
            {"role": "assistant"},
            {"role": "assistant", "content": [], "tool_calls": []},
            {"role": "assistant", "tool_calls": [function("call_c", "ring")]},
            {"role": "tool", "tool_call_id": "call_c"},
            {"role": "user", "content": []},
            user("stop ringing"),
        ),
        TEXT,
        Expect(reports=("CONTENT_NORMALISED x3",), pairs=[("ring", "")], shows=("stop ringing",)),
    ),
    variant(
        "by kimi, after a healthy history",
        [
            neutral(*rounds(1)),
            chat(
                user("toll"),
                assistant(None, function("functions.toll:1", "toll"), reasoning_content="hm"),
                answer("functions.toll:1", None),
                assistant(None, refusal=None),
                user("again"),
                provider="kimi",
            ),
        ],
        TEXT,
        Expect(
            reports=("CONTENT_NORMALISED x1",),
            pairs=[("look_up", "entry of <0>"), ("toll", "")],
        ),
    ),
    variant(
        "anthropic shape",
        claude(
            ("user", "peal"),
            ("assistant", None),
            ("assistant", tool_use("toolu_p", "peal")),
            ("user", {"type": "tool_result", "tool_use_id": "toolu_p"}),
            ("assistant", []),
            ("user", [tool_result("toolu_p", None)]),
        ),
        TEXT,
        Expect(reports=("CONTENT_NORMALISED x2", "DUP_RESULT_SUPERSEDED x1"), pairs=[("peal", "")]),
    ),
    variant(
        "nothing but null",
        chat(user(None), assistant(None), user("")),
        TEXT,
        Expect(reports=("CONTENT_NORMALISED x3", "BRIDGE_USER x1"), first="user"),
    ),
]
