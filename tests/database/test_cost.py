"""What an append asks costs the same in a long conversation: statements, and work for each."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection

from app.audit.sql import NEWEST, RANKS
from app.database import loading, postgres, sqlite, sweeping
from app.database.database import Database
from app.database.keyed import Keyed
from app.database.scope import ALL
from app.database.store import ReadStore
from app.ledger.book import Book
from app.ledger.load_request import Keys
from app.ledger.records import ProviderId
from app.ledger.slice import Custom, Slice
from app.model import ids
from tests.database.specimens import NOON, Do, call, result, rows, turn
from tests.long import IS_LONG
from tests.statements import noted

SHORT, LONG = 10, 10_000 if IS_LONG else 4_000
Statements = list[tuple[str, Any]]
QUESTIONS = {
    name: keyed
    for name, keyed in (
        *((name, one) for name, one in vars(loading).items() if not name.startswith("_EVERY")),
        *((f"{name}, named", one) for name, one in loading._NAMED.items()),
        *((f"{name}, waiting", one) for name, one in loading._WAITING.items()),
    )
    if isinstance(keyed, Keyed)
}


def fill(cid: str, length: int) -> Do[None]:
    """Turns with an open and an answered call each, all under the same raw id."""
    seqs = range(1, length + 1)
    calls = [call(seq, index, answered=index == 1) for seq in seqs for index in (0, 1)]
    assigned = [ProviderId("kimi", f"functions.read:{n}", c.id, n) for n, c in enumerate(calls)]
    results = [result(seq, 0, call_id=call(seq, 1).id) for seq in seqs]
    # Results that wait are few, however long the conversation is.
    waiting = [result(seq, 1, f"early{seq}") for seq in seqs[:SHORT]]
    return rows(cid, [turn(seq) for seq in seqs], calls, assigned, [*results, *waiting])


def load(cid: str) -> Callable[[ReadStore], None]:
    """All that commands may ask for, but for whole histories."""
    names = ("call_0", "functions.read:8", "nowhere")
    kinds = ("raw", "normalized")
    states = ("open", "answered")
    named: dict[tuple[str, ...], int] = {("open",): 1}
    named |= {(s, k, n): 1 for s in states for k in kinds for n in names}
    named |= {(s, "name", "read"): 1 for s in states}
    keys = Keys(
        idempotency=frozenset({"key"}),
        turn_ids=frozenset({"turn-5", "nowhere"}),
        seqs=frozenset({5, 6}),
        call_ids=frozenset({call(5).id, "nowhere"}),
        provider_ids=frozenset(names),
        named=named,
        waiting=frozenset({("raw", "early5"), ("raw", "nowhere"), ("normalized", "early6")}),
        ordinals=frozenset({"kimi", "mistral"}),
        ledgers_of=frozenset({4, 5}),
        tools=True,
        revisions=True,
    )

    def query(store: ReadStore) -> None:
        # A reader may not lock, and need not here.
        head = store.conversations.head(cid)
        assert head is not None
        book = Book(whole=False, orphans=head.orphans)
        known = Slice(cid, NOON, Custom(), head, book)
        loading.load(store._connection, "default", {cid: known}, {cid: keys})

    return query


def ask(cid: str) -> Callable[[ReadStore], None]:
    def query(store: ReadStore) -> None:
        load(cid)(store)
        store.turns.one(cid, "turn-5")
        store.turns.page(cid, after=4, limit=2)
        store.conversations.has_key(cid, "key")
        store.ledger.calls(cid, limit=1, after=(5, 0))
        for answered in (None, False, True):
            store.ledger.calls(cid, limit=1, answered=answered, newest_first=True)
            store.ledger.calls(cid, limit=1, after=(5, 0), answered=answered)
        store.turns.versions(cid, [4, 5])
        for provider in ("openai", "anthropic"):
            store.turns.newest_model(cid, [provider], ALL)
        for kind in RANKS:
            for prefix in ("", cid[:2]):
                store.lookup.spots(kind, "nowhere", before=NEWEST, limit=2, prefix=prefix)

    return query


@contextmanager
def recorded(database: Database) -> Iterator[Statements]:
    seen: Statements = []

    def record(_: object, statement: str, values: Any) -> None:
        seen.append((statement, values))

    with noted(record, database):
        yield seen


def statements_of(database: Database, cid: str) -> Statements:
    with recorded(database) as seen:
        database.read_now(ask(cid))
    return seen


@pytest.mark.own_database
def test_a_long_conversation_costs_no_more_than_a_short_one(database: Database) -> None:
    database.write_now(fill("short", SHORT))
    database.write_now(fill("long", LONG))
    short, long = statements_of(database, "short"), statements_of(database, "long")
    assert len(short) == 60
    assert [statement for statement, _ in long] == [statement for statement, _ in short]
    if database._kind is sqlite:
        assert 0 < steps(database, "long") <= steps(database, "short") * 1.05
    else:
        check_plans(database, long)


def steps(database: Database, cid: str) -> int:
    """How many instructions SQLite carries out."""

    def query(store: ReadStore) -> int:
        taken = iter(range(10**9))
        driver: Any = store._connection.connection.driver_connection
        driver.set_progress_handler(lambda: next(taken) < 0, 1)
        ask(cid)(store)
        driver.set_progress_handler(None, 1)
        return next(taken)

    return database.read_now(query)


def check_plans(database: Database, asked: Statements) -> None:
    """PostgreSQL touches no row that is not in the answer, though it knows nothing of the data."""

    def plans(store: ReadStore) -> list[str]:
        run = store._connection.exec_driver_sql
        explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
        # The questions of readers first; the writer's are asked as the writer does.
        asked.sort(key=lambda one: one[0].startswith("WITH k"))
        writers = sum(sql.startswith("WITH k") for sql, _ in asked)
        plain, keyed = asked[:-writers], asked[-writers:]
        said = ["\n".join(run(explain + sql, values).scalars()) for sql, values in plain]
        run(postgres.BY_INDEX)
        return said + ["\n".join(run(explain + sql, values).scalars()) for sql, values in keyed]

    for (sql, _), plan in zip(asked, database.read_now(plans), strict=True):
        touched = re.findall(r"actual rows=(\d+)|Rows Removed by \D+: (\d+)", plan)
        assert max(int(a or b) for a, b in touched) < 20, f"{sql}\n{plan}"


@pytest.mark.own_database
def test_many_keys_of_a_long_conversation_are_found_one_by_one(postgres_database_url: str) -> None:
    """Whichever index PostgreSQL takes, it reads no more than what it finds; also where nothing has
    counted its rows since the tables were made."""
    with Database(postgres_database_url) as database:
        database.write_now(fill("long", LONG))
        with database._writing.connect() as connection, connection.begin():
            for size in (1, 16, 512):
                for name, plan in plans_of(connection, "long", size):
                    removed = re.findall(r"Rows Removed by \D+: (\d+)", plan)
                    assert sum(map(int, removed)) == 0, f"{name}, {size}:\n{plan}"


def plans_of(connection: Connection, cid: str, size: int) -> Iterator[tuple[str, str]]:
    """How the writer's questions are answered, for so many keys."""
    given: dict[str, Callable[[int], object]] = {
        "cid": lambda _: cid,
        "id": lambda n: call(n + 1).id,
        "sha256": lambda n: ids.fingerprint(f"functions.read:{n}"),
        "name": lambda _: "read",
        "seq": lambda n: n + 1,
        "target": lambda _: "kimi",
        "answered": lambda n: n % 2 == 1,
    }
    for name, keyed in QUESTIONS.items():
        text = keyed._text(connection, size)
        keys = [given[one](n) for n in range(size) for one in keyed._names]
        values = text.given((*keys, "default", *[1] * len(keyed._more)))
        rows = connection.exec_driver_sql(f"EXPLAIN (ANALYZE) {text.text}", values)
        yield name, "\n".join(rows.scalars())


