"""What a render must show of each stored block, and where it is seen.

A block is taken apart into units: a text, an image, the arguments of a call, the text of a result.
Each has evidence (its markers, its data) that a render shows once, or a repair names the block.
"""

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.model.conversation import (
    Block,
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from app.model.json_values import Json
from app.model.repairs import Repair
from tests.histories import Render
from tests.laws.said import MARKER

# The codes that say: this unit of the block is not in the render.
LOSSES: dict[str, frozenset[str]] = {
    "text": frozenset(),
    "blank": frozenset({"EMPTY_TEXT_OMITTED"}),
    "thinking": frozenset({"THINKING_DROPPED"}),
    "image": frozenset({"IMAGE_OMITTED"}),
    "file": frozenset({"FILE_OMITTED"}),
    "opaque": frozenset({"SERVER_TOOL_DROPPED", "BLOCK_OMITTED"}),
    "arguments": frozenset({"ARGS_UNPARSEABLE"}),
    "result": frozenset(),
}
# An orphan is shown as text, and its other parts are named in that text.
OF_ORPHANS = frozenset({"image", "file", "opaque"})


@dataclass(frozen=True)
class Unit:
    """Evidence is a list of alternatives; none at all: nothing of it can ever be seen."""

    turn_id: str
    place: int
    kind: str
    evidence: tuple[str, ...]

    def times_in(self, seen: str) -> int:
        return max((seen.count(one) for one in self.evidence), default=0)


def units(turns: Sequence[Turn]) -> Iterator[Unit]:
    for turn in turns:
        for place, block in enumerate(turn.blocks or ()):
            for kind, *evidence in _units(block):
                yield Unit(turn.turn_id, place, kind, tuple(evidence))


def _units(block: Block) -> Iterator[tuple[str, ...]]:
    match block:
        case Text():
            if not block.text.strip():
                yield ("blank",)
            yield from (("text", one) for one in markers(block.text))
        case Image():
            yield ("image", *_data(block.url))
        case File():
            yield ("file", *_data(block.url))
        case Thinking():
            yield ("thinking", *(markers(block.text) or markers(block.native)))
        case Opaque():
            yield from (("opaque", one) for one in markers(block.native)[:1])
        case ToolCall():
            yield from (("arguments", one) for one in markers(block.arguments))
        case ToolResult():
            yield from _units_of_result(block)


def _units_of_result(result: ToolResult) -> Iterator[tuple[str, ...]]:
    texts = (part.text for part in result.parts or () if isinstance(part, Text))
    said = [result.error, result.result, *texts]
    yield from (("result", one) for value in said for one in markers(value))
    for part in result.parts or ():
        if not isinstance(part, Text):
            yield from _units(part)


def _data(url: str) -> tuple[str, ...]:
    """An image or a file is seen by its data or address; a plain text file also by its words."""
    data = url.rpartition(",")[2]
    if url.startswith("data:text/plain;base64,"):
        return data, markers(base64.b64decode(data).decode())[0]
    return (data,)


def markers(value: Json) -> list[str]:
    return MARKER.findall(value if isinstance(value, str) else json.dumps(value))


def seen_in(value: object) -> str:
    """Every text inside a request, one below the other."""
    match value:
        case str():
            return value
        case list():
            return "\n".join(map(seen_in, value))
        case dict():
            return "\n".join(map(seen_in, value.values()))
        case _:
            return ""


def reported(render: Render, turn_id: str, place: int) -> list[Repair]:
    return [one for one in render.repairs if (one.turn_id, one.block) == (turn_id, place)]
