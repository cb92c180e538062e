"""What a page of the list of conversations costs with 100,000 of them, beside the same with 1,000.

    python -m bench.listing                                        SQLite, in a file of its own
    python -m bench.listing postgresql://user@host/empty_database  a database that it may fill

Conversations are inserted by SQL alone: a turn, a call and its facets each.
"""

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import Connection, Table, insert

from app.conversations.queries import Asked, listed
from app.database import tables
from app.database.database import DEFAULT_TENANT, Database
from app.database.engines import make_engine
from app.database.migrations import upgrade
from app.jsontext.writing import dumps
from app.ledger.wanted import ID_PART, METADATA_PART, TITLE_PART, Facet
from app.model.json_values import JsonObject
from app.search.texts import conversation_words, metadata_words, title_words

SMALL, LARGE = 1_000, 100_000
PAGE, ROUNDS, BATCH = 50, 15, 5_000
# One in so many conversations has what is rare.
RARE = 500
START = datetime(2026, 1, 1, tzinfo=UTC)

WISHES: dict[str, Asked] = {
    "by id": Asked(),
    "newest first": Asked(order="updated"),
    "provider of all": Asked(order="updated", provider=["openai"]),
    "provider of a few": Asked(order="updated", provider=["kimi"]),
    "tool of half": Asked(order="updated", tool=["common"]),
    "tool of a few": Asked(order="updated", tool=["rare"]),
    "metadata of a tenth": Asked(order="updated", metadata=[("team", "t7")]),
    "metadata of a few": Asked(order="updated", metadata=[("rare", "yes")]),
    "open, half": Asked(order="updated", state="open"),
    "interrupted, a few": Asked(order="updated", state="interrupted"),
    "open and a rare tool": Asked(order="updated", state="open", tool=["rare"]),
    "words of a few": Asked(order="updated", q="needle"),
    "words of a tenth": Asked(order="updated", q="t7"),
}


def main() -> None:
    url = sys.argv[1] if len(sys.argv) > 1 else None
    measured = []
    for size in (SMALL, LARGE):
        with _database(url, size) as database:
            measured.append({name: _measured(database, wish) for name, wish in WISHES.items()})
    print(f"{'':24}{SMALL:>10,}{LARGE:>10,}  ratio   deep page: ratio")
    for name in WISHES:
        (first, deep), (later, deeper) = (one[name] for one in measured)
        print(
            f"{name:24}{first:7.2f} ms{later:7.2f} ms{later / first:7.1f}"
            f"   {deeper:7.2f} ms{deeper / deep:7.1f}"
        )


def _measured(database: Database, wish: Asked) -> tuple[float, float]:
    """Milliseconds of the first page, and of one in the middle of the list."""
    wish = _asked(wish, None)
    first = _timed(lambda: database.read_now(partial(listed, wish=wish)))
    deep = _deep(database, wish)
    return first, _timed(lambda: database.read_now(partial(listed, wish=deep)))


def _deep(database: Database, wish: Asked) -> Asked:
    cids = database.read_now(lambda store: store.conversations.ids(2**31))
    cid = cids[len(cids) // 2]
    middle = database.read_now(lambda store: store.conversations.heads([cid]))[cid]
    at = (middle.updated_at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    cursor = f"{at}~{middle.id}" if wish.order == "updated" else middle.id
    return _asked(wish, cursor)


def _asked(wish: Asked, cursor: str | None) -> Asked:
    values: dict[str, Any] = {name: getattr(wish, name) for name in Asked.__slots__}
    return Asked(**{**values, "cursor": cursor, "limit": PAGE})


def _timed(work: Callable[[], object]) -> float:
    spent = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        spent.append((time.perf_counter() - begun) * 1000)
    return median(spent[3:])


@contextmanager
def _database(url: str | None, size: int) -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder:
        at = url or f"sqlite:///{Path(folder) / 'turnkeep.db'}"
        upgrade(at)
        engine = make_engine(at, "migrate")
        with engine.begin() as connection:
            for table in reversed(tables.metadata.sorted_tables):
                connection.execute(table.delete())
            for first in range(0, size, BATCH):
                _insert(connection, range(first, min(first + BATCH, size)))
        if not at.startswith("sqlite"):
            with engine.begin() as connection:
                connection.exec_driver_sql("ANALYZE")
        engine.dispose()
        with Database(at) as database:
            yield database


def _insert(connection: Connection, numbers: range) -> None:
    rows: dict[str, list[dict[str, Any]]] = {}
    for number in numbers:
        for table, row in _rows(number):
            rows.setdefault(table.name, []).append(row)
    for table in tables.metadata.sorted_tables:
        if table.name in rows:
            connection.execute(insert(table), rows[table.name])


def _rows(number: int) -> Iterator[tuple[Table, dict[str, Any]]]:
    cid = f"c{number:06}"
    owner = {"tenant_id": DEFAULT_TENANT, "conversation_id": cid}
    is_rare = number % RARE == 0
    now = START + timedelta(seconds=number)
    described: JsonObject = {"team": f"t{number % 10}"}
    if is_rare:
        described["rare"] = "yes"
    title = f"talk {number}" + (" needle" if is_rare else "")
    yield (
        tables.conversations,
        owner
        | {"title": title, "metadata": dumps(described).encode(), "version": 1, "head_hash": b"h"}
        | {"orphans": 0, "created_at": now, "updated_at": now, "indexed": 1, "tools_hash": b""}
        | {"open_calls": number % 2},
    )
    turn = {"seq": 1, "turn_id": f"t{number}", "format": "openai", "provider": "openai"}
    content = {"payload": b"", "blocks": b"", "metadata": b"{}", "content_hash": b"", "hash": b""}
    status = "interrupted" if is_rare else "complete"
    yield (
        tables.turns,
        owner
        | turn
        | content
        | {
            "speaker": "ai",
            "created_at": now,
            "status": status,
        },
    )
    yield (
        tables.tool_calls,
        owner
        | {"call_id": f"k{number}", "seq": 1, "call_index": 0, "turn_id": f"t{number}"}
        | {"provider": "openai", "name": "f", "answered": number % 2 == 0},
    )
    facets = [
        Facet("provider", "openai"),
        *(Facet("metadata", name, str(one)) for name, one in described.items()),
    ]
    facets += [Facet("tool", "common")] if number % 2 else []
    facets += [Facet("tool", "rare"), Facet("provider", "kimi")] if is_rare else []
    for facet in facets:
        values = {"kind": facet.kind, "value_sha256": facet.fingerprint}
        yield tables.conversation_facets, owner | values
    parts = {
        TITLE_PART: title_words(title),
        ID_PART: conversation_words(cid),
        METADATA_PART: metadata_words(described),
    }
    for part, words in parts.items():
        place = int.from_bytes(hashlib.sha256(f"{number}.{part}".encode()).digest()[:6], "big")
        yield tables.search_texts, owner | {"part": part, "words": words, "number": place}


if __name__ == "__main__":
    main()
