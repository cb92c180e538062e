"""OpenAI Agents SDK: `SQLiteSession` and `SQLAlchemySession`."""

from typing import Any

from agents import SQLiteSession
from agents.extensions.memory import SQLAlchemySession
from sqlalchemy.ext.asyncio import create_async_engine

from bench.turns import Message


def items(message: Message) -> list[Any]:
    """A message as input items of the Responses API, which the sessions keep."""
    if message["role"] == "tool":
        call = message["tool_call_id"]
        return [{"type": "function_call_output", "call_id": call, "output": message["content"]}]
    calls: Any = message.get("tool_calls", ())
    return [
        {"role": message["role"], "content": message["content"]},
        *({"type": "function_call", "call_id": one["id"], **one["function"]} for one in calls),
    ]


class Sqlite:
    """`SQLiteSession` on a file."""

    def __init__(self, url: str) -> None:
        self._file = url.removeprefix("sqlite:///")
        self._sessions: dict[str, SQLiteSession] = {}

    async def append(self, session: str, message: Message) -> None:
        await self._session(session).add_items(items(message))

    async def load(self, session: str) -> object:
        return await self._session(session).get_items()

    def _session(self, name: str) -> SQLiteSession:
        if name not in self._sessions:
            self._sessions[name] = SQLiteSession(name, self._file)
        return self._sessions[name]


class Sqlalchemy:
    """`SQLAlchemySession` with the driver that its documentation names."""

    def __init__(self, url: str) -> None:
        driver = "sqlite+aiosqlite" if url.startswith("sqlite") else "postgresql+asyncpg"
        self._engine = create_async_engine(f"{driver}:{url.partition(':')[2]}")
        self._sessions: dict[str, SQLAlchemySession] = {}

    async def append(self, session: str, message: Message) -> None:
        await self._session(session).add_items(items(message))

    async def load(self, session: str) -> object:
        return await self._session(session).get_items()

    def _session(self, name: str) -> SQLAlchemySession:
        if name not in self._sessions:
            made = SQLAlchemySession(name, engine=self._engine, create_tables=True)
            self._sessions[name] = made
        return self._sessions[name]
