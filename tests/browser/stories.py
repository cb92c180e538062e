"""Conversations to look at."""

import json
from typing import Any

import httpx


def post(http: httpx.Client, cid: str, provider: str, *messages: Any, **body: Any) -> Any:
    given = {"provider": provider, "messages": list(messages), **body}
    answer = http.post(f"/v1/conversations/{cid}/turns", json=given)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def chat_calls(text: str, *calls: tuple[str, str, Any]) -> dict[str, Any]:
    """A message of the model in the chat shape, with calls: raw id, name, arguments."""
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {
                "id": raw_id,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for raw_id, name, arguments in calls
        ],
    }


def tell_support(http: httpx.Client, cid: str) -> str:
    """Nine turns by three providers, with an open call and one that failed."""
    described = {"team": "refunds", "ticket": 4711}
    body = {"id": cid, "title": "Why was the refund denied?", "metadata": described}
    assert http.post("/v1/conversations", json=body).status_code == 201
    reads = [(f"functions.read:{n}", "read", {"path": f"{n}.txt"}) for n in range(2)]
    post(
        http,
        cid,
        "kimi",
        {"role": "system", "content": "You are a support agent. Read before you answer."},
        {"role": "user", "content": "Order 4711: why was the refund denied?"},
        chat_calls("I read both files.", *reads),
        {"role": "tool", "tool_call_id": reads[0][0], "content": "refund: approved\n" * 30},
        {"role": "tool", "tool_call_id": reads[1][0], "content": "refund: denied by ledger"},
        model="kimi-k2",
    )
    asks = [
        {"type": "tool_use", "id": f"toolu_0{n}", "name": "ledger", "input": {"order": 4710 + n}}
        for n in (1, 2)
    ]
    failed = {
        "type": "tool_result",
        "tool_use_id": "toolu_01",
        "content": "timed out",
        "is_error": True,
    }
    post(
        http,
        cid,
        "anthropic",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "The files disagree.", "signature": "c2ln"},
                {"type": "text", "text": "The files disagree, so I ask the ledger."},
                *asks,
            ],
        },
        {"role": "user", "content": [failed]},
        model="claude-sonnet-4-5",
    )
    post(
        http,
        cid,
        "openai",
        {"role": "user", "content": "And the other order?"},
        {"role": "assistant", "content": "The ledger has not answered yet."},
        model="gpt-5",
    )
    return cid


def tell_long(http: httpx.Client, cid: str, turns: int) -> str:
    """A long conversation, three turns a step; the first call is answered in the last turn."""
    post(http, cid, "openai", chat_calls("", ("call_first", "slow", {})))
    steps = (turns - 2) // 3
    for start in range(0, steps, 100):
        messages: list[Any] = []
        for step in range(start, min(start + 100, steps)):
            call = (f"call_{step}", "grep", {"pattern": f"step {step}"})
            messages += [
                {"role": "user", "content": f"Step {step}: " + "look here. " * 20},
                chat_calls("Looking.", call),
                {"role": "tool", "tool_call_id": call[0], "content": f"line {step}\n" * 20},
            ]
        post(http, cid, "openai", *messages)
    done = post(http, cid, "openai", {"role": "tool", "tool_call_id": "call_first", "content": "x"})
    assert done["version"] == 2 + steps * 3
    return cid
