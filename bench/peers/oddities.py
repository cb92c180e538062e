"""`python -m bench.peers.oddities`: what others make of histories that agents really have.

Needs the environment of the peers (`make bench` makes it). Each history is stored message by
message, and what the next call of a model would be given is counted: how often each call and each
result stands in it. docs/why-not.md shows the tables that this prints.
"""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents import SQLiteSession
from agents.run_internal.session_persistence import prepare_input_with_session

from bench.odd import HISTORIES, counted, refusals
from bench.peers.agents_sdk import items
from bench.peers.converters import Litellm
from bench.peers.langgraph_savers import Sqlite as LangGraph
from bench.turns import Message


async def json_table(folder: Path, messages: list[Message]) -> object:
    """A row for each message, as everybody begins."""
    with sqlite3.connect(folder / "table.db") as database:
        database.execute("CREATE TABLE messages (place INTEGER PRIMARY KEY, message TEXT)")
        for message in messages:
            database.execute("INSERT INTO messages (message) VALUES (?)", (json.dumps(message),))
        return [json.loads(row[0]) for row in database.execute("SELECT message FROM messages")]


async def session(folder: Path, messages: list[Message]) -> object:
    return await (await _filled(folder, messages)).get_items()


async def session_and_runner(folder: Path, messages: list[Message]) -> object:
    """What the runner makes of a session before it calls the model."""
    filled = await _filled(folder, messages)
    given, _ = await prepare_input_with_session([], filled, None)
    return given


async def _filled(folder: Path, messages: list[Message]) -> SQLiteSession:
    filled = SQLiteSession("s", folder / "session.db")
    for message in messages:
        await filled.add_items(items(message))
    return filled


async def checkpointer(folder: Path, messages: list[Message]) -> object:
    saver = LangGraph(f"sqlite:///{folder / 'graph.db'}")
    for message in messages:
        saver.append("s", message)
    return saver.load("s")


Store = Callable[[Path, list[Message]], Awaitable[object]]
AGENTS = f"openai-agents {version('openai-agents')}"
STORES: dict[str, Store] = {
    "a JSON table": json_table,
    f"`SQLiteSession`, {AGENTS}": session,
    f"the same, as its runner sends it, {AGENTS}": session_and_runner,
    f"`SqliteSaver`, langgraph-checkpoint-sqlite {version('langgraph-checkpoint-sqlite')}": (
        checkpointer
    ),
}


def converted(converter: Litellm, messages: list[Message]) -> str:
    given: Any = converter.convert(messages)
    broken = refusals(given)
    return f"{counted(given)}; " + (", ".join(broken) or "valid")


async def stored(store: Store) -> list[str]:
    cells = []
    for messages in HISTORIES.values():
        with TemporaryDirectory() as folder:
            cells.append(counted(await store(Path(folder), messages)))
    return cells


async def main() -> None:
    rows = [["stored", *map(counted, HISTORIES.values())]]
    rows += [[name, *(await stored(store))] for name, store in STORES.items()]
    _print(["calls and results given back", *HISTORIES], rows)
    converter, rows = Litellm(), []
    for setting in (False, True):
        import litellm  # noqa: PLC0415  (it looks at the environment when it is imported)

        litellm.modify_params = setting
        name = f"litellm {version('litellm')}, `modify_params={setting}`"
        rows.append([name, *(converted(converter, one) for one in HISTORIES.values())])
    _print(["calls and results; judgement", *HISTORIES], rows)


def _print(head: list[str], rows: list[list[str]]) -> None:
    for line in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(line)} |")
    print()


if __name__ == "__main__":
    asyncio.run(main())
