"""The page of a conversation: turns with their blocks, and calls joined to their results.

Long texts are cut, and say how long they are; the page of a turn has them whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, assert_never

from app.core.conversation import (
    Block,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.errors import TurnkeepError, TurnNotFound
from app.core.identity.forms import TURN_ID
from app.core.json.large import whole
from app.core.json.pretty import indented
from app.core.json.text import Json, dumps, loads
from app.core.ledger.records import CallRecord, ResultRecord, TurnRecord
from app.core.render.pairing import Links
from app.core.render.placeholders import value_text
from app.core.wire.usage import Usage
from app.service.audit import chosen_result, state_of
from app.service.turnform import UNLIMITED, read_turn, usage_of
from app.storage.store import ReadStore

# Characters of a block in the timeline, and on the page of one turn.
SHORT = 4_000
LONG = 1_000_000
_LINE = 100
# Pictures inside a turn that are short enough to be shown.
_PICTURE = 200_000
_PICTURES = tuple(f"data:image/{kind};base64," for kind in ("png", "jpeg", "gif", "webp"))


@dataclass(frozen=True, slots=True)
class Said:
    """A text as it is shown, and the number of characters that it has."""

    text: str
    size: int

    @property
    def is_cut(self) -> bool:
        return len(self.text) < self.size

    @property
    def line(self) -> str:
        """Its beginning, in one line."""
        start = " ".join(self.text[: _LINE * 4].split())
        return start if len(start) <= _LINE else f"{start[:_LINE]}…"

    @property
    def is_long(self) -> bool:
        return self.size > 600 or self.text.count("\n") > 12


@dataclass(frozen=True, slots=True)
class WordsCard:
    """Text, thinking, or what only its provider understands (`kind` says which of these)."""

    kind: str
    title: str
    said: Said


@dataclass(frozen=True, slots=True)
class MediaCard:
    """An image or a file. `source`: where it is short and harmless, what a browser can show."""

    kind: str
    title: str
    size: int
    source: str | None


@dataclass(frozen=True, slots=True)
class CallCard:
    """A call; `record` is what the ledger knows of it (None where the turn was replaced)."""

    call_id: str
    raw_id: str | None
    name: str
    given: Said
    state: str
    result: ResultRecord | None
    repeats: int
    kind: str = "call"


@dataclass(frozen=True, slots=True)
class ResultCard:
    """A result; without `call_seq` nobody knows its call."""

    call_id: str | None
    call_seq: int | None
    raw_id: str | None
    name: str | None
    status: str
    matched_by: str
    said: Said
    error: Said | None
    media: Sequence[MediaCard]
    kind: str = "result"


Card: TypeAlias = WordsCard | MediaCard | CallCard | ResultCard


@dataclass(frozen=True, slots=True)
class TurnCard:
    """A turn. `blocks` is None where it cannot be read any more."""

    seq: int
    turn_id: str
    speaker: str
    provider: str
    model: str | None
    format: str
    status: str
    created_at: datetime
    was_completed: bool
    usage: Usage | None
    hash: str
    blocks: Sequence[Card] | None


@dataclass(frozen=True, slots=True)
class TurnPage:
    """One turn as it is now, what was posted, and what it was before it was completed."""

    turn: TurnCard
    posted: Said
    is_text: bool
    earlier: Sequence[TurnCard]


def timeline(store: ReadStore, cid: str, *, after: int, until: int) -> list[TurnCard]:
    """The turns with after < seq <= until."""
    records = store.turns.page(cid, after=after, until=until, payloads=False)
    return _cards(store, cid, records, SHORT)


def one_turn(store: ReadStore, cid: str, turn_id: str) -> TurnPage:
    attempts = store.turns.attempts(cid, turn_id) if TURN_ID.fits(turn_id) else []
    if not attempts:
        raise TurnNotFound(cid, turn_id)
    payload = whole(attempts[-1].payload)
    try:
        posted, is_text = payload.decode(), True
    except UnicodeDecodeError:
        posted, is_text = payload.hex(" "), False
    *earlier, now = (_cards(store, cid, [attempt], LONG)[0] for attempt in attempts)
    return TurnPage(now, _json_said(posted, LONG), is_text, earlier)


def _cards(store: ReadStore, cid: str, records: Sequence[TurnRecord], most: int) -> list[TurnCard]:
    if not records:
        return []
    first, last = records[0].seq, records[-1].seq
    links = store.ledger.links(cid, after=first - 1, until=last)
    made = store.ledger.made_in(cid, after=first - 1, until=last)
    calls = {one.call.id: one for one in store.ledger.call_records(cid, made)}
    known = _Known(
        links,
        calls,
        store.ledger.call_seqs(cid, {link.call_id for link in links.values()}),
        store.turns.interrupted(cid),
        most,
    )
    return [_card(record, known) for record in records]


@dataclass(frozen=True, slots=True)
class _Known:
    """What the ledger says of the turns that are shown."""

    links: Links
    calls: Mapping[str, CallRecord]
    call_seqs: Mapping[str, int]
    broken: set[int]
    most: int


def _card(record: TurnRecord, known: _Known) -> TurnCard:
    turn = read_turn(record)
    blocks = turn.blocks
    return TurnCard(
        record.seq,
        record.turn_id,
        record.speaker,
        record.provider,
        record.model,
        record.format,
        turn.status,
        record.created_at,
        record.completed_at is not None,
        usage_of(record.format, turn),
        record.hash.hex(),
        None if blocks is None else list(_blocks(record.seq, blocks, known)),
    )


def _blocks(seq: int, blocks: Sequence[Block], known: _Known) -> Iterator[Card]:
    for place, block in enumerate(blocks):
        match block:
            case Text():
                yield WordsCard("text", "", _said(block.text, known.most))
            case Thinking():
                yield WordsCard("thinking", "thinking", _said(block.text, known.most))
            case Opaque():
                yield _opaque(block, known.most)
            case Image() | File():
                yield _media(block)
            case ToolCall():
                yield _call(seq, block, known)
            case ToolResult():
                yield _result(seq, place, block, known)
            case _:
                assert_never(block)


def _opaque(block: Opaque, most: int) -> WordsCard:
    return WordsCard("opaque", block.kind, _value_said(block.native, most))


def _media(block: Image | File) -> MediaCard:
    kind = "image" if isinstance(block, Image) else "file"
    url = block.url
    inside = url.startswith("data:")
    about = url[5 : url.find(";")] if inside and ";" in url[:100] else url[:200]
    title = (isinstance(block, File) and block.name) or about
    shown = url if url.startswith(_PICTURES) and len(url) <= _PICTURE else None
    return MediaCard(kind, title, len(url), shown)


def _call(seq: int, call: ToolCall, known: _Known) -> CallCard:
    record = known.calls.get(call.id or "")
    state, result, repeats = "superseded", None, 0
    if record:
        state = state_of(record.call, record.results, broken=seq in known.broken)
        result = chosen_result(record.results)
        repeats = len(record.results) - (result is not None)
    given = _json_said(call.arguments, known.most)
    return CallCard(call.id or "", call.raw_id, call.name, given, state, result, repeats)


def _result(seq: int, place: int, block: ToolResult, known: _Known) -> ResultCard:
    link = known.links.get((seq, place))
    parts: Sequence[Part] = block.parts or ()
    if block.parts is None:
        value = block.result
        said = _value_said(value, known.most)
    else:
        texts = [part.text for part in parts if isinstance(part, Text)]
        texts += [value_text(part.native) for part in parts if isinstance(part, Opaque)]
        said = _said("\n".join(texts), known.most)
    return ResultCard(
        link.call_id if link else None,
        known.call_seqs.get(link.call_id) if link else None,
        block.raw_id,
        block.name,
        block.status,
        link.matched_by if link else "none",
        said,
        _said(block.error, known.most) if block.error else None,
        [_media(part) for part in parts if isinstance(part, Image | File)],
    )


def _said(text: str, most: int) -> Said:
    return Said(text[:most], len(text))


def _value_said(value: Json, most: int) -> Said:
    return _said(value, most) if isinstance(value, str) else _json_said(dumps(value), most)


def _json_said(text: str, most: int) -> Said:
    """A JSON text over many lines. What is cut, or is no JSON, stays as it was written."""
    if len(text) > most:
        return Said(text[:most], len(text))
    try:
        loads(text, UNLIMITED)
    except (TurnkeepError, RecursionError):
        return Said(text, len(text))
    shown = indented(text)
    return Said(shown, len(shown))
