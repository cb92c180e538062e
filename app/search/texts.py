"""What of a turn can be searched: what was said, and the ids under which it is known.

Texts, names and arguments of calls, and the texts of results. No reasoning, no images and files,
nothing that only its issuer understands. Of a very long turn only the beginning is searched.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from ..jsontext.arguments import as_given
from ..jsontext.fields import text_in
from ..ledger.records import Call
from ..model.conversation import Block, Text, ToolCall, ToolResult, Turn
from ..model.json_values import Json, JsonObject
from .words import id_words, words

# Characters of a turn that are searched, and as many of its ids.
SEARCHED = 65_536
# Some characters become many plain ones. PostgreSQL takes words of 1 MB together, no more.
_MOST_BYTES = 500_000
# Base64, lines of dashes: nobody looks for a piece of these.
_LONG = 256
_UNBROKEN = re.compile(rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{{{_LONG},}}")


def conversation_words(conversation_id: str) -> list[str]:
    return sorted(id_words(conversation_id))


def title_words(title: str | None) -> list[str]:
    return _bounded(words((title or "")[:SEARCHED]))


def metadata_words(metadata: JsonObject) -> list[str]:
    return _bounded(set().union(*map(words, _pieces(_inside(metadata)))))


def turn_words(turn: Turn, calls: Sequence[Call]) -> list[str]:
    """The words of a turn whose calls the ledger knows."""
    said = _pieces(text for block in turn.blocks or () for text in _said(block))
    ids = _pieces(text for text in _ids(turn, calls) if text)
    found = (words(_readable(text)) for text in said)
    return _bounded(set().union(*found, *map(id_words, ids)))


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Texts up to the number of characters that are searched."""
    room = SEARCHED
    for text in texts:
        yield text[:room]
        room -= len(text)
        if room <= 0:
            return


def _readable(text: str) -> str:
    # Most texts have nothing of the kind, which is quickly seen.
    if max(map(len, text.split()), default=0) < _LONG:
        return text
    return _UNBROKEN.sub(" ", text)


def _bounded(found: Collection[str]) -> list[str]:
    """The words in order, no more than a database takes."""
    ordered = sorted(found)
    if sum(map(len, ordered)) * 4 <= _MOST_BYTES:
        return ordered
    kept, size = [], 0
    for word in ordered:
        size += len(word.encode())
        if size > _MOST_BYTES:
            break
        kept.append(word)
    return kept


def _ids(turn: Turn, calls: Sequence[Call]) -> Iterator[str | None]:
    yield from (turn.turn_id, text_in(turn.response, "id"))
    for call in calls:
        yield from (call.id, call.raw_id, *call.provider_ids.values())
    for _, result in turn.results():
        yield from (result.raw_id, result.call_id)


def _said(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield block.text
        case ToolCall():
            yield block.name
            yield from _arguments(block.arguments)
        case ToolResult():
            yield from (text for text in (block.name, block.error) if text)
            yield from _inside(block.result)
            for part in block.parts or ():
                yield from _said(part)
        case _:
            return


def _arguments(text: str) -> Iterator[str]:
    """The texts in arguments that are JSON, whose escapes are no words; else the text itself."""
    given = as_given(text) if len(text) <= SEARCHED else {}
    return _inside(given["parameters"]) if "parameters" in given else iter((text,))


def _inside(value: Json) -> Iterator[str]:
    """Every name, text and number of a JSON value."""
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                yield key
                yield from _inside(inner)
        case list():
            for inner in value:
                yield from _inside(inner)
        case bool() | None:
            return
        case _:
            yield repr(value)
