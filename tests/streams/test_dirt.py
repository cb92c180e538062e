"""What real streams are like: each case is a stream, the turn it gives, and what is noted."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from app.model.conversation import Block, Opaque, Text, Thinking, ToolCall
from tests.formats.anthropic.recordings import grown
from tests.long import IS_LONG
from tests.streams.posts import from_stream, sized
from tests.streams.recordings.frames import Event, sse

INTERRUPTED = "STREAM_INTERRUPTED"
REASSEMBLED = "STREAM_REASSEMBLED"
NOT_READ = "EVENTS_NOT_READ"
FIND = ToolCall("a", "find", '{"q":"elm"}')


@dataclass(frozen=True)
class Case:
    provider: str
    stream: bytes
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()


def delta(finish: str | None = None, **members: Any) -> Event:
    return {"choices": [{"index": 0, "delta": members, "finish_reason": finish}]}


def calls(*pieces: Event) -> Event:
    return delta(tool_calls=list(pieces))


def piece(arguments: str | None, name: str | None = None, **more: Any) -> Event:
    return {**more, "function": {"name": name, "arguments": arguments}}


STOP, CALLED, DONE = delta("stop"), delta("tool_calls"), "data: [DONE]"


def chat(*events: Event | str, blocks: Iterable[Block], notes: tuple[str, ...] = ()) -> Case:
    return Case("openai", sse(*events), tuple(blocks), notes)


def said(*texts: str) -> list[Event]:
    return [delta(content=text) for text in texts]


def lines(*events: Event) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in events).encode()


HELLO = (Text("Hello"),)
CHAT = {
    "the guide's stream: no blank lines, no end": Case(
        "openai",
        b"\n".join(
            b"data: " + json.dumps({"choices": [{"delta": {"tool_calls": [one]}}]}).encode()
            for one in (
                piece("", "get_weather", index=0, id="call_abc"),
                {"index": 0, "function": {"arguments": '{"loc'}},
                {"index": 0, "function": {"arguments": 'ation":'}},
                {"index": 0, "function": {"arguments": '"SF"}'}},
            )
        ),
        (ToolCall("call_abc", "get_weather", '{"location":"SF"}'),),
        (INTERRUPTED,),
    ),
    "no index": chat(
        calls(piece('{"q":', "find", id="a")), calls(piece('"elm"}')), CALLED, DONE, blocks=[FIND]
    ),
    "the id and the name in each chunk": chat(
        calls(piece("", "find", index=0, id="a")),
        calls(piece('{"q":', "find", index=0, id="a")),
        calls(piece('"elm"}', "find", index=0, id="a")),
        CALLED,
        blocks=[FIND],
    ),
    "the id in each chunk, no index": chat(
        calls(piece('{"q":', "find", id="a"), piece('{"n"', "dig", id="b")),
        calls(piece('"elm"}', id="a"), piece(":1}", id="b")),
        CALLED,
        blocks=[FIND, ToolCall("b", "dig", '{"n":1}')],
    ),
    "an empty id behind the first chunk": chat(
        calls(piece('{"q":', "find", index=0, id="a")),
        calls(piece('"elm"}', "", index=0, id="")),
        CALLED,
        blocks=[FIND],
    ),
    "a name in two chunks": chat(
        calls(piece("", "fi", index=0, id="a")),
        calls(piece("", "nd", index=0)),
        calls(piece('{"q":"elm"}', index=0)),
        CALLED,
        blocks=[FIND],
        notes=(REASSEMBLED,),
    ),
    "one index for two calls": chat(
        calls(piece('{"q":"elm"}', "find", index=0, id="a")),
        calls(piece('{"n":', "dig", index=0, id="b")),
        calls(piece("1}", index=0)),
        CALLED,
        blocks=[FIND, ToolCall("b", "dig", '{"n":1}')],
        notes=(REASSEMBLED,),
    ),
    "two calls glued together without a sign": chat(
        calls(piece('{"q":"elm"}', "find", index=0, id="a")),
        calls(piece('{"q":"oak"}', index=0)),
        CALLED,
        blocks=[ToolCall("a", "find", '{"q":"elm"}{"q":"oak"}')],
    ),
    "indexes that begin at 1 and leave gaps": chat(
        calls(piece('{"q":"elm"}', "find", index=1, id="a"), piece("{}", "now", index=7, id="b")),
        CALLED,
        blocks=[FIND, ToolCall("b", "now", "{}")],
    ),
    "arguments as an object": chat(
        calls({"index": 0, "id": "a", "function": {"name": "find", "arguments": {"q": "elm"}}}),
        CALLED,
        blocks=[FIND],
    ),
    "nulls everywhere": chat(
        delta(role="assistant", content=None, tool_calls=None, function_call=None, refusal=None),
        *said("Hel", "lo"),
        {"id": None, "choices": [], "usage": None},
        STOP,
        blocks=HELLO,
    ),
    "no end but a finish": chat(*said("Hel", "lo"), STOP, blocks=HELLO),
    "an end but no finish": chat(*said("Hel", "lo"), DONE, blocks=HELLO),
    "neither": chat(*said("Hel", "lo"), blocks=HELLO, notes=(INTERRUPTED,)),
    "comments, pings and retry": chat(
        ": PROCESSING", "retry: 3000", *said("Hel"), ":", "event: ping", *said("lo"), STOP,
        blocks=HELLO,
    ),
    "usage before the text and behind the end": chat(
        {"choices": [], "usage": {"total_tokens": 1}},
        *said("Hello"),
        STOP,
        {"object": "chat.completion.chunk", "usage": {"total_tokens": 3}},
        DONE,
        blocks=HELLO,
    ),
    "halves of a character in two events": Case(
        "openai",
        rb'data: {"choices":[{"delta":{"content":"\ud83d"}}]}' + b"\n\n"
        rb'data: {"choices":[{"delta":{"content":"\ude00!"},"finish_reason":"stop"}]}' + b"\n\n",
        (Text("😀!"),),
    ),
    "half a character in arguments": Case(
        "openai",
        rb'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":'
        rb'{"name":"find","arguments":"{\"q\":\"\ud83d"}}]}}]}' + b"\n\n"
        rb'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":'
        rb'{"arguments":"\ude00\"}"}}]},"finish_reason":"tool_calls"}]}' + b"\n\n",
        (ToolCall("a", "find", '{"q":"😀"}'),),
    ),
    "a half that stays alone": Case(
        "openai",
        rb'data: {"choices":[{"delta":{"content":"a\ud83d"},"finish_reason":"stop"}]}' + b"\n\n",
        (Text("a\ud83d"),),
    ),
    "a byte that is no UTF-8": Case(
        "openai",
        b'data: {"choices":[{"delta":{"content":"a\xffb"},"finish_reason":"stop"}]}\n\n',
        (Text("a\udcffb"),),
    ),
    "CRLF": Case("openai", sse(*said("Hel", "lo"), STOP, DONE, end="\r\n"), HELLO),
    "CR alone": Case("openai", sse(*said("Hel", "lo"), STOP, DONE, end="\r"), HELLO),
    "a mark in front": Case("openai", b"\xef\xbb\xbf" + sse(*said("Hel", "lo"), STOP), HELLO),
    "no blank behind the colon": Case(
        "openai", sse(*said("Hel", "lo"), STOP).replace(b"data: ", b"data:"), HELLO
    ),
    "an event over several lines": Case(
        "openai", sse(*said("Hel", "lo"), STOP).replace(b'"choices":', b'"choices":\ndata: '), HELLO
    ),
    "an event over several lines that end with CRLF": Case(
        "openai",
        sse(*said("Hel", "lo"), STOP, end="\r\n").replace(b'"choices":', b'"choices":\r\ndata: '),
        HELLO,
    ),
    "one object a line": Case("openai", lines(*said("Hel", "lo"), STOP), HELLO),
    "a whole answer as the only event": Case(
        "openai",
        sse({"object": "chat.completion", "choices": [
            {"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}),
        HELLO,
    ),
    "something unreadable in between": chat(
        *said("Hel"), "data: <html>", *said("lo"), STOP, blocks=HELLO, notes=(NOT_READ,)
    ),
    "an event of no known kind": chat(
        *said("Hel"), {"weather": "fine"}, *said("lo"), STOP, blocks=HELLO, notes=(NOT_READ,)
    ),
    "an error in the middle": chat(
        *said("Hel", "lo"),
        {"error": {"message": "overloaded", "code": 529}},
        DONE,
        blocks=HELLO,
        notes=(INTERRUPTED,),
    ),
    "an error on a last chunk, as gateways send it": chat(
        *said("Hel", "lo"),
        {"error": {"message": "gone"}, **delta("error", content="")},
        DONE,
        blocks=HELLO,
        notes=(INTERRUPTED,),
    ),
    "reasoning under another name": chat(
        delta(reasoning="Hm"),
        delta(reasoning="."),
        *said("Hello"),
        STOP,
        blocks=[Thinking("Hm.", {"reasoning": "Hm."}, "chat"), *HELLO],
    ),
}  # fmt: skip


def blocks_of(*events: list[Event]) -> list[Event]:
    numbered = enumerate(events)
    return [{"index": at, **event} for at, block in numbered for event in block]


def messages(*events: Event, blocks: Iterable[Block], notes: tuple[str, ...] = ()) -> Case:
    return Case("anthropic", sse(*events, named=True), tuple(blocks), notes)


START: Event = {"type": "message_start", "message": {"role": "assistant", "content": []}}
END: Event = {"type": "message_stop"}
USE: Event = {"type": "tool_use", "id": "a", "name": "find", "input": {}}


def json_delta(text: str) -> Event:
    return {"type": "input_json_delta", "partial_json": text}


def text_delta(text: str) -> Event:
    return {"type": "text_delta", "text": text}


FIND_LIKE = blocks_of(grown(USE, json_delta(""), json_delta('{"q":'), json_delta(' "elm"}')))
ANTHROPIC = {
    "the guide's stream: one block, no message": messages(
        *blocks_of(
            grown(
                {"type": "tool_use", "id": "toolu_abc", "name": "get_weather", "input": {}},
                json_delta('{"location":'),
                json_delta('"SF"}'),
            )
        ),
        blocks=[ToolCall("toolu_abc", "get_weather", '{"location":"SF"}')],
        notes=(INTERRUPTED,),
    ),
    "an empty piece of input": messages(START, *FIND_LIKE, END, blocks=[FIND]),
    "only empty pieces of input": messages(
        START,
        *blocks_of(grown(USE, json_delta(""), json_delta(""))),
        END,
        blocks=[ToolCall("a", "find", "{}")],
    ),
    "the input whole at the start": messages(
        START, *blocks_of(grown(USE | {"input": {"q": "elm"}})), END, blocks=[FIND]
    ),
    "deltas without an index": messages(
        START,
        *({key: value for key, value in event.items() if key != "index"} for event in FIND_LIKE),
        END,
        blocks=[FIND],
        notes=(REASSEMBLED,),
    ),
    "one index for two blocks": messages(
        START,
        *blocks_of(grown({"type": "text", "text": ""}, text_delta("Hello"))),
        *FIND_LIKE,
        END,
        blocks=[*HELLO, FIND],
    ),
    "a block without its start": messages(
        START,
        {"type": "content_block_delta", "index": 0, "delta": text_delta("Hello")},
        END,
        blocks=HELLO,
        notes=(REASSEMBLED,),
    ),
    "no stop of a block": messages(
        START, *blocks_of(grown({"type": "text", "text": "Hel"}, text_delta("lo"))[:-1]), END,
        blocks=HELLO,
    ),
    "pings and an event of no known kind": messages(
        START, {"type": "ping"}, *FIND_LIKE, {"type": "weather"}, END,
        blocks=[FIND], notes=(NOT_READ,),
    ),
    "no names of events": Case("anthropic", sse(START, *FIND_LIKE, END), (FIND,)),
    "an error in the middle of an input": messages(
        START,
        *FIND_LIKE[:3],
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        blocks=[ToolCall("a", "find", '{"q":')],
        notes=(INTERRUPTED,),
    ),
    "an end behind an error": messages(
        START,
        *FIND_LIKE,
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        END,
        blocks=[FIND],
        notes=(INTERRUPTED,),
    ),
    "a server's tool that broke off": messages(
        START,
        *blocks_of(grown(USE | {"type": "server_tool_use"}, json_delta('{"q'))[:-1]),
        blocks=[
            Opaque("server_tool", USE | {"type": "server_tool_use", "input": '{"q'}, "anthropic")
        ],
        notes=(INTERRUPTED,),
    ),
}  # fmt: skip


def responses(*events: Event, blocks: Iterable[Block], notes: tuple[str, ...] = ()) -> Case:
    named = ({**event, "type": f"response.{event['type']}"} for event in events)
    return Case("openai-responses", sse(*named, named=True), tuple(blocks), notes)


CALL: Event = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "find"}
WHOLE = CALL | {"arguments": '{"q":"elm"}', "status": "completed"}
COMPLETED: Event = {"type": "completed", "response": {"status": "completed"}}
RESPONSES = {
    "an end without the items": responses(
        {"type": "output_item.added", "output_index": 0, "item": CALL | {"arguments": ""}},
        {"type": "output_item.done", "output_index": 0, "item": WHOLE},
        COMPLETED,
        blocks=[FIND],
    ),
    "an item that is only done": responses(
        {"type": "output_item.done", "output_index": 0, "item": WHOLE}, COMPLETED, blocks=[FIND]
    ),
    "only deltas": responses(
        {"type": "output_item.added", "output_index": 0, "item": CALL | {"arguments": ""}},
        {"type": "function_call_arguments.delta", "output_index": 0, "delta": '{"q":'},
        {"type": "function_call_arguments.delta", "output_index": 0, "delta": '"elm"}'},
        COMPLETED,
        blocks=[FIND],
    ),
    "no index of the item": responses(
        {"type": "output_item.added", "item": CALL | {"arguments": ""}},
        {"type": "function_call_arguments.delta", "item_id": "fc_1", "delta": '{"q":"elm"}'},
        COMPLETED,
        blocks=[FIND],
        notes=(REASSEMBLED,),
    ),
    "text without its message": responses(
        {"type": "output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hel"},
        {"type": "output_text.delta", "output_index": 0, "content_index": 0, "delta": "lo"},
        COMPLETED,
        blocks=HELLO,
    ),
    "a search that broke off": responses(
        {"type": "output_item.added", "output_index": 0, "item": {
            "type": "web_search_call", "id": "ws_1", "status": "in_progress"}},
        {"type": "web_search_call.searching", "output_index": 0, "item_id": "ws_1"},
        blocks=[Opaque("web_search_call", {
            "type": "web_search_call", "id": "ws_1", "status": "in_progress"}, "openai-responses")],
        notes=(INTERRUPTED,),
    ),
}  # fmt: skip


def parts(*given: Event, **more: Any) -> Event:
    return {"candidates": [{"content": {"parts": list(given), "role": "model"}, **more}]}


CALLING = {"functionCall": {"name": "find", "args": {"q": "elm"}, "id": "a"}}
GEMINI = {
    "wrapped once more": Case(
        "gemini",
        sse(
            {"response": parts({"text": "Hel"})},
            {"response": parts({"text": "lo"}, finishReason="STOP")},
        ),
        HELLO,
    ),
    "an end that is not of this wire": Case(
        "gemini", sse(parts({"text": "Hello"}, finishReason="STOP"), DONE), HELLO
    ),
    "no end": Case("gemini", sse(parts({"text": "Hello"})), HELLO, (INTERRUPTED,)),
    "text behind the finish": Case(
        "gemini", sse(parts({"text": "Hel"}, finishReason="STOP"), parts({"text": "lo"})), HELLO
    ),
    "content without parts": Case(
        "gemini",
        sse(parts(CALLING), {"candidates": [{"content": {}, "finishReason": "STOP"}]}),
        (FIND,),
    ),
    "an empty text between": Case(
        "gemini",
        sse(
            parts({"text": "Hel"}),
            parts({"text": ""}),
            parts({"text": "lo"}, finishReason="STOP"),
        ),
        HELLO,
    ),
    "a new call while one has not ended": Case(
        "gemini",
        sse(
            parts({"functionCall": {"name": "book", "willContinue": True}}),
            parts(CALLING, finishReason="STOP"),
        ),
        (ToolCall(None, "book", "{"), FIND),
        (REASSEMBLED,),
    ),
}  # fmt: skip


def at(index: int, **what: Any) -> Event:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": what}}


OPENED: Event = {
    "contentBlockStart": {
        "contentBlockIndex": 0,
        "start": {"toolUse": {"toolUseId": "a", "name": "find"}},
    }
}
STOPPED: Event = {"messageStop": {"stopReason": "tool_use"}}
BEDROCK = {
    "server-sent events": Case("bedrock", sse(at(0, text="Hello"), STOPPED), HELLO),
    "no stop of a block": Case(
        "bedrock", lines(OPENED, at(0, toolUse={"input": '{"q":"elm"}'}), STOPPED), (FIND,)
    ),
    "an input that did not begin": Case(
        "bedrock",
        lines(at(0, toolUse={"input": '{"q":"elm"}'}), STOPPED),
        (ToolCall(None, "", '{"q":"elm"}'),),
        (REASSEMBLED,),
    ),
    "hidden reasoning in two pieces": Case(
        "bedrock",
        lines(
            at(0, reasoningContent={"redactedContent": "EmwK+w=="}),
            at(0, reasoningContent={"redactedContent": "AQI="}),
            STOPPED,
        ),
        (Thinking("", {"reasoningContent": {"redactedContent": "EmwK+wEC"}}, "bedrock"),),
    ),
    "reasoning cut off before its signature": Case(
        "bedrock",
        lines(at(0, reasoningContent={"text": "Leaves"})),
        (Thinking("Leaves"),),
        (INTERRUPTED,),
    ),
    "no end": Case("bedrock", lines(at(0, text="Hello")), HELLO, (INTERRUPTED,)),
}

CASES = {
    f"{case.provider}: {name}": case
    for table in (CHAT, ANTHROPIC, RESPONSES, GEMINI, BEDROCK)
    for name, case in table.items()
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_dirt_becomes_the_turn_that_was_meant(case: Case) -> None:
    draft = from_stream(case.provider, [case.stream])
    assert draft.blocks == case.blocks
    assert tuple(sorted(note.code for note in draft.notes)) == case.notes
    assert draft.status == ("interrupted" if INTERRUPTED in case.notes else "complete")
    assert draft.raw == case.stream


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_dirt_is_read_the_same_in_any_pieces(case: Case) -> None:
    whole = from_stream(case.provider, [case.stream])
    for size in (1, 2, 5, 17):
        assert from_stream(case.provider, sized(case.stream, size)) == whole
    # Byte by byte it was read above; the long run cuts it in two anywhere.
    step = 1 if IS_LONG else 3
    for cut in range(1, len(case.stream), step):
        assert from_stream(case.provider, [case.stream[:cut], case.stream[cut:]]) == whole, cut
