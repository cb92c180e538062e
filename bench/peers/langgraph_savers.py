"""LangGraph's checkpointers. A checkpoint holds the whole list of messages, so disk grows as its
square; an append is one `put`, without the `put_writes` that a graph adds to it.
"""

import sqlite3
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_messages, convert_to_openai_messages
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from bench.turns import Message


class _Saver:
    saver: Any

    def __init__(self) -> None:
        # A running graph holds its state in memory, and so does this.
        self._states: dict[str, tuple[list[BaseMessage], dict[str, Any]]] = {}

    def append(self, session: str, message: Message) -> None:
        self.store(session, [message])

    def store(self, session: str, more: list[Message]) -> None:
        """One checkpoint with more messages."""
        fresh = {"configurable": {"thread_id": session, "checkpoint_ns": ""}}
        messages, config = self._states.get(session, ([], fresh))
        messages = [*messages, *convert_to_messages(more)]
        version = self.saver.get_next_version(f"{len(messages) - 1:032}.0", None)
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": messages}
        checkpoint["channel_versions"] = {"messages": version}
        about = {"source": "loop", "step": len(messages)}
        saved = self.saver.put(config, checkpoint, about, {"messages": version})
        self._states[session] = (messages, saved)

    def load(self, session: str) -> object:
        found = self.saver.get_tuple({"configurable": {"thread_id": session, "checkpoint_ns": ""}})
        assert found is not None
        return convert_to_openai_messages(found.checkpoint["channel_values"]["messages"])


class Sqlite(_Saver):
    """`SqliteSaver` on a file."""

    def __init__(self, url: str) -> None:
        super().__init__()
        file = sqlite3.connect(url.removeprefix("sqlite:///"), check_same_thread=False)
        self.saver = SqliteSaver(file)
        self.saver.setup()


class Postgres(_Saver):
    """`PostgresSaver` on a pool."""

    def __init__(self, url: str) -> None:
        super().__init__()
        options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        self.saver = PostgresSaver(ConnectionPool(url, max_size=32, kwargs=options, open=True))
        self.saver.setup()
