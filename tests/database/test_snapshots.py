"""Connections that read are kept, as long as nothing is left of what was read before."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from app.database.database import READERS, Database
from app.database.store import ReadStore
from tests.conversations.test_erasing import comes_true
from tests.database.cutting_proxy import cutting_proxy
from tests.database.specimens import append, labels

pytestmark = pytest.mark.own_database


@pytest.fixture
def connected(database: Database) -> list[object]:
    """What was connected to since."""
    seen: list[object] = []
    event.listen(database._reading, "connect", lambda driver, _: seen.append(driver))
    return seen


def fail(_: ReadStore) -> None:
    raise ZeroDivisionError


def nonsense(store: ReadStore) -> None:
    store._connection.exec_driver_sql("SELECT nonsense")


def test_questions_share_a_connection_and_none_sees_an_old_snapshot(
    database: Database, connected: list[object]
) -> None:
    for number in range(1, 5):
        database.write_now(append("c1"))
        assert len(labels(database, "c1")) == number
        with pytest.raises(ZeroDivisionError):
            database.read_now(fail)
    assert len(connected) == 1


def test_what_the_database_refuses_costs_its_connection(
    database: Database, connected: list[object]
) -> None:
    for number in range(1, 4):
        assert labels(database, "c1") == []
        assert len(connected) == number
        with pytest.raises(DBAPIError):
            database.read_now(nonsense)


def test_when_one_connection_is_broken_the_others_are_not_tried(
    postgres_database_url: str,
) -> None:
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with (
        Database(postgres_database_url) as database,
        psycopg.connect(postgres_database_url, autocommit=True) as other,
    ):
        barrier = Barrier(READERS)
        with ThreadPoolExecutor(READERS) as threads:
            asked = [
                threads.submit(database.read_now, lambda _: barrier.wait(20))
                for _ in range(READERS)
            ]
            assert len({one.result() for one in asked}) == READERS
        assert len(other.execute(end).fetchall()) == READERS
        assert labels(database, "c1") == []


def test_of_many_connections_some_are_kept(database: Database, connected: list[object]) -> None:
    count = READERS + 2

    def at_once() -> None:
        meet = Barrier(count).wait
        with ThreadPoolExecutor(count) as threads:
            asked = [threads.submit(database.read_now, lambda _: meet(9)) for _ in range(count)]
        assert {one.result() for one in asked} == set(range(count))

    at_once()
    assert len(connected) == count
    at_once()
    assert len(connected) == count + 2


def test_no_answer_waits_for_the_end_of_its_transaction(postgres_database_url: str) -> None:
    with cutting_proxy(postgres_database_url) as proxy, Database(proxy.url) as database:
        database.write_now(append("c1", "first"))

        def last_words(store: ReadStore) -> int:
            count = len(store.turns.page("c1"))
            proxy.open.clear()
            return count

        assert database.read_now(last_words) == 1
        proxy.open.set()
        assert labels(database, "c1") == ["first"]


def test_no_transaction_stays_open_behind_an_answer(postgres_database_url: str) -> None:
    # Other tests have databases of their own on the same server.
    query = (
        "SELECT state FROM pg_stat_activity"
        " WHERE application_name = 'turnkeep' AND datname = current_database()"
    )
    with (
        Database(postgres_database_url) as database,
        psycopg.connect(postgres_database_url, autocommit=True) as other,
    ):
        for question in (lambda _: None, lambda store: store.turns.page("c1"), fail):
            with suppress(ZeroDivisionError):
                database.read_now(question)
            assert comes_true(lambda: other.execute(query).fetchall() == [("idle",)])
