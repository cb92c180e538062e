"""Rows of what the service takes: disk, memory, the time to start and to import."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import psycopg

from bench import servers
from bench.client import Client
from bench.rows import Row
from bench.stage import INDEXED_PATH, Stage, fill, replay_path
from bench.turns import Message, Texts, encoded, history


def disk(stage: Stage) -> Iterator[Row]:
    """Bytes on disk over the bytes of the posted messages; the service has been stopped."""
    for kind, target in (("random", 1.3), ("prose and code", 0.7)):
        messages = list(history(Texts(kind), stage.sizes.stored))
        payload = sum(len(encoded(message)) for message in messages)
        for search in (False, True):
            size = sqlite_bytes(stage, messages, search=search)
            yield Row(
                f"SQLite file, {kind}, {'with' if search else 'without'} the search",
                size / 1e6,
                "MB",
                target,
                wants="at most",
                ratio=size / payload,
                over=payload / 1e6,
                over_name="payload",
            )


def sqlite_bytes(stage: Stage, messages: list[Message], *, search: bool = True) -> int:
    """What the files of a database take that holds nothing but this history."""
    with stage.database("SQLite") as url:
        _store(url, messages, search=search)
        file = Path(url.removeprefix("sqlite:///"))
        return sum(one.stat().st_size for one in file.parent.glob(f"{file.name}*"))


def postgres_bytes(stage: Stage, messages: list[Message]) -> int:
    """By how much a PostgreSQL database grows with this history, indexes and all."""
    with stage.database("PostgreSQL") as url:
        servers.command("migrate", "--database-url", url)
        before = _postgres_size(url)
        _store(url, messages)
        return _postgres_size(url) - before


def _store(url: str, messages: list[Message], *, search: bool = True) -> None:
    setting = {"TURNKEEP_SEARCH": str(search).lower()}
    with servers.turnkeep(url, environment=setting) as server, Client(server.port) as client:
        fill(client, "h", messages)
        if search:
            client.get(INDEXED_PATH)


def _postgres_size(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM")
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        assert row is not None
        return int(row[0])


def memory(stage: Stage) -> Iterator[Row]:
    """Resident memory, idle and after a long history was read."""
    with servers.turnkeep(stage.long_database) as server, Client(server.port) as client:
        idle = server.resident_mb()
        size = len(client.get(replay_path("long")).body)
        after = server.resident_mb()
    yield Row("memory, idle", idle, "MB", target=120, wants="at most")
    yield Row(
        f"memory after reading {stage.sizes.long:,} turns",
        after,
        "MB",
        remark=f"a replay of {size / 1e6:.0f} MB",
    )


def start(stage: Stage) -> Iterator[Row]:
    """From starting the process to the first good reply, with a history stored."""
    with stage.database("SQLite") as url:
        _store(url, stage.messages)
        times = []
        for _ in range(stage.sizes.starts):
            with servers.turnkeep(url) as server:
                times.append(server.start_seconds)
    yield Row("start to first reply", median(times), "s", target=1, wants="at most")


def imports(stage: Stage) -> Iterator[Row]:
    """`turnkeep import` of many small conversations."""
    count = stage.sizes.imported
    file = stage.folder / "small.jsonl"
    with file.open("w") as lines:
        for number in range(count):
            lines.write(json.dumps(_small(stage.texts, number)) + "\n")
    with stage.database("SQLite") as url:
        servers.command("migrate", "--database-url", url)
        seconds = servers.command("import", str(file), "--database-url", url)
    yield Row(
        f"import of {count:,} small conversations",
        seconds,
        "s",
        target=15 * count / 10_000,
        wants="at most",
        remark="" if count == 10_000 else "the target is the share of 10,000",
    )


def _small(texts: Texts, number: int) -> dict[str, object]:
    """A question and a reply, as fine-tuning files have them."""
    question: Message = {"role": "user", "content": f"{number}: {texts.prose(100)}"}
    reply: Message = {"role": "assistant", "content": texts.prose(300)}
    return {"messages": [question, reply]}
