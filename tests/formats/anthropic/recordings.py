"""Anthropic's events: blocks that start, grow by deltas and stop; pings in between."""

from typing import Any

from tests.streams.recordings.frames import Event, Recording, pieces, sse, written

MODEL = "claude-sonnet-4-5"
PING: Event = {"type": "ping"}
SIGNATURE = "EqQBCgIYAhIM+/9k=="


def _message(content: list[Event], stop: str | None, sequence: str | None, used: int) -> Event:
    usage = {"input_tokens": 9, "output_tokens": used, "service_tier": "standard"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": sequence,
        "usage": usage,
    }


def grown(start: Event, *deltas: Event) -> list[Event]:
    """The events of one block; its index is put in by `streamed`."""
    return [
        {"type": "content_block_start", "content_block": start},
        *({"type": "content_block_delta", "delta": delta} for delta in deltas),
        {"type": "content_block_stop"},
    ]


def text(*said: str, cited: tuple[Event, ...] = ()) -> list[Event]:
    deltas = [{"type": "text_delta", "text": one} for one in said]
    citations = [{"type": "citations_delta", "citation": one} for one in cited]
    start: Event = {"type": "text", "text": ""} | ({"citations": []} if cited else {})
    return grown(start, *citations, *deltas)


def thinking(*said: str, signature: str = SIGNATURE) -> list[Event]:
    start = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = [{"type": "thinking_delta", "thinking": one} for one in said]
    return grown(start, *deltas, {"type": "signature_delta", "signature": signature})


def used(kind: str, id: str, name: str, *json_pieces: str) -> list[Event]:
    start = {"type": kind, "id": id, "name": name, "input": {}}
    return grown(start, *({"type": "input_json_delta", "partial_json": one} for one in json_pieces))


def streamed(*blocks: list[Event], stop: str = "end_turn", sequence: str | None = None) -> bytes:
    events: list[Event | str] = [{"type": "message_start", "message": _message([], None, None, 1)}]
    for index, block in enumerate(blocks):
        events += [{"type": event["type"], "index": index, **event} for event in block]
        if not index:
            events.append(PING)
    delta = {"stop_reason": stop, "stop_sequence": sequence}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 15}})
    events.append({"type": "message_stop"})
    return sse(*events, named=True)


def told(
    name: str,
    blocks: list[list[Event]],
    content: list[Event] | None,
    stop: str = "end_turn",
    sequence: str | None = None,
) -> Recording:
    stream = streamed(*blocks, stop=stop, sequence=sequence)
    finished = None if content is None else _message(content, stop, sequence, 15)
    return Recording("anthropic", name, stream, finished)


def said(words: str, **more: Any) -> Event:
    return {"type": "text", "text": words, **more}


def use(id: str, name: str, given: Any, kind: str = "tool_use") -> Event:
    return {"type": kind, "id": id, "name": name, "input": given}


def thought(words: str) -> Event:
    return {"type": "thinking", "thinking": words, "signature": SIGNATURE}


def _searched() -> Recording:
    page = {
        "type": "web_search_result",
        "url": "https://e.org",
        "title": "E",
        "encrypted_content": "EqgB",
        "page_age": None,
    }
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]}
    cited: Event = {
        "type": "web_search_result_location",
        "url": "https://e.org",
        "title": "E",
        "encrypted_index": "Eo8B",
        "cited_text": "An elm",
    }
    return told(
        "a web search with citations",
        [
            used("server_tool_use", "srvtoolu_1", "web_search", "", '{"query":', ' "elm"}'),
            grown(result),
            text("An ", "elm.", cited=(cited,)),
        ],
        [
            use("srvtoolu_1", "web_search", {"query": "elm"}, "server_tool_use"),
            result,
            said("An elm.", citations=[cited]),
        ],
    )


def _executed() -> Recording:
    outcome = {
        "type": "bash_code_execution_result",
        "stdout": "2\n",
        "stderr": "",
        "return_code": 0,
        "content": [],
    }
    result: Event = {
        "type": "bash_code_execution_tool_result",
        "tool_use_id": "srvtoolu_2",
        "content": outcome,
    }
    return told(
        "code that the provider runs, in a long turn",
        [
            used("server_tool_use", "srvtoolu_2", "bash_code_execution", '{"command":"echo 2"}'),
            grown(result),
            text("Two."),
        ],
        [
            use("srvtoolu_2", "bash_code_execution", {"command": "echo 2"}, "server_tool_use"),
            result,
            said("Two."),
        ],
        "pause_turn",
    )


def _failed() -> Recording:
    whole = streamed(thinking("Hm"), text("Well"))
    events = whole.split(b"\n\n")[:-4]
    error = {"type": "overloaded_error", "message": "Overloaded"}
    stream = b"\n\n".join(events) + b"\n\n" + sse({"type": "error", "error": error}, named=True)
    return Recording("anthropic", "an error in the middle", stream, None, whole=False)


DEEP = {"path": "/srv/données", "lines": [1, 20], "deep": {"a": [True, None], "s": 'q"\\'}}
RECORDINGS = [
    told("plain text", [text("Hel", "lo", " there.")], [said("Hello there.")]),
    told(
        "text, then parallel calls",
        [
            text("Looking."),
            used("tool_use", "toolu_1", "weather", "", '{"city":', ' "Bonn"}'),
            used("tool_use", "toolu_2", "time", '{"zone": "CET"}'),
        ],
        [
            said("Looking."),
            use("toolu_1", "weather", {"city": "Bonn"}),
            use("toolu_2", "time", {"zone": "CET"}),
        ],
        "tool_use",
    ),
    told(
        "a long input in tiny pieces",
        [used("tool_use", "toolu_l", "read", *pieces(written(DEEP), 12))],
        [use("toolu_l", "read", DEEP)],
        "tool_use",
    ),
    told("many scripts", [text("žluť 🐎", " 日本", "語\u2028")], [said("žluť 🐎 日本語\u2028")]),
    told(
        "signed thinking, then text",
        [thinking("Let me", " see."), text("Done.")],
        [thought("Let me see."), said("Done.")],
    ),
    told(
        "thinking that is not shown",
        [thinking(), grown({"type": "redacted_thinking", "data": "EmwKAhgBEgy3"}), text("So.")],
        [thought(""), {"type": "redacted_thinking", "data": "EmwKAhgBEgy3"}, said("So.")],
    ),
    told(
        "thinking between text and a call",
        [text("First."), thinking("Now."), used("tool_use", "toolu_t", "find", '{"q":"elm"}')],
        [said("First."), thought("Now."), use("toolu_t", "find", {"q": "elm"})],
        "tool_use",
    ),
    told(
        "an empty input",
        [used("tool_use", "toolu_e", "now", ""), used("tool_use", "toolu_f", "who")],
        [use("toolu_e", "now", {}), use("toolu_f", "who", {})],
        "tool_use",
    ),
    told("stopped by length", [text("On and o")], [said("On and o")], "max_tokens"),
    told("stopped by a word", [text("a, b")], [said("a, b")], "stop_sequence", "END"),
    told("refused", [text("I")], [said("I")], "refusal"),
    told(
        "stopped inside an input",
        [used("tool_use", "toolu_m", "write", '{"text": "once', " upo")],
        None,
        "max_tokens",
    ),
    _searched(),
    _executed(),
    _failed(),
]
