"""The forms of streams that are no lines: AWS's frames, judged by botocore, and JSON arrays."""

import base64
import json
from itertools import chain
from typing import Any

import pytest
from botocore.eventstream import EventStreamBuffer, ParserError

from app.formats.shared.events.event import Event
from app.formats.shared.events.reader import EventReader
from app.model.conversation import Text, ToolCall
from tests.streams.posts import LIMITS, from_stream, sized
from tests.streams.recordings import OTHER_FORMS, Recording
from tests.streams.recordings.forms import event_frame, frame, header
from tests.streams.recordings.frames import written

FRAMES = [one for one in OTHER_FORMS if one.provider == "bedrock"]
STARTED: Any = {"messageStart": {"role": "assistant"}}
HELLO: Any = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hello"}}}
STOPPED: Any = {"messageStop": {"stopReason": "end_turn"}}


def read(*pieces: bytes) -> tuple[list[Event], EventReader]:
    reader = EventReader(LIMITS)
    return [*chain.from_iterable(map(reader.feed, pieces)), *reader.finish()], reader


def values(events: list[Event]) -> list[Any]:
    return [event.value for event in events if event.value is not None]


def judged(stream: bytes) -> tuple[list[Any], bool]:
    """What botocore reads, and whether it came to an end without a complaint."""
    buffer = EventStreamBuffer()
    buffer.add_data(stream)
    found: list[Any] = []
    try:
        for message in buffer:
            headers = message.headers
            name = headers.get(":exception-type") or headers[":event-type"]
            found.append({name: json.loads(message.payload)})
    except ParserError:
        return found, False
    return found, True


@pytest.mark.parametrize("one", FRAMES, ids=lambda one: one.label)
def test_frames_are_read_as_botocore_reads_them(one: Recording) -> None:
    events, reader = read(one.stream)
    assert (values(events), True) == judged(one.stream)
    assert len(events) == len(values(events))
    assert (reader.strays, reader.cut) == (0, False)


def test_a_damaged_byte_ends_the_stream_where_botocore_ends_it() -> None:
    stream = b"".join(map(event_frame, (STARTED, HELLO, STOPPED)))
    first = len(event_frame(STARTED))
    for place in range(len(stream)):
        damaged = bytearray(stream)
        damaged[place] ^= 0x10
        expected, sound = judged(bytes(damaged))
        events, reader = read(*sized(bytes(damaged), 7))
        assert values(events) == expected, place
        assert not sound
        assert any(event.broken for event in events) or (reader.strays and place < 12), place
        if place >= first:
            draft = from_stream("bedrock", [bytes(damaged)])
            assert (draft.status, draft.raw) == ("interrupted", bytes(damaged))


def test_headers_of_every_type_are_passed_over() -> None:
    sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    odd = b"".join(bytes([1, 65 + kind, kind]) + bytes(size) for kind, size in sizes.items())
    odd += b"\x01a\x06\x00\x03abc"
    headers = header(":message-type", "event") + odd + header(":event-type", "messageStop")
    stream = frame(headers, b'{"stopReason": "end_turn"}')
    events, _ = read(stream)
    assert values(events) == judged(stream)[0] == [STOPPED]


BROKEN_HEADERS = {
    "a header twice": header(":event-type", "messageStop") * 2,
    "a type that nobody knows": b"\x01a\x0a",
    "a name beyond the end": b"\x40a",
    "a value beyond the end": b"\x01a\x07\x00\x09ab",
    "no length of a value": b"\x01a\x07\x00",
}


@pytest.mark.parametrize("headers", BROKEN_HEADERS.values(), ids=BROKEN_HEADERS)
def test_a_frame_whose_headers_cannot_be_read_breaks_the_stream(headers: bytes) -> None:
    stream = event_frame(HELLO) + frame(headers, b"{}") + event_frame(STOPPED)
    draft = from_stream("bedrock", [stream])
    assert (draft.blocks, draft.status) == ((Text("Hello"),), "interrupted")


def test_an_error_of_the_stream_itself_interrupts_the_turn() -> None:
    headers = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": "no"}
    failed = frame(b"".join(map(header, headers, headers.values())), b"")
    draft = from_stream("bedrock", [event_frame(HELLO) + failed])
    assert draft.status == "interrupted"
    assert draft.facts == {"error": {"type": "InternalFailure", "message": "no"}}


