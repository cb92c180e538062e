"""What docs/why-not.md says of Turnkeep and of others is so."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from bench.odd import HISTORIES, counted, refusals
from tests.e2e.server import ROOT
from tests.judges import complaints

# `make bench` makes it.
PEERS = ROOT / ".venv-bench" / "bin" / "python"


@cache
def page() -> str:
    return (ROOT / "docs" / "why-not.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def replays(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> dict[str, dict[str, Any]]:
    """The odd histories, posted message by message and replayed for Anthropic."""
    path = tmp_path_factory.mktemp("odd") / "turnkeep.db"
    path.write_bytes(sqlite_template.read_bytes())
    with TestClient(create_app(Settings(f"sqlite:///{path}"))) as http:
        return {name: replayed(http, name.replace(" ", "-"), name) for name in HISTORIES}


def replayed(http: TestClient, cid: str, name: str) -> dict[str, Any]:
    before: list[object] = []
    for message in HISTORIES[name]:
        # Whoever sends an append again sends the same key.
        key = f"k{before.index(message) if message in before else len(before)}"
        before.append(message)
        body = {"provider": "openai", "messages": [message]}
        headers = {"Idempotency-Key": key}
        posted = http.post(f"/v1/conversations/{cid}/turns", json=body, headers=headers)
        assert posted.is_success, posted.text
    url = f"/v1/conversations/{cid}/replay"
    replay: dict[str, Any] = http.get(url, params={"provider": "anthropic", "ready": True}).json()
    return replay


@pytest.mark.parametrize("name", HISTORIES)
def test_an_odd_history_is_replayed_in_a_valid_form(
    replays: dict[str, dict[str, Any]], name: str
) -> None:
    request = replays[name]["request"]
    assert refusals(request["messages"]) == []
    assert complaints("anthropic", request) == []


def test_the_page_has_what_turnkeep_gives_back(replays: dict[str, dict[str, Any]]) -> None:
    cells = [f"{counted(one['request'])}; valid" for one in replays.values()]
    assert f"| Turnkeep | {' | '.join(cells)} |" in page()


def test_the_page_names_the_repairs(replays: dict[str, dict[str, Any]]) -> None:
    codes = {one["code"] for replay in replays.values() for one in replay["repairs"]}
    quiet = {"ROLES_MERGED", "ID_REMAPPED", "THINKING_UNAVAILABLE", "EMPTY_TEXT_OMITTED"}
    assert sorted(code for code in codes - quiet if f"`{code}`" not in page()) == []


@pytest.mark.skipif(not PEERS.exists(), reason="there is no .venv-bench; make bench makes it")
def test_the_page_has_what_others_give_back() -> None:
    done = subprocess.run(
        [PEERS, "-m", "bench.peers.oddities"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stdout.splitlines() if line]
    assert len(lines) == 11
    assert [line for line in lines if line not in page()] == []


def test_the_rules_see_what_is_broken() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "a.b"}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}
    assert refusals([{"role": "user", "content": "hello"}]) == []
    assert refusals([call]) == ["an id that is refused", "a call without a result"]
    assert refusals([result]) == ["a result without its call"]
