"""What is stored in the benchmarks: messages in the OpenAI Chat shape, about 4 KB each.

A history is an agent at work: a call turn (a text and two tool calls), two results, a text of the
model, a message of the user. It ends with the user, so that `since` two turns ago lies behind the
results. Nothing but the standard library is imported: the peers read this in their own environment.
"""

import base64
import json
import random
import sysconfig
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from pydoc_data.topics import topics

SIZE = 4096
# Stands in bodies where a load generator puts a number that it never uses twice.
MARK = "@n@"

Message = dict[str, object]


class Texts:
    """Text that goes on for ever: `prose and code` from the Python installation, or `random`."""

    def __init__(self, kind: str = "prose and code", seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._is_random = kind == "random"
        self._prose = "\n".join(topics.values())
        sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
        self._code = "\n".join(file.read_text("utf-8", "replace") for file in sources)

    def prose(self, size: int) -> str:
        return self._piece(self._prose, size)

    def code(self, size: int) -> str:
        return self._piece(self._code, size)

    def _piece(self, whole: str, size: int) -> str:
        if self._is_random:
            return base64.b64encode(self._chance.randbytes(size)).decode()[:size]
        start = self._chance.randrange(len(whole) - size)
        return whole[start : start + size]


def call_turn(texts: Texts, name: str) -> Message:
    """A turn of the model with a text and two tool calls, `SIZE` bytes and a little more."""
    # What is around the texts takes about 400 bytes.
    part = (SIZE - 400) // 3
    calls = [
        {
            "id": f"call_{name}_{place}",
            "type": "function",
            "function": {
                "name": "write_file",
                "arguments": json.dumps({"path": f"{place}.py", "content": texts.code(part)}),
            },
        }
        for place in range(2)
    ]
    return {"role": "assistant", "content": texts.prose(part), "tool_calls": calls}


def results(texts: Texts, name: str) -> list[Message]:
    """The results of the two calls of `call_turn(texts, name)`."""
    return [
        {"role": "tool", "tool_call_id": f"call_{name}_{place}", "content": texts.code(SIZE)}
        for place in range(2)
    ]


def history(texts: Texts, turns: int, name: str = "h") -> Iterator[Message]:
    """A history of this many turns, a multiple of five."""
    for role in ("user", "assistant", "user", "assistant", "user"):
        yield {"role": role, "content": texts.prose(SIZE)}
    yield from going_on(texts, turns - 5, name)


def going_on(texts: Texts, turns: int, name: str = "more") -> Iterator[Message]:
    """Turns that follow in a history."""
    return islice(_rounds(texts, name), turns)


def _rounds(texts: Texts, name: str) -> Iterator[Message]:
    for number in count():
        yield call_turn(texts, f"{name}{number}")
        yield from results(texts, f"{name}{number}")
        yield {"role": "assistant", "content": texts.prose(SIZE)}
        yield {"role": "user", "content": texts.prose(SIZE)}


def encoded(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def body(messages: Sequence[Message]) -> bytes:
    """The body of a POST to Turnkeep."""
    return encoded({"provider": "openai", "messages": messages})


def marked_bodies(texts: Texts, count: int) -> list[bytes]:
    """Bodies with one call turn each, whose ids hold the `MARK`."""
    return [body([call_turn(texts, MARK)]) for _ in range(count)]
