"""An id is found by index, however many conversations there are."""

import re
from dataclasses import replace
from typing import Any, get_args

import pytest

from app.audit.sql import NEWEST, IdKind, Spot
from app.database import sqlite
from app.database.database import Database
from app.database.store import ReadStore
from app.ledger.records import ProviderId
from app.model.ids import fingerprint
from tests.database.specimens import Do, call, result, rows, turn
from tests.database.test_cost import Statements, recorded

MANY = 600
KINDS: tuple[IdKind, ...] = get_args(IdKind)


def names(number: int) -> dict[IdKind, str]:
    """The ids that only this conversation knows."""
    return {
        "turn": f"t-{number}",
        "response": f"resp-{number}",
        "canonical": made(number).id,
        "raw": f"raw-{number}",
        "provider_id": f"shown-{number}",
        "orphan_result": f"lost-{number}",
    }


def made(number: int) -> Any:
    return call(1, 0, f"raw-{number}")


@pytest.fixture
def full(database: Database) -> Database:
    """Many conversations, each with one of everything."""

    def one(number: int) -> Do[None]:
        said = replace(turn(1, f"t-{number}"), response_id=f"resp-{number}")
        shown = ProviderId("mistral", f"shown-{number}", made(number).id)
        lost = result(1, 0, f"lost-{number}")
        return rows(f"c{number}", [said], [made(number)], [shown], [lost])

    # All at once, so that many are written in one transaction.
    for done in [database.write_soon(one(number)) for number in range(MANY)]:
        done.result()
    return database


def spots(database: Database, kind: IdKind, name: str, before: Spot = NEWEST) -> list[Spot]:
    return database.read_now(lambda store: store.lookup.spots(kind, name, before=before, limit=5))


def test_every_kind_of_id_is_found_where_it_is(full: Database) -> None:
    for kind, name in names(77).items():
        [spot] = spots(full, kind, name)
        assert (spot.conversation_id, spot.seq, spot.place) == ("c77", 1, 0), kind
        assert spots(full, kind, name, before=spot) == []


@pytest.mark.own_database
def test_no_row_is_looked_at_that_is_not_in_the_answer(full: Database) -> None:
    for kind in KINDS:
        with recorded(full) as asked:
            spots(full, kind, names(77)[kind])
        assert len(asked) == (2 if kind == "response" else 1), kind
        check_plans(full, asked)


def check_plans(full: Database, asked: Statements) -> None:
    def plans(store: ReadStore) -> list[str]:
        run = store._connection.exec_driver_sql
        if full._kind is sqlite:
            return [
                "\n".join(row[3] for row in run(f"EXPLAIN QUERY PLAN {sql}", values))
                for sql, values in asked
            ]
        explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
        return ["\n".join(run(explain + sql, values).scalars()) for sql, values in asked]

    for plan in full.read_now(plans):
        if full._kind is sqlite:
            reads = re.findall(r"^(?:SCAN|SEARCH) (?!\(subquery|anon)\w+.*$", plan, re.MULTILINE)
            assert reads, plan
            assert all("SEARCH" in read and "tenant_id=? AND" in read for read in reads), plan
        else:
            touched = re.findall(r"actual rows=(\d+)|Rows Removed by \D+: (\d+)", plan)
            assert max(int(a or b) for a, b in touched) < 5, plan
            assert "Seq Scan" not in plan, plan


def test_a_key_of_a_response_is_stored_as_its_hash(full: Database) -> None:
    query = "SELECT response_sha256 FROM turns WHERE conversation_id = 'c77'"
    stored = full.read_now(lambda store: store._connection.exec_driver_sql(query).scalar())
    assert stored is not None
    assert bytes(stored) == fingerprint("resp-77")
