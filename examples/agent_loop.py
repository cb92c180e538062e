"""An agent that keeps its conversation in Turnkeep: it begins on Kimi and ends on Claude.

`make example` runs it with a fake provider. With real ones: TURNKEEP is the address of the service;
OPENAI_BASE_URL, OPENAI_API_KEY and ANTHROPIC_API_KEY are what the SDKs ask for.

The SDKs repeat a request that fails, twice by default; a stream that breaks is left to the caller.
What it raises then can be read in `_streaming.py` of openai 3.51 and anthropic 2.10. Both raise an
APIError of theirs for an error event. For a lost connection openai raises one too; anthropic passes
on what httpx2 raises. Where a body ends inside a character, both raise UnicodeDecodeError. Where it
ends between two events, neither raises anything: only Turnkeep's receipt says `interrupted`.
"""

import os
import time
import uuid
from functools import partial
from itertools import count

import anthropic
import httpx2
import openai

FILES = {"a.txt": "alpha", "b.txt": "beta"}
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": PATH}}]
MODELS = {"kimi": "kimi-k2", "anthropic": "claude-sonnet-5-5"}
STREAMS = {
    "kimi": partial(openai.OpenAI().chat.completions.create, stream=True),
    "anthropic": partial(anthropic.Anthropic().messages.create, stream=True, max_tokens=999),
}
BROKEN = (openai.APIError, anthropic.APIError, httpx2.RequestError, UnicodeDecodeError)
conversation = httpx2.Client(base_url=f"{os.environ['TURNKEEP']}/v1/conversations/{uuid.uuid4()}")


def lines(stream):
    try:
        for event in stream:
            yield event.model_dump_json().encode() + b"\n"
    except BROKEN as error:
        print(f"  the stream broke off: {error}")  # Turnkeep keeps what has arrived.


def ask(provider, turn_id):
    reader = {"provider": provider, "model": MODELS[provider]}
    replay = conversation.get("/replay", params=reader).raise_for_status().json()
    query = {**reader, "turn_id": turn_id, "return": "turns"}
    ndjson = {"content-type": "application/x-ndjson"}
    for pause in (0, 1, 2):  # Three tries; under the same turn id the next one completes the turn.
        time.sleep(pause)
        events = lines(STREAMS[provider](model=MODELS[provider], **replay["request"]))
        receipt = conversation.post("/turns/stream", params=query, headers=ndjson, content=events)
        turn = receipt.json()["turns"][-1] if receipt.is_success else {"status": "refused"}
        if turn.get("status", "complete") == "complete":
            return turn
    raise SystemExit(f"{provider} gave no whole response in three tries: {receipt.text}")


question = {"role": "user", "content": "Compare a.txt and b.txt."}
body = {"provider": "openai", "messages": [question], "tools": TOOLS}
conversation.post("/turns", json=body).raise_for_status()
provider = "kimi"
for step in count(1):
    turn = ask(provider, f"step-{step}")
    print(f"{provider}: {turn['text']}")
    if not turn["tool_calls"]:
        break
    results = [
        {"type": "tool_result", "call_id": call["id"], "result": FILES[call["parameters"]["path"]]}
        for call in turn["tool_calls"]
    ]
    body = {"provider": "neutral", "messages": [{"speaker": "tool", "blocks": results}]}
    conversation.post("/turns", json=body).raise_for_status()
    provider = "anthropic"  # The next provider continues where the other stopped.