@pytest.mark.own_database
@pytest.mark.parametrize("counted", ["never", "before"])
def test_rows_are_removed_without_a_look_at_others(
    postgres_database_url: str, counted: str
) -> None:
    """A step of removing a long conversation reads as many rows as it removes; also where the rows
    were counted before that conversation was stored, so that PostgreSQL expects none of it."""
    with Database(postgres_database_url) as database:
        if counted == "before":
            database.write_now(fill("other", LONG))
            with psycopg.connect(postgres_database_url, autocommit=True) as owner:
                owner.execute("ANALYZE")
        database.write_now(fill("long", LONG))
        with database._writing.connect() as connection, connection.begin():
            owner_and_most = {"tenant": "default", "conversation": "long", "most": 100}
            for name, statement in sweeping._ROWS.items():
                compiled = statement.compile(dialect=connection.dialect)
                explain = f"EXPLAIN (ANALYZE, TIMING OFF) {compiled}"
                rows = connection.exec_driver_sql(
                    explain, compiled.construct_params(owner_and_most)
                )
                plan = "\n".join(rows.scalars())
                removed = re.findall(r"Rows Removed by \D+: (\d+)", plan)
                assert sum(map(int, removed)) == 0, f"{name}:\n{plan}"
                touched = re.findall(r"actual rows=(\d+) loops=(\d+)", plan)
                assert max(int(each) * int(loops) for each, loops in touched) <= 100, plan


@pytest.mark.own_database
def test_no_table_counts_as_empty_after_the_migrations(postgres_database_url: str) -> None:
    """PostgreSQL notes how many rows it finds when an index is made: none, where there are none."""
    with psycopg.connect(postgres_database_url) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples = 0 AND relpages > 0"
            " AND relnamespace = 'public'::regnamespace"
        )
        assert found.fetchall() == []
