"""How recordings are written: server-sent events around JSON, and what a recording is."""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

Event: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """What a provider sent, and what it would have sent without streaming.

    `finished` is None where the wire has no such form: the answer failed, or broke off in a way
    that only a stream shows. `whole` says whether the end of the answer is in the stream.
    """

    provider: str
    name: str
    stream: bytes
    finished: Event | None
    whole: bool = True

    @property
    def label(self) -> str:
        return f"{self.provider}: {self.name}"


def written(value: object) -> str:
    """JSON as providers write it: compact, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sse(*events: Event | str, named: bool = False, end: str = "\n", last: str = "") -> bytes:
    """Events as a stream; a text is a line of its own (a comment, say).

    `named`: each event carries its `type` as its name. `last`: the data of the last event.
    """
    lines: list[str] = []
    for event in events:
        if isinstance(event, str):
            lines += [event, ""]
            continue
        if named:
            lines.append(f"event: {event['type']}")
        lines += [f"data: {written(event)}", ""]
    if last:
        lines += [f"data: {last}", ""]
    return "".join(line + end for line in lines).encode()


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
