"""The page of a conversation: turns with their blocks, and calls joined to their results.

Long texts are cut, and say how long they are; the page of a turn has them whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from ..audit.queries import chosen_result, state_of
from ..database.store import ReadStore
from ..formats.shared.placeholders import value_text
from ..jsontext.pretty import indented
from ..jsontext.reading import loads
from ..jsontext.writing import dumps_utf8
from ..ledger.pairing import Links
from ..ledger.records import CallRecord, ResultRecord, TurnRecord
from ..model.conversation import (
    Block,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from ..model.errors import TurnkeepError, TurnNotFound
from ..model.forms import TURN_ID
from ..model.json_values import Json
from ..model.large import whole
from ..model.limits import UNLIMITED
from ..model.usage import Usage
from ..turns.turnform import read_turn, usage_of


@dataclass(frozen=True, slots=True)
class Room:
    """How much of a turn is shown: characters of a block, and blocks with how many in all."""

    text: int
    blocks: int
    all_text: int


TIMELINE = Room(4_000, 60, 40_000)
WHOLE_TURN = Room(1_000_000, 2_000, 2_000_000)
# A piece of the timeline ends behind so many blocks, shown or not: they must be read.
_ENOUGH = 2_000
_STEP = 5
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
    """A call, with what the ledger knows of it; `place` is its index there."""

    call_id: str
    place: int
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
    """A turn. `blocks` is None where it cannot be read any more; `more` of them found no room."""

    record: TurnRecord
    hash: str
    status: str
    usage: Usage | None
    blocks: Sequence[Card] | None
    more: int


@dataclass(frozen=True, slots=True)
class TurnPage:
    """One turn as it is now, what was posted, and what it was before it was completed."""

    turn: TurnCard
    posted: Said
    is_text: bool
    earlier: Sequence[TurnCard]


def timeline(store: ReadStore, cid: str, *, after: int, until: int) -> list[TurnCard]:
    """The turns with after < seq <= until; fewer, where they have very many blocks."""
    shown: list[TurnCard] = []
    broken = store.turns.interrupted(cid)
    blocks = 0
    while after < until and blocks < _ENOUGH:
        last = min(after + _STEP, until)
        records = store.turns.page(cid, after=after, until=last, payloads=False)
        cards = _cards(store, cid, records, broken, TIMELINE)
        blocks += sum(len(card.blocks or ()) + card.more for card in cards)
        shown += cards
        after = last
    return shown


def one_turn(store: ReadStore, cid: str, turn_id: str) -> TurnPage:
    attempts = store.turns.attempts(cid, turn_id) if TURN_ID.fits(turn_id) else []
    if not attempts:
        raise TurnNotFound(cid, turn_id)
    payload = whole(attempts[-1].payload)
    try:
        posted, is_text = payload.decode(), True
    except UnicodeDecodeError:
        posted, is_text = payload.hex(" "), False
    broken = store.turns.interrupted(cid)
    *earlier, now = (_cards(store, cid, [one], broken, WHOLE_TURN)[0] for one in attempts)
    return TurnPage(now, _json_said(posted, WHOLE_TURN.text), is_text, earlier)


def _cards(
    store: ReadStore, cid: str, records: Sequence[TurnRecord], broken: set[int], room: Room
) -> list[TurnCard]:
    if not records:
        return []
    turns = [read_turn(record) for record in records]
    shown = {turn.seq: list(enumerate(turn.blocks or ()))[: room.blocks] for turn in turns}
    blocks = (block for some in shown.values() for _, block in some)
    named = {block.id for block in blocks if isinstance(block, ToolCall) and block.id}
    links = store.ledger.links(cid, after=records[0].seq - 1, until=records[-1].seq)
    made = store.ledger.calls_named(cid, named)
    known = _Known(
        links,
        {one.call.id: one for one in store.ledger.call_records(cid, made)},
        store.ledger.call_seqs(cid, _called_by(shown, links)),
        broken,
    )
    return [
        _card(record, turn, shown[turn.seq], known, room)
        for record, turn in zip(records, turns, strict=True)
    ]


def _called_by(shown: Mapping[int, Sequence[tuple[int, Block]]], links: Links) -> set[str]:
    """The calls of the results that are shown."""
    places = ((seq, place) for seq, blocks in shown.items() for place, _ in blocks)
    return {links[place].call_id for place in places if place in links}


@dataclass(frozen=True, slots=True)
class _Known:
    """What the ledger says of the turns that are shown."""

    links: Links
    calls: Mapping[str, CallRecord]
    call_seqs: Mapping[str, int]
    broken: set[int]


def _card(
    record: TurnRecord, turn: Turn, blocks: Sequence[tuple[int, Block]], known: _Known, room: Room
) -> TurnCard:
    cards: list[Card] = []
    left = room.all_text
    for place, block in blocks:
        if left <= 0:
            break
        card = _block(record.seq, place, block, known, min(room.text, left))
        cards.append(card)
        left -= _length(card)
    usage, shown = usage_of(record.format, turn), None if turn.blocks is None else cards
    more = len(turn.blocks or ()) - len(cards)
    return TurnCard(record, record.hash.hex(), turn.status, usage, shown, more)


def _length(card: Card) -> int:
    match card:
        case MediaCard():
            return len(card.source or "")
        case CallCard():
            return len(card.given.text)
        case WordsCard():
            return len(card.said.text)
        case ResultCard():
            return len(card.said.text) + sum(map(_length, card.media))
        case _:
            assert_never(card)


def _block(seq: int, place: int, block: Block, known: _Known, most: int) -> Card:
    match block:
        case Text():
            return WordsCard("text", "", _said(block.text, most))
        case Thinking():
            return WordsCard("thinking", "thinking", _said(block.text, most))
        case Opaque():
            return WordsCard("opaque", block.kind, _value_said(block.native, most))
        case Image() | File():
            return _media(block, most)
        case ToolCall():
            return _call(seq, block, known, most)
        case ToolResult():
            return _result(seq, place, block, known, most)
        case _:
            assert_never(block)


def _media(block: Image | File, most: int) -> MediaCard:
    kind = "image" if isinstance(block, Image) else "file"
    url = block.url
    inside = url.startswith("data:")
    about = url[5 : url.find(";")] if inside and ";" in url[:100] else url[:200]
    title = (isinstance(block, File) and block.name) or about
    # In a timeline they are named: the page of the turn shows them.
    is_shown = url.startswith(_PICTURES) and len(url) <= min(_PICTURE, most)
    return MediaCard(kind, title, len(url), url if is_shown else None)


def _call(seq: int, call: ToolCall, known: _Known, most: int) -> CallCard:
    record = known.calls.get(call.id or "")
    state, result, repeats, place = "superseded", None, 0, -1
    if record:
        place = record.call.call_index
        state = state_of(record.call, record.results, broken=seq in known.broken)
        result = chosen_result(record.results)
        repeats = len(record.results) - (result is not None)
    given = _json_said(call.arguments, most)
    return CallCard(call.id or "", place, call.raw_id, call.name, given, state, result, repeats)


def _result(seq: int, place: int, block: ToolResult, known: _Known, most: int) -> ResultCard:
    link = known.links.get((seq, place))
    parts: Sequence[Part] = block.parts or ()
    if block.parts is None:
        said = _value_said(block.result, most)
    else:
        texts = [part.text for part in parts if isinstance(part, Text)]
        texts += [value_text(part.native) for part in parts if isinstance(part, Opaque)]
        said = _said("\n".join(texts), most)
    return ResultCard(
        link.call_id if link else None,
        known.call_seqs.get(link.call_id) if link else None,
        block.raw_id,
        block.name,
        block.status,
        link.matched_by if link else "none",
        said,
        _said(block.error, most) if block.error else None,
        [_media(part, most) for part in parts if isinstance(part, Image | File)][:_STEP],
    )


def _said(text: str, most: int) -> Said:
    return Said(text[:most], len(text))


def _value_said(value: Json, most: int) -> Said:
    if isinstance(value, str):
        return _said(value, most)
    return _json_said(dumps_utf8(value).decode(), most)


def _json_said(text: str, most: int) -> Said:
    """A JSON text over many lines. What is cut, or is no JSON, stays as it was written."""
    if len(text) > most:
        return _said(text, most)
    try:
        loads(text, UNLIMITED)
    except (TurnkeepError, RecursionError):
        return _said(text, most)
    return _said(indented(text), most)
