"""simonw/llm: `LogStore`, the store of conversations as chains of messages."""

import json
import threading
from typing import Any

import sqlite_utils
from llm.logs import LogStore
from llm.parts import Message as LlmMessage
from llm.parts import TextPart, ToolCallPart, ToolResultPart

from bench.turns import Message


def parts(message: Message) -> list[Any]:
    """What a message says, in the words of llm."""
    text: Any = message["content"]
    if message["role"] == "tool":
        call = str(message["tool_call_id"])
        return [ToolResultPart(name="write_file", output=text, tool_call_id=call)]
    calls: Any = message.get("tool_calls", ())
    return [TextPart(text=text)] + [
        ToolCallPart(
            name=one["function"]["name"],
            arguments=json.loads(one["function"]["arguments"]),
            tool_call_id=one["id"],
        )
        for one in calls
    ]


class Logs:
    """A `LogStore` for each thread that asks, with the journal that the library leaves on."""

    def __init__(self, url: str) -> None:
        self._file = url.removeprefix("sqlite:///")
        self._local = threading.local()
        self._store()

    def append(self, session: str, message: Message) -> None:
        store = self._store()
        store.ensure_thread(session)
        store.append(session, [LlmMessage(role=str(message["role"]), parts=parts(message))])

    def load(self, session: str) -> object:
        return [message.to_dict() for message in self._store().thread_messages(session)]

    def _store(self) -> LogStore:
        if not hasattr(self._local, "store"):
            database = sqlite_utils.Database(self._file)
            self._local.store = LogStore(database)
        return self._local.store
