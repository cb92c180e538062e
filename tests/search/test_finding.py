"""What conversations are found by: kept by each change, made again by `reindex`, read by index."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.cli.reindex import catch_up
from app.conversations.commands import Create, Erase
from app.conversations.queries import Asked, listed
from app.database.database import Database
from app.database.store import ReadStore
from app.ledger.slice import Change, Slice
from app.ledger.wanted import MOST_MEMBERS, Facet, Place, Wanted
from app.main import create_app
from app.model.errors import RuleBroken, Unavailable
from app.search import indexer
from app.search.indexer import Indexer
from app.search.indexing import BATCH, Reindex, behind
from app.search.words import asked
from app.settings import Settings
from tests.database.specimens import Do
from tests.statements import noted
from tests.turns.test_append_work import append, rounds

TABLES = ("conversation_facets", "search_texts")
# As it is before anybody changes it.
sleep = asyncio.sleep
COLUMNS = {"conversation_facets": "kind, value_sha256", "search_texts": "part, words"}


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database(database_url) as database:
        yield database


@pytest.fixture
def silent(database_url: str) -> Iterator[Database]:
    """The same database with the search switched off."""
    with Database(database_url, search=False) as database:
        yield database


def rows(database: Database) -> dict[str, list[Any]]:
    """All that conversations are found by."""

    def query(store: ReadStore) -> dict[str, list[Any]]:
        run = store._connection.exec_driver_sql
        select = "SELECT conversation_id, {} FROM {} ORDER BY 1, 2, 3"
        return {
            table: [tuple(row) for row in run(select.format(COLUMNS[table], table))]
            for table in TABLES
        }

    return database.read_now(query)


def found(database: Database, **wish: Any) -> list[str]:
    """As the service finds it: all that is stored is indexed first."""
    if database.searches:
        catch_up(database)
    page: Any = database.read_now(partial(listed, wish=Asked(**wish)))
    return [one["id"] for one in page["data"]]


def fill(database: Database) -> None:
    database.write_now(Create("a", "Title of a", {"team": "blue", "n": 1}))
    database.write_now(Create("empty", None, {}))
    append(database, "a", rounds(1, BATCH + 3))
    append(database, "b", {"provider": "kimi", "messages": [{"role": "user", "content": "pears"}]})


def reindex_all(database: Database) -> None:
    for cid in ("a", "b", "empty"):
        database.write_now(Reindex(cid))
    catch_up(database)


def run(database: Database, *statements: str) -> None:
    with database._writing.connect() as connection, connection.begin():
        for statement in statements:
            connection.exec_driver_sql(statement)


def forget(database: Database) -> None:
    run(database, *(f"DELETE FROM {table}" for table in TABLES))


def test_making_the_index_again_gives_what_was_kept_all_along(database: Database) -> None:
    fill(database)
    catch_up(database)
    kept = rows(database)
    assert len(kept["search_texts"]) == 2 * (BATCH + 3) + 1 + len(
        ("a", "Title", "team", "b", "empty")
    )
    reindex_all(database)
    assert rows(database) == kept
    forget(database)
    assert found(database, q="pears") == []
    reindex_all(database)
    assert rows(database) == kept
    assert found(database, q="pears", provider=["kimi"]) == ["b"]


def test_a_conversation_that_is_gone_is_no_reason_to_fail(database: Database) -> None:
    assert database.write_now(Reindex("nowhere")) is None


def test_without_search_no_words_are_kept(silent: Database) -> None:
    fill(silent)
    kept = rows(silent)
    assert kept["search_texts"] == []
    assert found(silent, metadata=[("team", "blue")]) == found(silent, tool=["f"]) == ["a"]


@pytest.mark.parametrize("name", ["q", "title"])
def test_without_search_a_question_is_refused_by_the_name_of_the_setting(
    silent: Database, name: str
) -> None:
    with pytest.raises(RuleBroken) as caught:
        found(silent, **{name: "pears"})
    assert caught.value.pointer == f"?{name}"
    assert "TURNKEEP_SEARCH" in caught.value.detail
    assert found(silent, **{name: " "}) == []


def test_the_search_can_be_switched_on_and_off_later(database: Database, silent: Database) -> None:
    fill(silent)
    reindex_all(database)
    kept = rows(database)
    assert found(database, q="pears") == ["b"]
    reindex_all(silent)
    assert rows(silent) == {**kept, "search_texts": []}


def test_tenants_do_not_find_each_other(database: Database, database_url: str) -> None:
    fill(database)
    with Database(database_url, tenant_id="other") as other:
        append(other, "b", rounds(1, 1))
        for wish in ({"q": "pears"}, {"title": "title"}, {"metadata": [("team", "blue")]}):
            assert found(database, **wish) != []
            assert found(other, **wish) == []
        assert found(other, tool=["f"]) == found(other, q="call_1") == found(other) == ["b"]
        other.write_now(Erase("b"))
    assert found(database, q="pears") == found(database, provider=["kimi"]) == ["b"]


def test_metadata_of_any_length_is_stored_and_found_by_its_first_members(
    database: Database,
) -> None:
    many = {f"m{number}": number for number in range(MOST_MEMBERS + 5)}
    database.write_now(Create("a", None, {**many}))
    assert found(database, metadata=[("m0", "0")]) == ["a"]
    assert found(database, metadata=[(f"m{MOST_MEMBERS}", str(MOST_MEMBERS))]) == []


def test_the_index_of_sqlite_agrees_with_its_table(
    sqlite_database_url: str,
) -> None:
    """Also after conversations are erased, which SQLite does by itself, row by row."""
    with Database(sqlite_database_url) as database:
        fill(database)
        catch_up(database)
        database.write_now(Erase("a"))
        while database.sweep_now(cid="a", most=50):
            pass
        check = "INSERT INTO search_words (search_words, rank) VALUES ('integrity-check', 1)"
        run(database, check)
        assert [row[0] for row in rows(database)["search_texts"]] == ["b", "b", "empty"]


def test_an_append_runs_one_statement_for_facets_and_none_for_words(database: Database) -> None:
    append(database, "a", {"provider": "kimi", "messages": [{"role": "user", "content": "hi"}]})
    with statements(database) as seen:
        append(database, "a", rounds(2, 1))
    writing = [sql for sql, _ in seen if re.search("conversation_facets|search_texts", sql)]
    assert len(writing) == 1


def test_words_that_are_not_true_any_more_are_not_kept(database: Database) -> None:
    """While they were made of what was read, the turn was completed, or others indexed it."""
    turn = {"turn_id": "t1", "speaker": "ai", "blocks": [{"type": "text", "text": "pears"}]}
    append(database, "a", {"provider": "neutral", "messages": [turn | {"status": "interrupted"}]})
    stale = database.read_now(behind)
    turn["blocks"] = [{"type": "text", "text": "plums"}]
    append(database, "a", {"provider": "neutral", "messages": [turn]})
    for one in stale:
        database.write_now(one)
    assert found(database, q="pears") == []
    assert found(database, q="plums") == ["a"]
    head = database.read_now(lambda store: store.conversations.head("a"))
    assert head is not None
    assert (head.indexed, head.version) == (1, 1)
    for one in stale:
        database.write_now(one)
    assert found(database, q="plums") == ["a"]


def test_words_of_an_erased_conversation_are_not_kept_for_another_one(database: Database) -> None:
    append(database, "a", rounds(1, 5))
    stale = database.read_now(behind)
    database.write_now(Erase("a"))
    append(database, "a", {"provider": "kimi", "messages": [{"role": "user", "content": "pears"}]})
    for one in stale:
        database.write_now(one)
    assert found(database, q="call_1") == []
    assert found(database, q="pears") == ["a"]


def test_a_search_waits_for_what_was_stored_before_and_for_nothing_else(
    database: Database,
) -> None:
    append(database, "a", rounds(1, 1))
    indexer = Indexer(database)
    written = 0

    async def write_and_append(command: Any) -> Any:
        """Somebody writes as fast as the index is made."""
        nonlocal written
        written += 1
        assert written < 100, "the search waits for those who write meanwhile"
        append(database, f"b{written}", rounds(1, 1))
        append(database, "a", rounds(written + 1, 1))
        return await Database.write(database, command)

    async def caught_up() -> None:
        database.write = write_and_append  # type: ignore[method-assign]
        await indexer.caught_up(database)

    asyncio.run(caught_up())
    page: Any = database.read_now(partial(listed, wish=Asked(q="call_1")))
    assert [one["id"] for one in page["data"]] == ["a"]


def test_a_turn_that_is_completed_is_indexed_again(database: Database) -> None:
    turn = {"turn_id": "t1", "speaker": "ai", "blocks": [{"type": "text", "text": "pears"}]}
    append(database, "a", {"provider": "neutral", "messages": [turn | {"status": "interrupted"}]})
    append(database, "a", {"provider": "neutral", "messages": [{**turn, "turn_id": "t2"}]})
    assert found(database, q="pears") == ["a"]
    turn["blocks"] = [{"type": "text", "text": "plums"}]
    append(database, "a", {"provider": "neutral", "messages": [turn]})
    assert found(database, q="plums") == ["a"]
    kept = [words for _, part, words in rows(database)["search_texts"] if part == 1]
    assert len(kept) == 1
    assert "pears" not in kept[0]


@contextmanager
def statements(database: Database) -> Iterator[list[tuple[str, Any]]]:
    seen: list[tuple[str, Any]] = []

    with noted(lambda _, statement, values: seen.append((statement, values)), database):
        yield seen


TEAM = Facet("metadata", "team", "t7")
QUESTION = (asked("needle7x"),)
WISHES = {
    "order": {},
    "metadata": {"facets": (TEAM,)},
    "tool": {"facets": (Facet("tool", "tool7"),)},
    "provider": {"facets": (Facet("provider", "provider7"),)},
    "facets": {"facets": (TEAM, Facet("tool", "tool7"), Facet("provider", "provider7"))},
    "state": {"state": "open"},
    "text": {"text": QUESTION},
    "title": {"title": (asked("title7x"),)},
    "all": {"text": QUESTION, "title": (asked("title7x"),), "facets": (TEAM,)},
}


@pytest.mark.own_database
def test_no_question_reads_more_than_it_finds(database: Database) -> None:
    """The plans of both databases: thousands of conversations, a few of which are asked for."""
    asyncio.run(many(database))
    if database._kind.DRIVER.startswith("postgresql"):
        run(database, "ANALYZE")
    for order in ("id", "updated"):
        for name, wish in WISHES.items():
            wanted = Wanted(order, **wish)  # type: ignore[arg-type]
            with statements(database) as seen:
                page = database.read_now(lambda store, one=wanted: store.finder.find(one, 20))  # type: ignore[misc]
            assert len(page) == (20 if name == "order" else 8), name
            after = Place(page[3].id, page[3].updated_at)
            rest = Wanted(order, after, **wish)  # type: ignore[arg-type]
            with statements(database) as again:
                rest_page = database.read_now(lambda store, one=rest: store.finder.find(one, 16))  # type: ignore[misc]
            assert rest_page == page[4:] or name == "order"
            for sql, values in (*seen, *again):
                check_plan(database, sql, values, filtered=bool(wish))


def test_a_list_does_not_look_at_the_calls(database: Database) -> None:
    """However many of them are open."""
    call = {"function": {"name": "f", "arguments": "{}"}}
    calls = [call | {"id": f"call_{number}"} for number in range(20)]
    message = {"role": "assistant", "tool_calls": calls}
    append(database, "a", {"provider": "openai", "messages": [message]})
    for wish in (Asked(), Asked(state="open"), Asked(order="updated", state="open")):
        with statements(database) as seen:
            page: Any = database.read_now(partial(listed, wish=wish))
        assert [one["open_calls"] for one in page["data"]] == [20]
        assert [sql for sql, _ in seen if "tool_calls" in sql] == []


async def many(database: Database) -> None:
    """Groups of eight conversations have something in common."""
    writes = (database.write(numbered(number)) for number in range(2_400))
    await asyncio.gather(*writes)


def numbered(number: int) -> Do[None]:
    group = number % 300
    facets = frozenset({Facet("tool", f"tool{group}"), Facet("provider", f"provider{group}")})
    create = Create(f"c{number:04}", f"title{group}x", {"team": f"t{group}"})

    def how(known: Slice) -> Change[None]:
        words = {1: ["common", f"needle{group}x"]}
        made = create.decide(known)
        assert made.head is not None
        head = replace(made.head, open_calls=3 if group == 7 else 0)
        return made.then(Change(None, head=head, facets=facets, words=words))

    return Do(create.conversation_id, how)


def check_plan(database: Database, sql: str, values: Any, *, filtered: bool) -> None:
    if database._kind.DRIVER.startswith("sqlite"):
        explained = explain(database, f"EXPLAIN QUERY PLAN {sql}", values)
        plan = "\n".join(explained)
        # FTS5 calls every look-up in its index a scan of a virtual table.
        assert not re.search("SCAN (?!search_words VIRTUAL TABLE|anon_1)", plan), plan
        # What is found is sorted; what is not asked for comes in the order of an index.
        if "anon_1" in sql:
            # Whether few have it.
            assert "COVERING" in plan, plan
            return
        [heads] = [line for line in explained if "conversations USING" in line]
        assert ("conversation_id=?" in heads) == filtered, plan
        assert filtered or "TEMP B-TREE" not in plan, plan
        return
    plan = "\n".join(
        explain(database, f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {sql}", values)
    )
    touched = re.findall(r"actual rows=(\d+)|Rows Removed by \D+: (\d+)", plan)
    assert max(int(a or b) for a, b in touched) <= 24, f"{sql}\n{plan}"


def explain(database: Database, sql: str, values: Any) -> list[str]:
    def query(store: ReadStore) -> list[str]:
        return [row[-1] for row in store._connection.exec_driver_sql(sql, values)]

    return database.read_now(query)


def test_indexing_ends_when_it_is_cancelled_whatever_a_command_makes_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unsettled(**_: object) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise Unavailable("It may have been stored.") from None

    async def story() -> bool:
        indexer = Indexer(database)
        monkeypatch.setattr(indexer, "_round", unsettled)
        task = asyncio.create_task(indexer.run())
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait({task}, timeout=10)
        return task.cancelled()

    assert asyncio.run(story())


def test_the_index_takes_little_at_a_time_while_the_service_is_used(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More and more while something is left, and it rests in between; all when it is quiet."""
    monkeypatch.setattr(indexer, "_PAUSE", 0.05)
    taken: list[int] = []
    rests: list[float] = []
    is_used = True

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        await sleep(0.001)

    async def story() -> None:
        nonlocal is_used
        mine = Indexer(database)

        async def round_(*, most: int) -> None:
            taken.append(most)
            mine._tenants = {"acme"} if len(taken) < 4 else set()
            mine.requests += is_used
            await sleep(0.001)

        monkeypatch.setattr(mine, "_round", round_)
        monkeypatch.setattr(asyncio, "sleep", rest)
        mine.requests += 1
        async with running(mine):
            await until(lambda: len(taken) > 5)
            few = indexer._FEW
            assert taken[:6] == [few, 2 * few, 4 * few, 8 * few, few, few]
            assert all(0 < one <= indexer._LONGEST for one in rests[:6])
            is_used = False
            await until(lambda: taken[-1] == BATCH and rests[-1] == 0)

    asyncio.run(story())


def test_a_request_uses_the_service_and_a_look_at_its_health_does_not(
    sqlite_database_url: str,
) -> None:
    with TestClient(create_app(Settings(database_url=sqlite_database_url))) as http:
        mine = http.app.state.context.indexer  # type: ignore[attr-defined]
        assert http.get("/healthz").status_code == 200
        assert mine.requests == 0
        assert http.get("/v1/conversations").status_code == 200
        assert mine.requests == 1


@asynccontextmanager
async def running(mine: Indexer) -> AsyncIterator[None]:
    task = asyncio.create_task(mine.run())
    yield
    task.cancel()
    await asyncio.wait({task})


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await sleep(0.001)
