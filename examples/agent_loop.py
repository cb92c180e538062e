"""An agent that keeps its conversation in Turnkeep: it begins on Kimi and ends on Claude.

`make example` runs it with a fake provider. With real ones: TURNKEEP is the address of the service;
OPENAI_BASE_URL, OPENAI_API_KEY and ANTHROPIC_API_KEY are what the SDKs ask for.
"""

import os
import uuid
from functools import partial
from itertools import count

import anthropic
import httpx
import openai

FILES = {"a.txt": "alpha", "b.txt": "beta"}
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
READ = {"name": "read", "description": "Reads a file.", "parameters": PATH}
chat, messages = openai.OpenAI().chat.completions, anthropic.Anthropic().messages
MODELS = {
    "kimi": partial(chat.create, model="kimi-k2", stream=True),
    "anthropic": partial(messages.create, model="claude-sonnet-5-5", max_tokens=999, stream=True),
}
keep = httpx.Client(base_url=f"{os.environ['TURNKEEP']}/v1/conversations/demo-{uuid.uuid4()}")


def post(path, **body):
    receipt = keep.post(path, **body)
    assert receipt.is_success, receipt.json()["detail"]
    return receipt.json()["turns"][-1]


def lines(stream):
    try:
        for event in stream:
            yield event.model_dump_json().encode() + b"\n"
    except (openai.APIConnectionError, anthropic.APIConnectionError) as error:
        print(f"  the stream broke off: {error}")  # What came so far is kept.


def ask(provider, turn_id):
    replay = keep.get("/replay", params={"provider": provider}).raise_for_status().json()
    kind = {"content-type": "application/x-ndjson"}
    query = {"provider": provider, "turn_id": turn_id, "return": "turns"}
    while True:  # Under the same id the next try completes the turn.
        events = lines(MODELS[provider](**replay["request"]))
        turn = post("/turns/stream", params=query, headers=kind, content=events)
        if turn.get("status") != "interrupted":
            return turn


question = {"role": "user", "content": "Compare a.txt and b.txt."}
tools = [{"type": "function", "function": READ}]
post("/turns", json={"provider": "openai", "messages": [question], "tools": tools})
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
    done = {"speaker": "tool", "blocks": results}
    post("/turns", json={"provider": "neutral", "messages": [done]})
    provider = "anthropic"  # Whoever is next goes on where the other stopped.
