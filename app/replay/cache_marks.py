"""Keeps the newest marks for a prompt cache, as many as the provider takes.

Callers mark the newest message of each request, and a stored history keeps every mark. The cache is
read by the newest ones:

    posted    a*  b  c*  d  e*  f  g*  h  i*      (at most 4)
    shown     a   b  c*  d  e*  f  g*  h  i*

The system prompt and the tools come first in a request, and their marks count too. An older mark
that is no longer shown changes the message that had it, so its segment keeps the whole text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..formats.shared.profile import CacheMarks
from ..jsontext.plain import loads_stored
from ..jsontext.writing import dumps_message
from ..model.json_values import Json, JsonObject
from ..model.repairs import Repair
from .segments import Segment


def count_marks(value: Json, name: str) -> int:
    """Returns how many marks a message or a list of blocks has."""
    return sum(1 for _ in _marked_blocks(value, name))


def without_marks(value: Json, name: str, surplus: int) -> Json:
    """Removes the first `surplus` marks of a message or a list of blocks, in place."""
    for block in list(_marked_blocks(value, name))[:surplus]:
        del block[name]
    return _without_empty(value)


def with_newest_marks(
    segments: Sequence[Segment], limit: CacheMarks | None, used_before: int
) -> Iterator[Segment]:
    """The segments with their newest marks. `used_before`: those of the system and the tools."""
    if limit is None or not any(one.marks or one.whole for one in segments):
        yield from segments
        return
    left = max(limit.most - used_before, 0)
    shown: list[Segment] = []
    for segment in reversed(segments):
        whole = segment.whole or segment
        keep = min(left, len(whole.marks))
        left -= keep
        if keep == len(segment.marks):
            shown.append(segment)
        elif keep == len(whole.marks):
            shown.append(replace(whole, version=segments[-1].version))
        else:
            stripped = _stripped(whole, limit, len(whole.marks) - keep)
            shown.append(replace(stripped, version=segments[-1].version))
    yield from reversed(shown)


def _stripped(whole: Segment, limit: CacheMarks, surplus: int) -> Segment:
    """The segment without its first `surplus` marks."""
    lines: list[bytes] = []
    left = surplus
    for line in map(bytes, whole.lines()):
        message = loads_stored(line)
        found = count_marks(message, limit.name)
        is_changed = found and left
        lines.append(
            dumps_message(without_marks(message, limit.name, left)) if is_changed else line
        )
        left -= min(found, left)
    why = f"only the newest {limit.most} `{limit.name}` of a request are shown"
    turn_ids = dict.fromkeys(whole.marks[:surplus])
    repairs = [Repair("CACHE_MARKS_STRIPPED", why, turn_id) for turn_id in turn_ids]
    return whole.with_lines(lines, repairs, whole.marks[surplus:])


def _marked_blocks(value: Json, name: str) -> Iterator[JsonObject]:
    """The blocks that have a mark, in order. Arguments and results that are JSON have none."""
    if isinstance(value, list):
        for block in value:
            yield from _marked_blocks(block, name)
    elif isinstance(value, dict):
        for key in ("content", "source"):
            if key in value:
                yield from _marked_blocks(value[key], name)
        if name in value:
            yield value


def _without_empty(value: Json) -> Json:
    """Drops the blocks that were nothing but a mark."""
    if isinstance(value, list):
        return [one for one in value if one != {}]
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        value["content"] = _without_empty(value["content"])
    return value
