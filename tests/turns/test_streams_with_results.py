"""Streams in which the provider gives results of tools: broken off, and completed."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.http_api import Api, calling, user
from tests.turns.test_streams import SSE, STREAM, codes, is_valid_everywhere, verified

CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
CUSTOM = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "f", "input": "x"}


def output(call_id: str = "call_1", text: str = "sunny", kind: str = "function_call_output") -> Any:
    return {"type": kind, "id": f"fco_{call_id}", "call_id": call_id, "output": text}


def message(text: str) -> Any:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}


def sse(*events: Any) -> bytes:
    return b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in events)


def responses(items: Sequence[Any], *, whole: bool) -> bytes:
    begun = {"id": "resp_1", "object": "response", "model": "gpt-5", "output": []}
    events: list[Any] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(items):
        for what in ("added", "done"):
            one = {"type": f"response.output_item.{what}", "output_index": index, "item": item}
            events.append(one)
    if whole:
        done = {**begun, "status": "completed", "output": [*items]}
        events.append({"type": "response.completed", "response": done})
    return sse(*events)


def anthropic(*, whole: bool) -> bytes:
    begun = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    blocks = [
        {"type": "tool_use", "id": "call_1", "name": "f", "input": {}},
        {"type": "tool_result", "tool_use_id": "call_1", "content": "sunny"},
    ]
    events: list[Any] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_stop", "index": index})
    end: list[Any] = [
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    return sse(*events, *(end if whole else []))


def bedrock(*, whole: bool) -> bytes:
    call = {"toolUse": {"toolUseId": "call_1", "name": "f"}}
    result = {"toolResult": {"toolUseId": "call_1", "status": "success"}}
    events: list[Any] = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"contentBlockIndex": 0, "start": call}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"contentBlockStart": {"contentBlockIndex": 1, "start": result}},
        {
            "contentBlockDelta": {
                "contentBlockIndex": 1,
                "delta": {"toolResult": [{"text": "sunny"}]},
            }
        },
        {"contentBlockStop": {"contentBlockIndex": 1}},
    ]
    return sse(*events, *([{"messageStop": {"stopReason": "end_turn"}}] if whole else []))


def gemini(*, whole: bool) -> bytes:
    parts = [
        {"functionCall": {"id": "call_1", "name": "f", "args": {}}},
        {"functionResponse": {"id": "call_1", "name": "f", "response": {"result": "sunny"}}},
    ]
    chunks: list[Any] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]}
        for part in parts
    ]
    if whole:
        chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    return sse(*chunks)


STREAMS: dict[str, tuple[str, bytes, bytes]] = {
    "function_call_output": (
        "openai-responses",
        responses([CALL, output()], whole=False),
        responses([CALL, output()], whole=True),
    ),
    "custom_tool_call_output": (
        "openai-responses",
        responses([CUSTOM, output(kind="custom_tool_call_output")], whole=False),
        responses([CUSTOM, output(kind="custom_tool_call_output")], whole=True),
    ),
    "anthropic": ("anthropic", anthropic(whole=False), anthropic(whole=True)),
    "bedrock": ("bedrock", bedrock(whole=False), bedrock(whole=True)),
    "gemini": ("gemini", gemini(whole=False), gemini(whole=True)),
}


def stream(api: Api, body: bytes, provider: str = "openai-responses") -> Any:
    query = {"provider": provider, "turn_id": "t1"}
    return api.http.post(STREAM, params=query, content=body, headers=SSE)


def results(api: Api) -> dict[str, Any]:
    """By raw id of the call: what the result says, and by which rule it was found."""
    calls = api.get("tool-calls", order="asc").json()["data"]
    return {
        call["raw_id"]: call["result"] and (call["result"]["result"], call["result"]["matched_by"])
        for call in calls
    }


def open_calls(api: Api) -> Any:
    return api.http.get("/v1/conversations").json()["data"][0]["open_calls"]


@pytest.mark.parametrize("kind", STREAMS)
def test_a_broken_stream_with_a_result_is_completed(api: Api, kind: str) -> None:
    provider, broken, whole = STREAMS[kind]
    api.post(user("Bonn?"))
    first = stream(api, broken, provider)
    assert first.json()["turns"][0]["status"] == "interrupted", first.text
    assert len(first.json()["turns"][0]["tool_results"]) == 1
    done = stream(api, whole, provider)
    assert done.status_code == 200, done.text
    assert "TURN_COMPLETED" in codes(done.json()["notes"])
    assert done.json()["turns"][0]["tool_results"] == first.json()["turns"][0]["tool_results"]
    call = api.get("tool-calls").json()["data"][0]
    assert (call["state"], call["result"]["seq"], call["repeats"]) == ("answered", 2, [])
    again = stream(api, whole, provider)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.content == done.content
    assert verified(api)
    is_valid_everywhere(api)


def test_a_lone_output_is_completed(api: Api) -> None:
    """Its call was never posted: it waits for one, before and afterwards."""
    for kind in ("function_call_output", "custom_tool_call_output"):
        api.http.delete("/v1/conversations/c1")
        items = [output(kind=kind)]
        assert stream(api, responses(items, whole=False)).status_code == 201
        done = stream(api, responses(items, whole=True))
        assert done.status_code == 200, done.text
        assert done.json()["turns"][0]["tool_results"][0]["matched_by"] == "none"
        assert verified(api)
        api.post(calling(("call_1", "f", "{}")))
        assert results(api) == {"call_1": ("sunny", "raw")}
        assert verified(api)


def test_a_result_of_both_versions_keeps_its_call(api: Api) -> None:
    """A later call has the same id, and is open when the stream is completed."""
    stream(api, responses([CALL, output()], whole=False))
    api.post(calling(("call_1", "f", "{}")))
    done = stream(api, responses([message("well"), CALL, output()], whole=True))
    assert done.status_code == 200, done.text
    calls = api.get("tool-calls", order="asc").json()["data"]
    assert [call["state"] for call in calls] == ["answered", "open"]
    assert verified(api)
    is_valid_everywhere(api)


def test_a_result_that_only_the_completion_holds_answers_a_call_of_another_turn(api: Api) -> None:
    api.post(user("Bonn?"), calling(("call_1", "f", "{}")), user("wait"))
    stream(api, responses([message("well")], whole=False))
    held = api.replay("openai")
    assert "SYNTH_RESULT" in codes(held["repairs"])
    done = stream(api, responses([message("well"), output()], whole=True))
    assert done.status_code == 200, done.text
    shown = api.replay("openai")
    assert [m["content"] for m in shown["request"]["messages"] if m["role"] == "tool"] == ["sunny"]
    # The call reads in another way than before, so nothing from there on is unchanged.
    assert not api.replay("openai", since=held["version"])["since"]["unchanged"]
    assert open_calls(api) == 0
    assert verified(api)


def test_a_call_is_open_again_if_the_completion_does_not_hold_its_result(api: Api) -> None:
    api.post(user("Bonn?"), calling(("call_1", "f", "{}")), user("wait"))
    stream(api, responses([message("well"), output()], whole=False))
    assert results(api) == {"call_1": ("sunny", "raw")}
    held = api.replay("openai")
    done = stream(api, responses([message("well")], whole=True))
    assert done.status_code == 200, done.text
    assert results(api) == {"call_1": None}
    assert open_calls(api) == 1
    assert "SYNTH_RESULT" in codes(api.replay("openai")["repairs"])
    assert not api.replay("openai", since=held["version"])["since"]["unchanged"]
    assert verified(api)
    late = api.post({"role": "tool", "tool_call_id": "call_1", "content": "late"}).json()
    assert late["turns"][0]["tool_results"][0]["matched_by"] == "raw"
    assert verified(api)
    removed = api.http.delete("/v1/conversations/c1").json()["removed"]
    assert (removed["turns"], removed["tool_results"]) == (5, 1)


def test_versions_with_more_and_fewer_results_all_verify(api: Api) -> None:
    """The stream breaks again and again; a call may lose its result, and even go with it."""
    api.post(user("Bonn?"), calling(("call_0", "f", "{}")))
    both = [CALL, output(), output("call_0", "rain")]
    for items in (both, [CALL], [message("so")], both[::-1], [output("call_0", "snow")], both):
        assert stream(api, responses(items, whole=False)).status_code in (200, 201)
        assert verified(api)
        is_valid_everywhere(api)
    assert stream(api, responses(both, whole=True)).status_code == 200
    assert verified(api)
    assert results(api) == {"call_0": ("rain", "raw"), "call_1": ("sunny", "raw")}
