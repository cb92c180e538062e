"""`make example`, as people run it: an agent, a service and a fake provider."""

import subprocess
import sys
from typing import Any

import anthropic
import openai
import pytest

from examples.fake_provider import fake_provider
from tests.e2e.server import ROOT


def test_the_agent_moves_from_kimi_to_claude_and_survives_a_broken_stream() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.run"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "  the stream broke off: Connection error.",
        "kimi: Let me read both.",
        "anthropic: a.txt says alpha, b.txt says beta.",
    ]


def test_the_fake_provider_answers_plainly_too_and_refuses_what_real_ones_refuse() -> None:
    question: Any = {"role": "user", "content": "Compare."}
    with fake_provider() as url:
        chat = openai.OpenAI(base_url=f"{url}/v1", api_key="none").chat.completions
        claude = anthropic.Anthropic(base_url=url, api_key="none").messages
        said: Any = chat.create(model="m", messages=[question]).choices[0].message
        assert [call.id for call in said.tool_calls] == ["functions.read:0", "functions.read:1"]
        uses: Any = claude.create(model="m", max_tokens=9, messages=[question])
        assert [block.type for block in uses.content] == ["text", "tool_use", "tool_use"]
        open_calls: Any = {"role": "assistant", "tool_calls": said.model_dump()["tool_calls"]}
        with pytest.raises(openai.BadRequestError, match="must have results"):
            chat.create(model="m", messages=[question, open_calls])
        open_uses: Any = {"role": "assistant", "content": uses.model_dump()["content"]}
        with pytest.raises(anthropic.BadRequestError, match="no call may be open"):
            claude.create(model="m", max_tokens=9, messages=[question, open_uses])


def test_the_example_can_be_read_at_a_glance() -> None:
    text = (ROOT / "examples" / "agent_loop.py").read_text()
    code = text.split('"""', 2)[2]
    lines = [line for line in code.splitlines() if line.strip() and "import" not in line]
    assert len(lines) <= 45
