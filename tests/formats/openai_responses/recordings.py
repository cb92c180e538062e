"""Events of the Responses API: items are added, grow, and are done; the last event has them all."""

from typing import Any

from tests.streams.recordings.frames import Event, Recording, pieces, sse

MODEL = "gpt-5"


def response(output: list[Event], status: str, **more: Any) -> Event:
    ended = status in ("completed", "incomplete")
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 7,
        "status": status,
        "model": MODEL,
        "output": output,
        **({"usage": usage} if ended else {}),
        **more,
    }


def _without(item: Event, *keys: str, **more: Any) -> Event:
    return {key: value for key, value in item.items() if key not in keys} | more


def grown(item: Event, *inner: Event, begun: Event | None = None) -> list[Event]:
    """An item from its beginning to its end; its index is put in by `streamed`."""
    start = begun if begun is not None else _without(item, status="in_progress")
    return [
        {"type": "response.output_item.added", "item": start},
        *({"item_id": item["id"], **event} for event in inner),
        {"type": "response.output_item.done", "item": item},
    ]


def inner(kind: str, **more: Any) -> Event:
    return {"type": f"response.{kind}", **more}


def message(id: str, *content: Event, status: str = "completed") -> Event:
    parts = list(content)
    return {"id": id, "type": "message", "status": status, "role": "assistant", "content": parts}


def output_text(said: str, *annotations: Event) -> Event:
    return {"type": "output_text", "text": said, "annotations": list(annotations)}


def speaking(id: str, *said: str, cited: tuple[Event, ...] = (), **more: Any) -> list[Event]:
    part = output_text("".join(said), *cited)
    at = {"content_index": 0}
    deltas = [inner("output_text.delta", delta=one, **at) for one in said]
    notes = [
        inner("output_text.annotation.added", annotation=one, annotation_index=n, **at)
        for n, one in enumerate(cited)
    ]
    item = message(id, part, **more)
    return grown(
        item,
        inner("content_part.added", part=output_text(""), **at),
        *deltas,
        *notes,
        inner("output_text.done", text=part["text"], **at),
        inner("content_part.done", part=part, **at),
        begun=_without(item, status="in_progress", content=[]),
    )


def refusing(id: str, *said: str) -> list[Event]:
    part = {"type": "refusal", "refusal": "".join(said)}
    at = {"content_index": 0}
    item = message(id, part)
    return grown(
        item,
        inner("content_part.added", part={"type": "refusal", "refusal": ""}, **at),
        *(inner("refusal.delta", delta=one, **at) for one in said),
        inner("refusal.done", refusal=part["refusal"], **at),
        begun=_without(item, status="in_progress", content=[]),
    )


def calling(id: str, call_id: str, name: str, *arguments: str, **more: Any) -> list[Event]:
    item = {
        "id": id,
        "type": "function_call",
        "status": "completed",
        "arguments": "".join(arguments),
        "call_id": call_id,
        "name": name,
        **more,
    }
    return grown(
        item,
        *(inner("function_call_arguments.delta", delta=one) for one in arguments),
        inner("function_call_arguments.done", arguments=item["arguments"], name=name),
        begun=_without(item, status="in_progress", arguments=""),
    )


def reasoning(id: str, *summary: str, sealed: str | None = "gAAAAB+/x") -> list[Event]:
    words = "".join(summary)
    item: Event = {"id": id, "type": "reasoning", "summary": [], "encrypted_content": sealed}
    done = item | {"summary": [{"type": "summary_text", "text": words}] if summary else []}
    at = {"summary_index": 0}
    shown = [
        inner("reasoning_summary_part.added", part={"type": "summary_text", "text": ""}, **at),
        *(inner("reasoning_summary_text.delta", delta=one, **at) for one in summary),
        inner("reasoning_summary_text.done", text=words, **at),
    ]
    # The state of an item that is only begun is not the one that counts.
    begun = item | ({"encrypted_content": "gAAAAB-begun"} if sealed else {})
    return grown(done, *(shown if summary else ()), begun=begun)


def thinking_aloud(id: str, *said: str) -> list[Event]:
    words = "".join(said)
    part = {"type": "reasoning_text", "text": words}
    item: Event = {"id": id, "type": "reasoning", "summary": [], "content": [part]}
    at = {"content_index": 0}
    return grown(
        item,
        *(inner("reasoning_text.delta", delta=one, **at) for one in said),
        inner("reasoning_text.done", text=words, **at),
        begun=_without(item, "content"),
    )


def custom(id: str, call_id: str, name: str, *said: str) -> list[Event]:
    item: Event = {"id": id, "type": "custom_tool_call", "status": "completed"}
    item |= {"call_id": call_id, "name": name, "input": "".join(said)}
    return grown(
        item,
        *(inner("custom_tool_call_input.delta", delta=one) for one in said),
        inner("custom_tool_call_input.done", input=item["input"]),
        begun=_without(item, status="in_progress", input=""),
    )


def searching(id: str, query: str) -> list[Event]:
    action = {"type": "search", "query": query}
    item: Event = {"id": id, "type": "web_search_call", "status": "completed", "action": action}
    steps = ("in_progress", "searching", "completed")
    return grown(
        item,
        *(inner(f"web_search_call.{step}") for step in steps),
        begun=_without(item, "action", status="in_progress"),
    )


