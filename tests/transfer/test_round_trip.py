"""Export, then import into a database of the other kind: the same ids, the same bytes."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest

from app.audit.queries import Page, tool_calls
from app.conversations.commands import Create, Describe, Expiry, known
from app.database.database import Database
from app.database.store import ReadStore
from app.formats.registry import TARGETS
from app.jsontext.reading import loads_object
from app.jsontext.writing import dumps_utf8
from app.model.errors import RuleBroken
from app.model.json_values import Json, JsonObject
from app.model.limits import Limits
from app.replay.options import ReplayOptions
from app.replay.queries import replay
from app.tools.commands import PutTools, read_order, riding_order
from app.transfer.commands import store_history
from app.transfer.importers.histories import History, Message
from app.transfer.planning import read_history
from app.turns.commands import Append
from app.turns.posting import read_post
from app.turns.turnform import made_ready
from app.verify.queries import verify
from tests.long import IS_LONG
from tests.transfer.conftest import Run
from tests.zoo.test_zoo import CLASSES

LIMITS = Limits()
TOOL = {"name": "paint", "description": "paints", "parameters": {"type": "object"}}


def post(database: Database, cid: str, body: dict[str, Any] | str) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    members, texts = loads_object(text, LIMITS)
    ready = made_ready(read_post(members, texts, LIMITS).drafts)
    database.write_now(Append(cid, ready, tools=riding_order(members, LIMITS)))


def zoo() -> Iterator[tuple[str, tuple[Any, ...]]]:
    for name, module in CLASSES.items():
        for number, variant in enumerate(module.VARIANTS):
            if not variant.huge and variant.formats() <= set(TARGETS):
                yield f"{name.partition('_')[0]}-{number}", variant.posts


def fill(database: Database, *, first: int) -> list[str]:
    """Every eighth history of the zoo, and all where there is time, that may be stored."""
    names = []
    for name, posts in zoo() if IS_LONG else islice(zoo(), first, None, 8):
        try:
            for body in posts:
                post(database, name, body)
        except RuleBroken:
            continue
        names.append(name)
    return names


def shown(store: ReadStore, cid: str, targets: Sequence[str]) -> list[bytes]:
    """What callers can see of a history, but for times."""
    answers = [replay(store, cid, ReplayOptions(target)) for target in targets]
    audit = dumps_utf8(tool_calls(store, cid, Page(limit=10_000)))
    return [*(b"".join(one) for one in answers), re.sub(rb'"created_at":"[^"]*"', b"", audit)]


def moved(turnkeep: Run, one: str, other: str, folder: Path) -> tuple[bytes, bytes]:
    """The export of a database, and of another one that imported it."""
    exports = folder / "one.jsonl", folder / "other.jsonl"
    assert turnkeep(one, "export", "--all", "--output", exports[0]).code == 0
    assert turnkeep(other, "import", exports[0]).code == 0
    assert turnkeep(other, "export", "--all", "--output", exports[1]).code == 0
    return exports[0].read_bytes(), exports[1].read_bytes()


def test_the_whole_zoo_survives(
    database_url: str,
    other_database_url: str,
    tmp_path: Path,
    turnkeep: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if other_database_url.startswith("sqlite"):
        # Batches that end anywhere, also between a call and its result.
        monkeypatch.setenv("TURNKEEP_MAX_TURNS", "2")
    with Database(database_url) as before:
        # Some go there and the others come back.
        names = fill(before, first=0 if database_url.startswith("sqlite") else 4)
        assert len(names) > 35
        one, other = moved(turnkeep, database_url, other_database_url, tmp_path)
        assert one == other
        with Database(other_database_url) as after:
            for number, cid in enumerate(names):
                # Two or three of them for each history: what is stored is the same, as the exports
                # have shown, and neighbours are told in much the same way.
                query = partial(shown, cid=cid, targets=TARGETS[number % 6 :: 6])
                assert after.read_now(query) == before.read_now(query), cid
                assert after.read_now(partial(verify, cid=cid))["ok"], cid
    again = turnkeep(other_database_url, "import", tmp_path / "one.jsonl")
    assert " 0 turns stored" in again.out
    home = turnkeep(database_url, "import", tmp_path / "one.jsonl")
    assert (home.code, " 0 turns stored" in home.out) == (0, True)


def test_title_metadata_and_tools_of_every_version_survive(
    database_url: str, other_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    said = {"provider": "openai", "messages": [{"role": "user", "content": "hello"}]}
    tools = [{"type": "function", "function": {**TOOL, "strict": False}}]

    def put(name: str) -> PutTools:
        body: Any = {"provider": "anthropic", "tool_choice": {"type": "any"}}
        body["tools"] = [{"name": name, "description": "x", "input_schema": {"type": "object"}}]
        return PutTools("c1", read_order(body, json.dumps(body).encode(), LIMITS))

    with Database(database_url) as database:
        database.write_now(Create("empty", "nothing said", {"n": [1, None]}))
        database.write_now(put("before_all"))
        post(database, "c1", said)
        post(database, "c1", {**said, "tools": tools, "tool_choice": "required"})
        post(database, "c1", said)
        database.write_now(put("overruled"))
        database.write_now(put("last"))
        given = frozenset({"title", "metadata"})
        database.write_now(Describe("c1", "Ümläut", {"deep": {"a": 1.10}}, given))
        one, other = moved(turnkeep, database_url, other_database_url, tmp_path)
        assert one == other
        line = json.loads(one.splitlines()[0])
        assert [kept["at_version"] for kept in line["tools"]] == [0, 2, 3]
        with Database(other_database_url) as after:
            untils = (None, *(turn["turn_id"] for turn in line["turns"]))
            for until, target in product(untils, TARGETS):
                query = partial(replay, cid="c1", options=ReplayOptions(target, until=until))
                assert after.read_now(query) == database.read_now(query)


def test_an_expiry_survives(
    database_url: str, other_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    said = {"provider": "openai", "messages": [{"role": "user", "content": "hello"}]}
    with Database(database_url) as database:
        database.write_now(Create("short", None, {}, Expiry(3_600)))
        database.write_now(Create("empty", "nothing said", {}, Expiry(60)))
        database.write_now(Create("kept", None, {}))
        post(database, "short", said)
    one, other = moved(turnkeep, database_url, other_database_url, tmp_path)
    assert one == other
    with Database(other_database_url) as after:
        for cid, seconds in (("short", 3_600), ("empty", 60), ("kept", None)):
            head = after.read_now(partial(known, conversation_id=cid))
            assert (head.expires_after, head.expires_at is None) == (seconds, seconds is None)


@pytest.mark.parametrize("given", [0, -1, "60", 1.5, True, 10**12])
def test_an_expiry_that_cannot_be_is_refused(
    sqlite_database_url: str, tmp_path: Path, turnkeep: Run, given: Any
) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({"conversation_id": "c1", "expires_after": given, "turns": []}))
    done = turnkeep(sqlite_database_url, "import", file)
    assert (done.code, "`expires_after` must be" in done.err) == (1, True)


def test_a_batch_holds_no_more_calls_than_a_post(sqlite_database_url: str) -> None:
    def turn(number: int, calls: int) -> Message:
        made: list[Json] = [
            {"type": "tool_call", "id": f"{number}.{n}", "name": "f"} for n in range(calls)
        ]
        value: JsonObject = {"speaker": "ai", "blocks": made}
        return Message(value, json.dumps(value), f"t{number}")

    messages = tuple(turn(number, calls) for number, calls in enumerate([1, 2, 2, 5, 0, 0, 1, 3]))
    limits = Limits(calls=3, turns=3)
    history = History("c1", "neutral", "neutral", messages)
    with Database(sqlite_database_url) as database:
        stored = store_history(database, read_history(history, limits))
        assert [batch.result().stored for batch in stored] == [2, 1, 1, 3, 1]
        assert database.read_now(partial(verify, cid="c1"))["ok"]


def test_an_export_beside_other_turns_brings_its_newest_tools(
    sqlite_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    url, file = sqlite_database_url, tmp_path / "one.jsonl"
    turn = {"turn_id": "t1", "speaker": "human", "blocks": [{"type": "text", "text": "hello"}]}
    tools = [
        {"at_version": 0, "provider": "openai", "format": "openai", "tools": [TOOL]},
        {
            "at_version": 1,
            "provider": "openai",
            "format": "openai",
            "tools": [TOOL, {**TOOL, "name": "new"}],
        },
    ]
    file.write_text(json.dumps({"conversation_id": "c1", "turns": [turn], "tools": tools}))
    with Database(url) as database:
        post(database, "c1", {"provider": "openai", "messages": [{"role": "user", "content": "x"}]})
    assert turnkeep(url, "import", file).code == 0
    assert '"name":"new"' in turnkeep(url, "export", "c1", "--provider", "openai").out


def test_an_export_completes_what_an_earlier_one_had_interrupted(
    sqlite_database_url: str, postgres_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    one, other = sqlite_database_url, postgres_database_url
    said = {"speaker": "ai", "turn_id": "t1", "blocks": [{"type": "text", "text": "Half"}]}
    whole = said | {"blocks": [{"type": "text", "text": "Half and half"}]}
    more = {"speaker": "human", "blocks": [{"type": "text", "text": "thanks"}]}
    with Database(one) as database:
        broken = [said | {"status": "interrupted"}]
        post(database, "c1", {"provider": "neutral", "messages": broken})
    assert len(set(moved(turnkeep, one, other, tmp_path))) == 1
    with Database(one) as database:
        post(database, "c1", {"provider": "neutral", "messages": [whole]})
        post(database, "c1", {"provider": "neutral", "messages": [more]})
    assert len(set(moved(turnkeep, one, other, tmp_path))) == 1
    assert len(set(moved(turnkeep, one, other, tmp_path))) == 1
    with Database(other) as database:
        assert database.read_now(lambda store: verify(store, "c1"))["ok"]


def test_tool_sets_of_an_export_may_stand_in_any_order(
    sqlite_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    file = tmp_path / "one.jsonl"
    turns = [{"speaker": "human", "blocks": [{"type": "text", "text": "hello"}]}] * 3
    sets = [
        {"at_version": version, "provider": "openai", "format": "openai"}
        | {"tools": [{**TOOL, "name": f"paint{version}"}]}
        for version in (3, 1, 0)
    ]
    for tools in (sets[:1], sets):
        file.write_text(json.dumps({"conversation_id": "c1", "turns": turns, "tools": tools}))
        assert turnkeep(sqlite_database_url, "import", file).code == 0


@pytest.mark.parametrize(
    ("at_version", "why"),
    [
        (2, "`at_version` must be a whole number from 0 to 1, not 2."),
        (-1, "`at_version` must be a whole number from 0 to 1, not -1."),
        (True, "must have `at_version`"),
    ],
)
def test_a_tool_set_that_was_never_in_force_is_refused(
    sqlite_database_url: str, tmp_path: Path, turnkeep: Run, at_version: int, why: str
) -> None:
    url, file = sqlite_database_url, tmp_path / "one.jsonl"
    turns = [{"speaker": "human", "blocks": [{"type": "text", "text": "hello"}]}]
    tools = [{"at_version": at_version, "provider": "openai", "format": "openai", "tools": [TOOL]}]
    file.write_text(json.dumps({"conversation_id": "c1", "turns": turns, "tools": tools}))
    told = turnkeep(url, "import", file)
    assert (told.code, why in told.err) == (1, True), told.err
    assert "0 conversations, 0 turns stored" in told.out


FIRST, SECOND = ('{"first":1}', '{"second":1}')


def said(arguments: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "So",
        "tool_calls": [
            {
                "id": "call_0",
                "type": "function",
                "function": {"name": "f", "arguments": arguments},
            }
        ],
    }


def completed_late(database: Database) -> None:
    """A result came for a call; then a broken turn was completed that makes a call of its name."""

    def posted(*messages: Any, **more: Any) -> None:
        post(database, "c1", {"provider": "openai", "messages": list(messages), **more})

    posted({"role": "user", "content": "hello"}, said(FIRST))
    broken: dict[str, Any] = {"speaker": "ai", "turn_id": "s1", "provider": "openai"}
    broken |= {"status": "interrupted", "blocks": [{"type": "text", "text": "So"}]}
    post(database, "c1", {"provider": "neutral", "messages": [broken]})
    posted({"role": "tool", "tool_call_id": "call_0", "content": "RESULT OF FIRST"})
    posted(said(SECOND), turn_id="s1")


def test_a_result_stays_with_its_call_when_a_broken_turn_was_completed_behind_it(
    database_url: str, other_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    with Database(database_url) as before:
        completed_late(before)
        one, other = moved(turnkeep, database_url, other_database_url, tmp_path)
        assert one == other
        with Database(other_database_url) as after:
            query = partial(shown, cid="c1", targets=TARGETS)
            assert after.read_now(query) == before.read_now(query)


def test_results_of_a_broken_turn_that_was_completed_stay_with_their_calls(
    database_url: str, other_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    """A later call has the same id; one result came, and one went, with the completion."""

    def turn(*blocks: dict[str, Any], **members: Any) -> dict[str, Any]:
        members = {"speaker": "ai", "provider": "openai", **members}
        return {"provider": "neutral", "messages": [{**members, "blocks": list(blocks)}]}

    def result(raw_id: str) -> dict[str, Any]:
        return {"type": "tool_result", "raw_id": raw_id, "result": f"of {raw_id}"}

    text = {"type": "text", "text": "So"}
    with Database(database_url) as before:
        post(before, "c1", {"provider": "openai", "messages": [said(FIRST), said(SECOND)]})
        broken = turn(result("call_0"), result("x"), turn_id="s1", status="interrupted")
        post(before, "c1", broken)
        post(before, "c1", {"provider": "openai", "messages": [said(FIRST)]})
        post(before, "c1", turn(text, result("y"), result("call_0"), turn_id="s1"))
        one, other = moved(turnkeep, database_url, other_database_url, tmp_path)
        assert one == other
        with Database(other_database_url) as after:
            query = partial(shown, cid="c1", targets=TARGETS)
            assert after.read_now(query) == before.read_now(query)
            assert after.read_now(lambda store: verify(store, "c1"))["ok"]


def given_result(url: str, turnkeep: Run) -> dict[str, str | None]:
    """The results of calls, by the arguments of these."""
    turns = json.loads(turnkeep(url, "export", "c1").out)["turns"]
    blocks = [block for turn in turns for block in turn["blocks"]]
    results = {one["call_id"]: one["result"] for one in blocks if one["type"] == "tool_result"}
    return {
        json.dumps(one["parameters"]): results.get(one["id"])
        for one in blocks
        if one["type"] == "tool_call"
    }


def test_an_export_without_earlier_versions_still_says_which_call_a_result_has(
    sqlite_database_url: str, postgres_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    """As releases wrote it that exported no earlier versions and no checksum."""
    one, other, file = sqlite_database_url, postgres_database_url, tmp_path / "old.jsonl"
    with Database(one) as database:
        completed_late(database)
    line = json.loads(turnkeep(one, "export", "c1").out)
    del line["sha256"], line["turns"][2]["earlier"]
    file.write_text(json.dumps(line))
    assert turnkeep(other, "import", file).code == 0
    assert given_result(other, turnkeep) == given_result(one, turnkeep)
    with Database(other) as database:
        assert database.read_now(lambda store: verify(store, "c1"))["ok"]


def test_a_result_cannot_be_given_to_a_call_that_is_not_its_own(
    sqlite_database_url: str, postgres_database_url: str, tmp_path: Path, turnkeep: Run
) -> None:
    file = tmp_path / "edited.jsonl"
    with Database(sqlite_database_url) as database:
        completed_late(database)
    line = json.loads(turnkeep(sqlite_database_url, "export", "c1").out)
    line["turns"][3]["blocks"][0] |= {"raw_id": "call_9"}
    file.write_text(json.dumps(line))
    told = turnkeep(postgres_database_url, "import", "--edited", file)
    assert (told.code, "names a call that it cannot belong to" in told.err) == (1, True)


@pytest.mark.parametrize("until", [0, 2, 9, True, "3"])
def test_an_earlier_version_must_say_when_it_ended(
    sqlite_database_url: str, tmp_path: Path, turnkeep: Run, until: object
) -> None:
    file = tmp_path / "one.jsonl"
    with Database(sqlite_database_url) as database:
        completed_late(database)
    line = json.loads(turnkeep(sqlite_database_url, "export", "c1").out)
    line["turns"][2]["earlier"][0]["until_version"] = until
    file.write_text(json.dumps(line))
    told = turnkeep(sqlite_database_url, "import", "--edited", "--conversation", "c2", file)
    assert (told.code, "must have an `until_version` from 3 to 4" in told.err) == (1, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [("hello", "hullo"), ("RESULT OF", "RESULT  OF"), ('"title":null', '"title":""')],
)
def test_an_export_that_was_edited_is_refused_unless_that_is_wanted(
    sqlite_database_url: str,
    postgres_database_url: str,
    tmp_path: Path,
    turnkeep: Run,
    old: str,
    new: str,
) -> None:
    other, file = postgres_database_url, tmp_path / "edited.jsonl"
    with Database(sqlite_database_url) as database:
        completed_late(database)
        post(database, "c2", {"provider": "openai", "messages": [{"role": "user", "content": "x"}]})
    whole = turnkeep(sqlite_database_url, "export", "--all").out
    file.write_text(whole.replace(old, new, 1))
    told = turnkeep(other, "import", file)
    assert told.code == 1
    assert f"{file}:1: The conversation 'c1' is not as it was exported" in told.err
    # The other conversation is as it was.
    assert "1 conversations, 1 turns stored" in told.out
    assert turnkeep(other, "import", "--edited", file).code == 0
    assert new in turnkeep(other, "export", "c1").out


@pytest.mark.parametrize("provider", [target for target in TARGETS if target != "neutral"])
def test_an_export_for_a_provider_can_be_read_again(
    sqlite_database_url: str, tmp_path: Path, turnkeep: Run, provider: str
) -> None:
    """Under new canonical ids, as documented; the words and the pairs are the same."""
    url, file = sqlite_database_url, tmp_path / "request.jsonl"
    call = {"id": "call_1", "type": "function", "function": {"name": "paint", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "a fence"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "painted"},
        {"role": "assistant", "content": "It is done."},
        {"role": "user", "content": "thanks"},
    ]
    with Database(url) as database:
        post(database, "c1", {"provider": "openai", "messages": said})
    line = turnkeep(url, "export", "c1", "--provider", provider).out
    assert json.loads(line)["provider"] == provider
    file.write_text(line)
    assert turnkeep(url, "import", file, "--conversation", "c2").code == 0
    neutral = json.loads(turnkeep(url, "export", "c2").out)
    blocks = [block for turn in neutral["turns"] for block in turn["blocks"]]
    called, answered = (
        [block for block in blocks if block["type"] == kind]
        for kind in ("tool_call", "tool_result")
    )
    assert [block["name"] for block in called] == ["paint"]
    assert [block["call_id"] for block in answered] == [called[0]["id"]]
    assert [block["text"] for block in blocks if block["type"] == "text"] == [
        "a fence",
        "It is done.",
        "thanks",
    ]
