"""What an event says under a name that nobody reads is named, or the turn is kept as unreadable."""

import json
from typing import Any

import pytest

from tests.streams.posts import from_stream


def sse(*events: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def chat(delta: Any, **choice: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, **choice}],
    }


def anthropic(*deltas: Any, block: Any = None) -> list[Any]:
    return [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": block or {"type": "text", "text": ""},
        },
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]


STOP = chat({}, finish_reason="stop")
HELLO = chat({"role": "assistant", "content": "Hello"})


@pytest.mark.parametrize(
    ("provider", "events", "name"),
    [
        ("openai", [HELLO, chat({"contents": "more"}), STOP], "contents"),
        ("openai", [HELLO, chat({"content": 5}), STOP], "content"),
        ("openai", [HELLO, chat({"tool_calls": "zzz"}), STOP], "tool_calls"),
        ("openai", [HELLO, chat({"annotations": [{"url": "u"}]}), STOP], "annotations"),
        ("openai", [HELLO, chat({}, text="more"), STOP], "text"),
        ("openrouter", [HELLO, chat({"images": [{"image_url": {"url": "u"}}]}), STOP], "images"),
        (
            "openai",
            [HELLO, chat({"tool_calls": [{"index": 0, "id": "a", "func": {"name": "f"}}]}), STOP],
            "func",
        ),
        (
            "anthropic",
            anthropic({"type": "text_delta", "text": "Hi"}, {"type": "text_delta", "txt": "x"}),
            "txt",
        ),
        (
            "bedrock",
            [
                {"messageStart": {"role": "assistant"}},
                {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}},
                {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"txt": "more"}}},
                {"messageStop": {"stopReason": "end_turn"}},
            ],
            "txt",
        ),
        (
            "gemini",
            [
                {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
                {"candidates": [{"contents": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]},
            ],
            "contents",
        ),
    ],
)
def test_a_member_of_an_event_that_nobody_reads_is_named(
    provider: str, events: list[Any], name: str
) -> None:
    notes = from_stream(provider, [sse(*events)]).notes
    named = [note.detail for note in notes if note.code == "MEMBERS_NOT_READ"]
    assert any(name in detail for detail in named)


@pytest.mark.parametrize(
    ("provider", "events"),
    [
        ("openai", [chat({"role": "assistant", "contents": "Hello"}), STOP]),
        ("openai", [chat("oops"), STOP]),
        ("openai", [chat({}, text="Hello"), STOP]),
        ("openai", [chat({"role": "assistant", "audio": {"data": "AAAA"}}), STOP]),
        (
            "gemini",
            [{"candidates": [{"contents": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}],
        ),
    ],
)
def test_a_stream_of_which_nothing_is_read_is_kept_as_unreadable(
    provider: str, events: list[Any]
) -> None:
    draft = from_stream(provider, [sse(*events)])
    assert draft.status == "interrupted"
    assert "STREAM_UNREADABLE" in {note.code for note in draft.notes}


def test_a_call_whose_input_came_under_a_wrong_name_has_no_input() -> None:
    delta = {"type": "input_json_delta", "partialJson": '{"table": "users"}'}
    call = {"type": "tool_use", "id": "toolu_1", "name": "delete", "input": {}}
    draft = from_stream("anthropic", [sse(*anthropic(delta, block=call))])
    assert draft.status == "interrupted"
    assert [block.arguments for block in draft.blocks] == [""]  # type: ignore[union-attr]