def interpreting(id: str, *code: str, outputs: list[Event] | None) -> list[Event]:
    item: Event = {
        "id": id,
        "type": "code_interpreter_call",
        "status": "completed",
        "code": "".join(code),
        "container_id": "cntr_1",
        "outputs": outputs,
    }
    return grown(
        item,
        inner("code_interpreter_call.in_progress"),
        *(inner("code_interpreter_call_code.delta", delta=one) for one in code),
        inner("code_interpreter_call_code.done", code=item["code"]),
        inner("code_interpreter_call.interpreting"),
        inner("code_interpreter_call.completed"),
        begun=_without(item, status="in_progress", code="", outputs=[]),
    )


def filing(id: str) -> list[Event]:
    found = {"file_id": "file-1", "filename": "a.txt", "score": 0.5, "text": "elm"}
    item: Event = {"id": id, "type": "file_search_call", "status": "completed"}
    item |= {"queries": ["elm"], "results": [found]}
    return grown(
        item,
        inner("file_search_call.searching"),
        begun=_without(item, status="in_progress", queries=[], results=None),
    )


def asking_mcp(id: str, *arguments: str) -> list[Event]:
    item: Event = {
        "id": id,
        "type": "mcp_call",
        "status": "completed",
        "name": "roll",
        "server_label": "dice",
        "arguments": "".join(arguments),
        "output": "4",
        "error": None,
        "approval_request_id": None,
    }
    return grown(
        item,
        inner("mcp_call.in_progress"),
        *(inner("mcp_call_arguments.delta", delta=one) for one in arguments),
        inner("mcp_call_arguments.done", arguments=item["arguments"]),
        inner("mcp_call.completed"),
        begun=_without(item, status="in_progress", arguments="", output=None),
    )


def _numbered(items: tuple[list[Event], ...], end: list[Event]) -> bytes:
    begun = response([], "in_progress")
    events: list[Event] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(items):
        events += [{"type": one["type"], "output_index": index, **one} for one in item]
    numbered = ({**one, "sequence_number": n} for n, one in enumerate([*events, *end]))
    return sse(*numbered, named=True)


def told(name: str, *items: list[Event], why: str | None = None) -> Recording:
    """`why` the answer is incomplete, where it is."""
    status = "incomplete" if why else "completed"
    output = [item[-1]["item"] for item in items]
    more = {"incomplete_details": {"reason": why}} if why else {}
    finished = response(output, status, **more)
    end = {"type": f"response.{status}", "response": finished}
    return Recording("openai-responses", name, _numbered(items, [end]), finished)


def _broken(name: str, *items: list[Event], end: list[Event]) -> Recording:
    return Recording("openai-responses", name, _numbered(items, end), None, whole=False)


LOGS: Event = {"type": "logs", "logs": "2"}
ERROR = {"code": "server_error", "message": "The model failed"}
CITED: Event = {
    "type": "url_citation",
    "start_index": 0,
    "end_index": 6,
    "url": "https://e.org",
    "title": "E",
}
LONG = '{"path":"/srv/été.txt","lines":[1,20],"deep":{"a":[true,null]}}'
RECORDINGS = [
    told("plain text", speaking("msg_1", "Hel", "lo there.")),
    told(
        "parallel calls",
        calling("fc_1", "call_a", "weather", '{"city":', '"Bonn"}'),
        calling("fc_2", "call_b", "time", '{"zone":"CET"}'),
    ),
    told("long arguments in tiny pieces", calling("fc_1", "call_l", "read", *pieces(LONG, 16))),
    told("many scripts", speaking("msg_1", "žluť 🐎", " 日本語\u2028")),
    told(
        "sealed reasoning, then a call",
        reasoning("rs_1", "**Look", "ing**"),
        calling("fc_1", "call_r", "find", '{"q":"elm"}'),
    ),
    told("reasoning that is only sealed", reasoning("rs_1"), speaking("msg_1", "So.")),
    told(
        "reasoning aloud",
        thinking_aloud("rs_1", "One and ", "one."),
        speaking("msg_1", "Two."),
    ),
    told(
        "a web search with citations",
        searching("ws_1", "elm"),
        speaking("msg_1", "An ", "elm.", cited=(CITED,)),
    ),
    told("an interpreter", interpreting("ci_1", "print(", "1+1)", outputs=[LOGS])),
    told("an interpreter's call alone", interpreting("ci_1", "print(1)", outputs=None)),
    told("a search in files", filing("fs_1")),
    told("a tool of an MCP server", asking_mcp("mcp_1", '{"n":', "6}")),
    told("a custom tool", custom("ctc_1", "call_c", "sql", "select ", '"n"\n')),
    told("a refusal", refusing("msg_1", "I can", "not.")),
    told("an empty input", calling("fc_1", "call_e", "now", "{}")),
    told(
        "stopped by length",
        speaking("msg_1", "On and o", status="incomplete"),
        why="max_output_tokens",
    ),
    told(
        "stopped inside arguments",
        calling("fc_1", "call_s", "write", '{"text":"once', " upo", status="incomplete"),
        why="max_output_tokens",
    ),
    _broken(
        "a response that failed",
        speaking("msg_1", "Hm"),
        end=[{"type": "response.failed", "response": response([], "failed", error=ERROR)}],
    ),
    _broken(
        "an error in the middle",
        calling("fc_1", "call_x", "find", '{"q":')[:-2],
        end=[{"type": "error", **ERROR, "param": None}],
    ),
]