def test_a_payload_that_is_no_json_breaks_the_stream() -> None:
    named = header(":message-type", "event") + header(":event-type", "messageStop")
    draft = from_stream("bedrock", [event_frame(HELLO) + frame(named, b"{") + event_frame(STOPPED)])
    assert (draft.blocks, draft.status) == ((Text("Hello"),), "interrupted")


def test_frames_around_the_events_of_another_wire_are_opened() -> None:
    """InvokeModelWithResponseStream, for a model of Anthropic."""
    start = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    text = {"type": "text", "text": ""}
    begun = {"type": "content_block_start", "index": 0, "content_block": text}
    piece = {"type": "text_delta", "text": "Hello"}
    delta = {"type": "content_block_delta", "index": 0, "delta": piece}
    chunks = [
        {"chunk": {"bytes": base64.b64encode(written(one).encode()).decode(), "p": "ab"}}
        for one in (start, begun, delta, {"type": "message_stop"})
    ]
    draft = from_stream("anthropic", map(event_frame, chunks))
    assert (draft.blocks, draft.status) == ((Text("Hello"),), "complete")
    spoilt: dict[str, Any] = {"chunk": {"bytes": "not base64"}}
    broken = from_stream("anthropic", map(event_frame, [*chunks[:3], spoilt, *chunks[3:]]))
    assert (broken.blocks, broken.status) == ((Text("Hello"),), "interrupted")


def chunk(text: str, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, **more}]}


A, B = chunk('He"[{,\\'), chunk("llo", finishReason="STOP")
ARRAYS = {
    "one line": written([A, B]),
    "two arrays": written([A]) + written([B]),
    "an array a line": written([A]) + "\n" + written([B]) + "\n",
    "an array, then an object": written([A]) + "\n" + written(B),
    "no end": written([A, B])[:-1],
    "no commas": f"[{written(A)}\n{written(B)}]",
    "a mark in front, and blanks": "\ufeff \r\n\t" + json.dumps([A, B], indent=1),
}


@pytest.mark.parametrize("stream", ARRAYS.values(), ids=ARRAYS)
def test_arrays_are_read_in_any_pieces(stream: str) -> None:
    data = stream.encode()
    for size in (len(data), 1, 2, 3, 11):
        events, reader = read(*sized(data, size))
        assert (values(events), len(events), reader.strays) == ([A, B], 2, 0)
        draft = from_stream("gemini", sized(data, size))
        assert (draft.blocks, draft.status) == ((Text('He"[{,\\llo'),), "complete")


NO_OBJECTS = ["5", '"a, [b"', "true", "[1, {}]", "null", "oops", "]", '{"a": }', '{"a": NaN}']


@pytest.mark.parametrize("odd", NO_OBJECTS)
def test_what_is_no_object_in_an_array_is_passed_over_and_told(odd: str) -> None:
    stream = f"[{written(A)}, {odd}, {written(B)}]".encode()
    for size in (len(stream), 1):
        events, _ = read(*sized(stream, size))
        if odd == "]":
            assert values(events) == [A, B]
            continue
        assert [event.value for event in events] == [A, None, B]
        assert events[1].broken == odd.startswith("{")
    draft = from_stream("gemini", [stream])
    assert draft.blocks == (Text('He"[{,\\llo'),)
    assert "EVENTS_NOT_READ" in {note.code for note in draft.notes} or odd == "]"


def test_too_deep_an_element_breaks_the_stream_and_no_more() -> None:
    deep = '{"a":' * 80 + "1" + "}" * 80
    draft = from_stream("gemini", [f"[{written(A)},{deep},{written(B)}]".encode()])
    assert (draft.blocks, draft.status) == ((Text('He"[{,\\llo'),), "interrupted")


def test_any_wires_events_may_stand_in_an_array() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "find", "arguments": "{}"}}
    chunks = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    draft = from_stream("openai", [json.dumps(chunks).encode()])
    assert (draft.blocks, draft.status) == ((ToolCall("a", "find", "{}"),), "complete")
