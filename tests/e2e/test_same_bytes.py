"""The same history gives the same bytes, whatever the hash seed."""

import os
import subprocess
import sys

import httpx

from app.formats.registry import TARGETS
from tests.e2e.server import ROOT

STORY = [
    {"provider": "kimi", "model": "kimi-k2", "messages": [{"role": "user", "content": "é 🎉 go"}]},
    {
        "provider": "kimi",
        "messages": [
            {
                "role": "assistant",
                "content": "",
                "reasoning_content": "hm",
                "tool_calls": [
                    {"id": f"functions.f:{n}", "function": {"name": "f", "arguments": '{"b":1.0}'}}
                    for n in range(3)
                ],
            }
        ],
    },
    {
        "provider": "anthropic",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "functions.f:2", "content": "late"},
                    {"type": "text", "text": "and a note"},
                ],
            },
            {"role": "user", "content": "again"},
        ],
    },
]


def tell(url: str) -> list[bytes]:
    with httpx.Client(base_url=url, timeout=30) as http:
        for body in STORY:
            http.post("/v1/conversations/same/turns", json=body).raise_for_status()
        answers = []
        for target in TARGETS:
            replay = http.get(f"/v1/conversations/same/replay?provider={target}")
            answers.append(replay.raise_for_status().content)
        return answers


def told_in_process(seed: str) -> bytes:
    """The renders of the story in a process with this hash seed, without any server."""
    program = (
        "import sys; from tests.histories import posted; from app.formats.registry import TARGETS;"
        "from tests.e2e.test_same_bytes import STORY; history = posted(*STORY);"
        "sys.stdout.buffer.write(b''.join(history.render(t).raw for t in TARGETS))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, check=True
    )
    return done.stdout


def test_the_hash_seed_changes_nothing() -> None:
    first, second = told_in_process("0"), told_in_process("1")
    assert first
    assert first == second
