"""The usual loop: the response is posted when it comes, the list is synced in the next round.

The list holds the model's message as the SDK gives it, with nulls and members of its own.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.http_api import Api


@dataclass(frozen=True)
class Round:
    """One round of a provider: a question, the response, its messages in the list, the results."""

    question: dict[str, Any]
    response: dict[str, Any]
    messages: list[dict[str, Any]]
    results: list[dict[str, Any]]


CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"a": 1.0}'}}
SAID = {"role": "assistant", "content": "I look", "reasoning_content": "hm", "tool_calls": [CALL]}
CHAT = Round(
    {"role": "user", "content": "read it"},
    {"id": "r1", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": SAID}]},
    [{**SAID, "refusal": None, "audio": None, "function_call": None, "annotations": None}],
    [{"role": "tool", "tool_call_id": "call_1", "content": "alpha"}],
)
BLOCKS = [
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "text", "text": "I look", "citations": None},
    {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"a": 1.0}, "caller": None},
]
OUTPUT: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x", "status": None},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "I look", "annotations": [], "logprobs": None}],
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "read",
        "arguments": '{"a": 1.0}',
        "status": "completed",
    },
]
PARTS = [
    {"text": "hm", "thought": True},
    {"text": "I look"},
    {"function_call": {"name": "read", "args": {"a": 1.0}}, "thought_signature": "c2ln"},
]
CONVERSE = [
    {"text": "I look"},
    {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {"a": 1.0}}},
]
ROUNDS = {
    "openai": CHAT,
    "kimi": CHAT,
    "mistral": CHAT,
    "deepseek": CHAT,
    "qwen": CHAT,
    "anthropic": Round(
        {"role": "user", "content": "read it"},
        {"id": "msg_1", "type": "message", "role": "assistant", "content": BLOCKS},
        [{"role": "assistant", "content": BLOCKS}],
        [
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "alpha"}],
            }
        ],
    ),
    "openai-responses": Round(
        {"role": "user", "content": "read it"},
        {"id": "resp_1", "object": "response", "status": "completed", "output": OUTPUT},
        OUTPUT,
        [{"type": "function_call_output", "call_id": "call_1", "output": "alpha"}],
    ),
    "gemini": Round(
        {"role": "user", "parts": [{"text": "read it"}]},
        {"candidates": [{"content": {"role": "model", "parts": PARTS}}], "response_id": "g1"},
        [{"role": "model", "parts": PARTS}],
        [
            {
                "role": "user",
                "parts": [{"function_response": {"name": "read", "response": {"result": "alpha"}}}],
            }
        ],
    ),
    "bedrock": Round(
        {"role": "user", "content": [{"text": "read it"}]},
        {
            "output": {"message": {"role": "assistant", "content": CONVERSE}},
            "stopReason": "tool_use",
        },
        [{"role": "assistant", "content": CONVERSE}],
        [
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "alpha"}]}}
                ],
            }
        ],
    ),
}


def sync(api: Api, provider: str, messages: list[Any]) -> tuple[int, int, list[str]]:
    body = {"provider": provider, "messages": messages}
    answer = api.http.post("/v1/conversations/c1/turns?mode=sync", json=body)
    receipt = answer.json()
    assert "known" in receipt, receipt
    return answer.status_code, receipt["known"], [turn["speaker"] for turn in receipt["turns"]]


@pytest.mark.parametrize("provider", ROUNDS)
def test_a_response_that_was_posted_is_known_in_the_list(lite: Api, provider: str) -> None:
    one = ROUNDS[provider]
    assert sync(lite, provider, [one.question]) == (201, 0, ["human"])
    stored = lite.http.post(
        "/v1/conversations/c1/turns", json={"provider": provider, "response": one.response}
    )
    assert stored.status_code == 201, stored.text
    whole = [one.question, *one.messages]
    assert sync(lite, provider, whole) == (200, len(whole), [])
    assert sync(lite, provider, [*whole, *one.results]) == (201, len(whole), ["tool"])
    assert sync(lite, provider, [*whole, *one.results]) == (200, len(whole) + 1, [])
    assert lite.get("tool-calls").json()["data"][0]["state"] == "answered"


@pytest.mark.parametrize("provider", ROUNDS)
def test_a_response_that_comes_with_the_list_is_one_turn(lite: Api, provider: str) -> None:
    one = ROUNDS[provider]
    sync(lite, provider, [one.question])
    whole = [one.question, *one.messages, *one.results]
    assert sync(lite, provider, whole) == (201, 1, ["ai", "tool"])
    assert sync(lite, provider, whole) == (200, len(whole), [])


def test_a_text_alone_is_a_list_of_one(lite: Api) -> None:
    body = {"provider": "openai-responses", "input": "hello"}
    for status, known in ((201, 0), (200, 1)):
        answer = lite.http.post("/v1/conversations/c1/turns?mode=sync", json=body)
        assert (answer.status_code, answer.json()["known"]) == (status, known)
