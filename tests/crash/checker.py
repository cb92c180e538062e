"""Says what is wrong with a database, given all that was posted to it.

`faults` compares turns with posts; `damages` asks `turnkeep verify` and the database itself.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import psycopg

from app.cli.databases import all_ids
from app.database.database import Database
from app.turns.queries import Page, listed
from tests.crash.posts import TURNS, Json, Post, mark_of
from tests.e2e.server import turnkeep

KINDS = ("lost", "twice", "gap", "half", "wrong")
VERIFY_SECONDS = 600


@dataclass(frozen=True)
class Fault:
    """`kind` is one of `KINDS`."""

    kind: str
    text: str


def stored(url: str) -> dict[str, list[Json]]:
    """All turns of all conversations, in order."""
    with Database(url) as database:
        return {cid: list(_turns(database, cid)) for cid in all_ids(database)}


def faults(posts: Iterable[Post], found: Mapping[str, Sequence[Json]]) -> list[Fault]:
    """What was acknowledged is stored once and whole; what was not, whole or not at all."""
    said = list(_gaps(found))
    places: dict[tuple[str, str], list[tuple[int, Json]]] = defaultdict(list)
    for cid, turns in found.items():
        for turn in turns:
            mark = mark_of(turn)
            if mark is None:
                said.append(Fault("wrong", f"{cid} {turn['seq']} holds nothing that was posted"))
            else:
                places[cid, mark[0]].append((mark[1], turn))
    for post in posts:
        said += _of_post(post, places.pop((post.cid, post.key), []))
    said += [Fault("wrong", f"{cid} has {key}, which was never posted") for cid, key in places]
    return said


def damages(url: str, folder: Path) -> list[str]:
    """What `turnkeep verify` and the database itself complain about."""
    done = turnkeep("verify", "--database-url", url, cwd=folder, seconds=VERIFY_SECONDS)
    said = [f"verify: {done.stdout}{done.stderr}"] if done.returncode else []
    return [*said, *(_sqlite(url) if url.startswith("sqlite") else _postgres(url))]


def summary(said: Sequence[Fault]) -> str:
    """`0 lost, 0 twice, …`, and the first of what there is."""
    counts = Counter(fault.kind for fault in said)
    first = "".join(f"\n    {fault.kind}: {fault.text}" for fault in said[:10])
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS) + first


def _turns(database: Database, cid: str) -> Iterator[Json]:
    after = 0
    while True:
        page = partial(listed, cid=cid, page=Page(after=after, limit=1000), raw=False)
        read = json.loads(database.read_now(page))
        yield from read["data"]
        if not read["has_more"]:
            return
        after = int(read["next_cursor"])


def _gaps(found: Mapping[str, Sequence[Json]]) -> Iterator[Fault]:
    for cid, turns in found.items():
        seqs = [0, *(turn["seq"] for turn in turns)]
        for before, seq in pairwise(seqs):
            if seq != before + 1:
                yield Fault("gap", f"{cid} has {seq} after {before}")


def _of_post(post: Post, places: Sequence[tuple[int, Json]]) -> list[Fault]:
    name = f"{post.cid} {post.key}"
    counts = Counter(place for place, _ in places)
    said = [Fault("twice", f"{name}/{place}") for place, n in counts.items() if n > 1]
    missing = [place for place in range(TURNS) if place not in counts]
    if post.receipt is not None:
        said += [Fault("lost", f"{name}/{place}") for place in missing]
    if places and missing:
        said.append(Fault("half", f"{name} lacks {missing}"))
    if said or not places:
        return said
    turns = [turn for _, turn in places]
    seqs = [turn["seq"] for turn in turns]
    if [place for place, _ in places] != list(range(TURNS)) or seqs[-1] - seqs[0] != TURNS - 1:
        said.append(Fault("wrong", f"{name} is stored out of order: {seqs}"))
    elif post.receipt is not None:
        told = [(turn["turn_id"], turn["seq"]) for turn in post.receipt["turns"]]
        if told != [(turn["turn_id"], turn["seq"]) for turn in turns]:
            said.append(Fault("wrong", f"{name} is not where its receipt says"))
    return said


def _sqlite(url: str) -> list[str]:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    try:
        rows = connection.execute("PRAGMA integrity_check").fetchall()
        foreign = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.DatabaseError as error:
        return [f"integrity_check: {error}"]
    finally:
        connection.close()
    return [
        *(f"integrity_check: {row[0]}" for row in rows if row[0] != "ok"),
        *(f"foreign_key_check: {row}" for row in foreign),
    ]


def _postgres(url: str) -> list[str]:
    """Reads every row; and has every index compared with its table where amcheck is installed."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT format('SELECT count(t::text) FROM %s t', oid::regclass)"
            " FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        ).fetchall()
        indexes = connection.execute(
            "SELECT format('SELECT bt_index_check(%s, true)', c.oid) FROM pg_class c"
            " JOIN pg_am a ON a.oid = relam WHERE relnamespace = 'public'::regnamespace"
            " AND relkind = 'i' AND amname = 'btree' AND EXISTS"
            " (SELECT 1 FROM pg_available_extensions WHERE name = 'amcheck')"
        ).fetchall()
        assert tables
        if indexes:
            connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
        said = []
        for (question,) in (*tables, *indexes):
            try:
                connection.execute(question)
            except psycopg.Error as error:
                said.append(f"{question}: {error}")
        return said
