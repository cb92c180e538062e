"""What the commands say that look at conversations. `test_both_ways` says that all may be asked."""

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.cli import asking
from app.cli.turn_text import MATCHED
from app.formats.registry import CODECS, TARGETS
from app.ledger.records import RULES
from tests.cli.conftest import Run, World


@pytest.fixture(params=["database", "service"])
def where(request: pytest.FixtureRequest, world: World) -> list[str]:
    if request.param == "service":
        return ["--url", world.url]
    return ["--database-url", world.database_url]


def objects(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


def test_all_pages_are_listed_the_newest_first(
    world: World, where: list[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [one["id"] for one in objects(run("list", "--json", *where).out)]
    assert {"trip", "orphans", "plain"} <= set(expected)
    monkeypatch.setattr(asking, "PAGE", 2)
    assert [one["id"] for one in objects(run("list", "--json", *where).out)] == expected
    few = objects(run("list", "--json", "--limit", "3", *where).out)
    assert [one["id"] for one in few] == expected[:3]


def test_a_list_that_is_cut_says_so(where: list[str], run: Run) -> None:
    done = run("list", "--limit", "1", *where)
    assert len(done.out.splitlines()) == 2
    assert "--limit 10" in done.err


def test_what_is_not_indexed_yet_is_told(sqlite_database_url: str, run: Run, world: World) -> None:
    where = ["--database-url", sqlite_database_url]
    line = run("export", "plain", "--database-url", world.database_url).out
    Path("one.jsonl").write_text(line, encoding="utf-8")
    assert run("import", "one.jsonl", *where).code == 0
    path = sqlite_database_url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE conversations SET indexed = 0")
    done = run("list", "--q", "hello", *where)
    assert "turnkeep reindex" in done.err


def test_a_conversation_shows_its_calls_with_their_results(where: list[str], run: Run) -> None:
    out = run("show", "trip", *where).out
    assert out.splitlines()[0].startswith("trip  To Paris")
    assert "8 turns" in out
    paris = out[out.index("→ weather") :]
    assert '{"city":"Paris","exact":1.10}' in paris.splitlines()[0]
    assert "weather:0 → hist_tool_" in paris.splitlines()[1]
    assert paris.splitlines()[1].endswith("  answered")
    assert paris.splitlines()[2].lstrip().startswith("← turn 4: sunny")
    assert "  open" in out
    assert "← of clock in turn 7" in out


def test_a_turn_is_named_by_its_id_or_its_number(where: list[str], run: Run) -> None:
    assert run("show", "trip", "--turn", "7", *where) == run(
        "show", "trip", "--turn", "called", *where
    )
    posted = run("show", "trip", "--turn", "called", "--raw", *where).out
    assert json.loads(posted)["content"][0]["id"] == "toolu_01ABC"


def test_lines_of_a_text_cannot_pass_for_ours(world: World, run: Run, where: list[str]) -> None:
    world.post("lines", {"role": "user", "content": "a\nturn_id     forged\r\nb"})
    out = run("show", "lines", "--turn", "1", *where).out
    assert "\n  turn_id     forged\\r\n" in out


def test_an_id_is_told_in_plain_words(where: list[str], run: Run) -> None:
    out = run("find", "weather:0", *where).out
    assert out.startswith("weather:0 is the raw id of a tool call, as it was posted.\n")
    for said in ("trip, turn 3", "answered", "matched by the raw id", "to anthropic", "to mistral"):
        assert said in out


@pytest.mark.parametrize("target", TARGETS)
def test_a_call_is_found_by_the_id_of_any_provider(world: World, target: str, run: Run) -> None:
    calls = httpx.get(f"{world.url}/v1/conversations/trip/tool-calls").json()["data"]
    [clock] = [one for one in calls if one["name"] == "clock"]
    done = run("find", clock["ids"][target], "--url", world.url, "--json")
    assert {one["id"] for one in objects(done.out)} == {clock["id"]}


@pytest.mark.parametrize(
    ("any_id", "kind"),
    [("trip", "conversation"), ("called", "turn"), ("call_lost", "tool result whose call")],
)
def test_other_ids_are_found(where: list[str], any_id: str, kind: str, run: Run) -> None:
    done = run("find", any_id, *where)
    assert done.code == 0
    assert kind in done.out.splitlines()[0]


def test_an_id_that_nobody_knows_is_no_success(where: list[str], run: Run) -> None:
    done = run("find", "call_nowhere", *where)
    assert (done.code, done.out) == (1, "")
    assert "turnkeep list --q" in done.err


def test_a_replay_is_the_request_alone_and_repairs_are_told(
    world: World, where: list[str], run: Run
) -> None:
    done = run("replay", "trip", "--provider", "anthropic", *where)
    told = httpx.get(f"{world.url}/v1/conversations/trip/replay?provider=anthropic").json()
    assert json.loads(done.out) == told["request"]
    assert {one["code"] for one in told["repairs"]} == {"ID_REMAPPED", "SYNTH_RESULT"}
    assert "ID_REMAPPED, 2 times: the raw id cannot be used on this wire" in done.err
    assert "pending: the call hist_tool_" in done.err


def test_the_model_that_was_assumed_is_told(where: list[str], run: Run) -> None:
    told = "turnkeep: model: claude-sonnet-4-5, the newest one of its turns"
    named = ("--model", "claude-opus-4-1")
    assert told in run("replay", "trip", "--provider", "anthropic", *where).err
    assert "model:" not in run("replay", "trip", "--provider", "anthropic", *named, *where).err
    assert "model:" not in run("replay", "trip", "--provider", "openai", *where).err
    between = ("diff", "trip", "--between", "openai,anthropic")
    assert told.replace("model:", "anthropic: model:") in run(*between, *where).err
    assert "model:" not in run(*between, *named, *where).err
    [diff] = objects(run(*between, "--json", *where).out)
    assert diff["models"] == {"anthropic": "claude-sonnet-4-5"}


def test_a_number_is_printed_as_it_was_posted(where: list[str], run: Run) -> None:
    assert '"exact": 1.10' in run("replay", "trip", "--provider", "anthropic", *where).out


def test_an_audit_shows_every_name_of_a_call(world: World, where: list[str], run: Run) -> None:
    calls = httpx.get(f"{world.url}/v1/conversations/trip/tool-calls?order=asc").json()["data"]
    out = run("audit", "trip", *where).out
    assert all(one in out for call in calls for one in call["ids"].values())
    rows = list(csv.DictReader(run("audit", "trip", "--csv", *where).out.splitlines()))
    assert [row["canonical_id"] for row in rows] == [call["id"] for call in calls]
    assert [{target: row[target] for target in TARGETS} for row in rows] == [
        call["ids"] for call in calls
    ]
    assert [row["matched_by"] for row in rows] == ["raw", "", "raw"]


def test_rules_are_those_of_the_ledger() -> None:
    assert set(MATCHED) == set(RULES)


@pytest.mark.parametrize("target", TARGETS)
def test_messages_of_one_turn_stand_together_on_every_wire(
    world: World, target: str, run: Run
) -> None:
    others = "openai" if target != "openai" else "mistral"
    done = run("diff", "trip", "--between", f"{others},{target}", "--url", world.url, "--json")
    [told] = objects(done.out)
    stored = httpx.get(f"{world.url}/v1/conversations/trip/turns").json()["data"]
    turns = [turn["turn_id"] for turn in stored]
    beside, *parts = told["parts"]
    assert beside["turns"] == []
    shown = [turn for part in parts for turn in part["turns"]]
    assert shown == [turn for turn in turns if turn in shown]
    assert len(set(shown)) == len(shown) >= 5
    for name in (others, target):
        messages = [message for part in parts for message in part["messages"][name]]
        options = ("--provider", name, "--json", "--url", world.url)
        [replay] = objects(run("replay", "trip", *options).out)
        assert messages == replay["request"][CODECS[name].messages]


def test_a_difference_is_marked_and_repairs_of_both_sides_are_told(
    where: list[str], run: Run
) -> None:
    done = run("diff", "trip", "--between", "anthropic,openai", *where)
    lines = done.out.splitlines()
    assert lines[:2] == ["--- anthropic", "+++ openai"]
    assert any(
        line.startswith("@@ turn 2 (human") and line.endswith("the same @@") for line in lines
    )
    assert any(line.startswith("-") and "toolu_" in line for line in lines)
    assert any(line.startswith("+") and "call_" in line for line in lines)
    assert "turnkeep: anthropic: ID_REMAPPED" in done.err
    assert "turnkeep: openai: SYNTH_RESULT" in done.err


def test_damage_is_told_and_where_to_look(sqlite_database_url: str, world: World, run: Run) -> None:
    where = ["--database-url", sqlite_database_url]
    exported = run("export", "trip", "plain", "--database-url", world.database_url).out
    Path("all.jsonl").write_text(exported, encoding="utf-8")
    assert run("import", "all.jsonl", *where).code == 0
    path = sqlite_database_url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE conversations SET created_at = 'never' WHERE conversation_id = 'plain'"
        )
    done = run("list", *where)
    assert done.code == 1
    assert "trip" in done.out
    assert "turnkeep verify plain" in done.err
    done = run("show", "plain", *where)
    assert done.code == 2
    assert "turnkeep verify" in done.err
    assert run("show", "trip", *where).code == 0


def test_a_table_is_that_of_the_service_and_holds_no_formula(
    world: World, where: list[str], run: Run
) -> None:
    function = {"name": "f", "arguments": "{}"}
    calls = [{"id": "=1+1", "type": "function", "function": function}]
    turn = {"role": "assistant", "content": "", "tool_calls": calls}
    world.post("formula", turn, turn_id="once")
    told = httpx.get(f"{world.url}/v1/conversations/formula/tool-calls?format=csv").text
    assert "'=1+1" in told
    assert run("audit", "formula", "--csv", *where).out.splitlines() == told.splitlines()
