"""The frame of Chat Completions: chunks, and the completion that they stand for."""

from dataclasses import dataclass
from typing import Any

from tests.streams.recordings.frames import Event, Recording, pieces, sse

DONE = "[DONE]"
USAGE: Event = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


@dataclass(frozen=True)
class Frame:
    """What stands on each chunk and on the completion."""

    provider: str
    model: str
    id: str

    def chunk(self, *choices: Event, **more: Any) -> Event:
        top = {"id": self.id, "object": "chat.completion.chunk", "created": 7, "model": self.model}
        return {**top, "choices": list(choices), **more}

    def deltas(self, *deltas: Event) -> list[Event]:
        return [self.chunk(choice(delta)) for delta in deltas]

    def completion(self, message: Event, finish: str = "stop", **more: Any) -> Event:
        top = {"id": self.id, "object": "chat.completion", "created": 7, "model": self.model}
        said = {"role": "assistant", "content": None, **message}
        first = {"index": 0, "message": said, "finish_reason": finish}
        return {**top, "choices": [first], "usage": USAGE, **more}

    def recording(
        self, name: str, events: list[Event | str], finished: Event | None, **more: Any
    ) -> Recording:
        return Recording(self.provider, name, sse(*events, last=DONE), finished, **more)


def choice(delta: Event, finish: str | None = None, index: int = 0, **more: Any) -> Event:
    return {"index": index, "delta": delta, "finish_reason": finish, **more}


def begin(index: int, id: str, name: str, arguments: str = "") -> Event:
    """The first piece of a call."""
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}


def more(index: int, arguments: str) -> Event:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}


def called(index: int, id: str, name: str, arguments: str, size: int) -> list[Event]:
    """A call whose arguments come in pieces of one size."""
    return [begin(index, id, name), *(more(index, piece) for piece in pieces(arguments, size))]


def call(id: str, name: str, arguments: str) -> Event:
    """A call as it stands in a whole message."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def texts(*said: str) -> list[Event]:
    return [{"content": one} for one in said]
