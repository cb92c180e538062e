"""`make example`, as people run it: an agent, a service and a fake provider."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from typing import Any

import anthropic
import httpx
import openai
import pytest

from examples.fake_provider import FakeProvider, fake_provider
from examples.run import agent
from tests.e2e.server import ROOT, Server, serving

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


def test_the_agent_moves_from_kimi_to_claude_and_survives_a_broken_stream_of_each() -> None:
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
    kimi_broke, kimi, claude_broke, claude = done.stdout.splitlines()
    assert kimi_broke == "  the stream broke off: Connection error."
    assert kimi == "kimi: Let me read both."
    assert claude_broke.startswith("  the stream broke off: peer closed connection")
    assert claude == "anthropic: a.txt says alpha, b.txt says beta."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = {"TURNKEEP_ACCESS_LOG": "true"}
    with serving(tmp_path_factory.mktemp("example"), environment=log) as server:
        yield server


def run(server: Server, provider: FakeProvider) -> "subprocess.CompletedProcess[str]":
    return agent(server.url, provider.url, capture_output=True, timeout=120)


def newest(server: Server) -> list[Any]:
    """The turns of the conversation that was begun last."""
    with httpx.Client(base_url=f"{server.url}/v1", timeout=60) as http:
        first, *_ = http.get("/conversations", params={"order": "updated"}).json()["data"]
        path = f"/conversations/{first['id']}/turns"
        turns = http.get(path).json()["data"]
        return [http.get(f"{path}/{turn['turn_id']}").json() for turn in turns]


def test_what_came_before_a_break_is_kept(server: Server) -> None:
    with fake_provider() as provider:
        assert run(server, provider).returncode == 0
    assert provider.requests == [CHAT, CHAT, MESSAGES, MESSAGES]
    _, kimi, _, claude = newest(server)
    assert [len(turn["earlier"]) for turn in (kimi, claude)] == [1, 1]


@pytest.mark.parametrize("after", [0, 2])
def test_a_stream_that_always_breaks_is_tried_three_times(server: Server, after: int) -> None:
    """Also where it breaks before the first event, and there is nothing to keep."""
    with fake_provider(breaks=100, after=after) as provider:
        done = run(server, provider)
    assert provider.requests == [CHAT] * 3
    assert done.returncode == 1
    assert "kimi gave no whole response in three tries" in done.stderr
    assert "Traceback" not in done.stderr
    assert [turn.get("status") for turn in newest(server)] == [None, "interrupted"][: after + 1]


def test_a_provider_that_always_refuses_is_asked_three_times_by_its_sdk(server: Server) -> None:
    with fake_provider(overloaded=True) as provider:
        done = run(server, provider)
    assert provider.requests == [CHAT] * 3
    assert done.returncode == 1
    assert "openai.InternalServerError" in done.stderr


def test_each_replay_names_the_model_that_reads_it(server: Server) -> None:
    with fake_provider() as provider:
        run(server, provider)
    queries = re.findall(r"/replay\?(\S+)", server.log.read_text())
    assert {*queries} == {
        "provider=kimi&model=kimi-k2",
        "provider=anthropic&model=claude-sonnet-5-5",
    }


def test_the_fake_provider_answers_plainly_too_and_refuses_what_real_ones_refuse() -> None:
    question: Any = {"role": "user", "content": "Compare."}
    with fake_provider() as provider:
        chat = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="none").chat.completions
        claude = anthropic.Anthropic(base_url=provider.url, api_key="none").messages
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


def test_its_environment_has_what_it_imports_in_the_versions_that_are_tested() -> None:
    def pins(name: str) -> dict[str, str]:
        lines = (ROOT / name).read_text().splitlines()
        return dict(line.split(" ")[0].split("==") for line in lines if "==" in line)

    example, tested = pins("requirements-example.lock"), pins("requirements-dev.lock")
    installed = pins("requirements.lock") | example
    assert example.items() <= tested.items()
    for file in (ROOT / "examples").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for top in {name.partition(".")[0] for name in names}:
                if top not in {*sys.stdlib_module_names, "examples"}:
                    assert {*packages_distributions()[top]} & {*installed}, (file.name, top)
