"""What the fake provider says on its two wires: OpenAI's chat and Anthropic's messages.

Its model reads two files, then says what is in them. Like a real provider it refuses calls without
results and ids that its wire does not have.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

PATHS = ("a.txt", "b.txt")


class Refused(Exception):
    """The request breaks a rule of the wire."""


def _said(results: list[str]) -> str:
    if not results:
        return "Let me read both."
    return ", ".join(f"{path} says {text}" for path, text in zip(PATHS, results, strict=True)) + "."


def chat(request: Any) -> tuple[Any, list[str]]:
    """The response to a chat request, and the same as a stream."""
    results, used = _chat_results(request["messages"])
    calls: list[Any] = [
        {
            "index": place,
            "id": f"functions.read:{used + place}",
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"path": path})},
        }
        for place, path in enumerate(() if results else PATHS)
    ]
    message: Any = {"role": "assistant", "content": _said(results)}
    deltas = [message, *({"tool_calls": [call]} for call in calls)]
    ending = "tool_calls" if calls else "stop"
    head = {"id": "chatcmpl-1", "created": 0, "model": request["model"]}
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": ending})
    whole = {"message": message | ({"tool_calls": calls} if calls else {}), "finish_reason": ending}
    response = {**head, "object": "chat.completion", "choices": [{"index": 0, **whole}]}
    kind = {**head, "object": "chat.completion.chunk"}
    lines = [json.dumps({**kind, "choices": [chunk]}) for chunk in chunks]
    return response, [f"data: {line}\n\n" for line in [*lines, "[DONE]"]]


def _chat_results(messages: Any) -> tuple[list[str], int]:
    """The results, and how many calls there were."""
    results: list[str] = []
    calls: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if (message["role"] == "tool") != bool(waiting):
            raise Refused("after calls there must be their results, and nowhere else")
        if message["role"] == "tool":
            if message["tool_call_id"] != waiting.pop(0):
                raise Refused("a result must name the call that it answers")
            results.append(message["content"])
        waiting = waiting or [call["id"] for call in message.get("tool_calls", ())]
        calls += [call["id"] for call in message.get("tool_calls", ())]
    if waiting or calls != [f"functions.read:{n}" for n in range(len(calls))]:
        raise Refused("all calls must have results, and be called functions.read:0, 1, 2 …")
    return results, len(calls)


def messages(request: Any) -> tuple[Any, list[str]]:
    """The response to a request of Anthropic's, and the same as a stream."""
    results = _block_results(request["messages"])
    content: list[Any] = [{"type": "text", "text": _said(results)}]
    content += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {"path": path}}
        for n, path in enumerate(() if results else PATHS)
    ]
    head: Any = {"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"]}
    head["usage"] = {"input_tokens": 9, "output_tokens": 9}
    none = {"stop_reason": None, "stop_sequence": None}
    ending = {**none, "stop_reason": "end_turn" if results else "tool_use"}
    events = [
        {"type": "message_start", "message": {**head, **none, "content": []}},
        *(event for index, block in enumerate(content) for event in _block_events(index, block)),
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return {**head, **ending, "content": content}, lines


def _block_results(messages: Any) -> list[str]:
    results: list[str] = []
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        given = [block for block in blocks if block["type"] == "tool_result"]
        if [block["tool_use_id"] for block in given] != waiting or given != blocks[: len(given)]:
            raise Refused("the message after calls must begin with their results")
        results += [_text(block["content"]) for block in given]
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if not all(re.fullmatch("[a-zA-Z0-9_-]+", one) for one in waiting):
            raise Refused("ids of calls must be letters, digits, _ and -")
    if messages[0]["role"] != "user" or waiting:
        raise Refused("the user must speak first, and no call may be open at the end")
    return results


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _block_events(index: int, block: Any) -> Iterator[Any]:
    if block["type"] == "text":
        start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        whole = json.dumps(block["input"])
        start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": whole}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
