"""Syncing: a runtime posts the whole list of messages it holds, and what is new of it is appended.

The list is held against the stored history by what it says, and what is new is made ready to be
stored. That takes a while, so it is done before the writer's turn comes; if others have written in
between, it is done again when the command decides, so that of two racing syncs the second finds
what the first has stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from ..formats.registry import ID_RULES
from ..ledger.append import keys_of
from ..ledger.book import Book
from ..ledger.load_request import Keys
from ..ledger.records import ToolSetRecord
from ..ledger.rules import match
from ..ledger.slice import Change, Slice
from ..model.conversation import Block, Draft, Remark, ToolResult, Turn
from ..model.errors import HistoryDiffers, StaleVersion
from ..model.json_values import JsonObject
from ..tools.commands import KeepTools, kept_tools
from ..turns.commands import Append, Appended, Once, Synced
from ..turns.receipts import note, receipt_bytes, tool_notes
from ..turns.turnform import NewTurn, made_ready
from .likeness import is_unspoken, says_nothing
from .messagelist import MessageList
from .recognising import Recognised, Told
from .retelling import Difference
from .seeing import Seen, look

_Mark: TypeAlias = tuple[bool, str | None]
_DIFFERS = {
    "speaker": "its speaker",
    "text": "its text",
    "image": "an image",
    "file": "a file",
    "call": "a tool call",
    "result": "the result of a tool call",
}


@dataclass(frozen=True, slots=True)
class News:
    """What a list brings. `calls`: of each block of each new turn, the stored call whose result
    it is by its place in the list. `completed`: interrupted turns that it makes whole, by seq in
    the list. `places`: the messages that bring something, counted from 1.
    """

    turns: tuple[NewTurn, ...]
    calls: tuple[tuple[str | None, ...], ...]
    completed: Mapping[int, tuple[NewTurn, ...]]
    places: frozenset[int]


def news(messages: MessageList, seen: Seen) -> News | None:
    """None where the list differs from what is stored. Raises `LimitExceeded`, before anything is
    encoded, where more is new than one request may bring."""
    if isinstance(found := seen.found, Difference):
        return None
    new = sorted({seq for seq, places in found.new.items() if places} | found.bare)
    drafts, calls = _new_turns(messages, found, new)
    completed = {seq: _completion(messages, seq, turn) for seq, turn in found.completed.items()}
    return News(made_ready(drafts), calls, completed, frozenset((*new, *completed)))


@dataclass(frozen=True, slots=True)
class Sync(Once):
    """The command to append what is new of a list. `seen`: what it was held against before, if it
    was, `news`: what it brings in that case."""

    conversation_id: str
    messages: MessageList
    seen: Seen | None = None
    news: News | None = None
    body_hash: bytes = b""
    key: str | None = None
    expected_version: int | None = None
    tools: KeepTools | None = None
    texts: bool = False
    size: int = 0

    @property
    def adds(self) -> int:
        return len(self.news.turns) if self.news else 0

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        asked = Keys(
            idempotency=frozenset({self.key} if self.key is not None else ()),
            tools=self.tools is not None,
        )
        found = self.seen.found if self.seen else None
        if self.news is None or not isinstance(found, Recognised):
            return asked
        asked |= _keys_of_completed(found)
        drafts, cid = [new.draft for new in self.news.turns], self.conversation_id
        return asked | keys_of(drafts, cid, version, ID_RULES, waiting=waiting)

    def append(self, known: Slice) -> Change[Appended]:
        seen, brought, head = self.seen, self.news, known.head
        assert head is not None
        if seen is None or seen.head_hash != head.head_hash:
            seen = look(known.whole_history(), self.messages)
            brought = news(self.messages, seen)
        if isinstance(found := seen.found, Difference):
            raise _differs(self.messages, found)
        assert brought is not None
        known.demand(_keys_of_completed(found))
        # An old list, sent late, came with the tools of its time.
        tools = None if found.is_old else self.tools
        is_stale = self.expected_version not in (None, head.version)
        if is_stale and (brought.places or kept_tools(known, tools)):
            raise StaleVersion(head.id, str(self.expected_version), head.version)
        notes = (
            *_cut_note(found),
            *_end_note(found),
            *_tools_note(found, kept_tools(known, self.tools)),
        )
        synced = Synced(_known(self.messages, brought), notes)
        completed: Change[object] = Change(None)
        for whole in brought.completed.values():
            change = Append(head.id, whole, texts=self.texts).append(known)
            if change.receipt.members:
                synced = synced.with_receipt(change.receipt.members)
            completed, known = completed.then(change), known.after(change)
        if not brought.turns:
            return completed.then(_nothing_new(known, tools, self.messages.notes, synced))
        turns = tuple(
            _answering(turn, calls, known.book)
            for turn, calls in zip(brought.turns, brought.calls, strict=True)
        )
        rest = Append(
            head.id,
            turns,
            tools=tools,
            texts=self.texts,
            synced=synced,
            notes=self.messages.notes,
        )
        return completed.then(rest.append(known))


def _keys_of_completed(found: Recognised) -> Keys:
    """What completing interrupted turns asks."""
    if not found.completed:
        return Keys()
    seqs = frozenset(turn.seq for turn in found.completed.values())
    ids = frozenset(turn.turn_id for turn in found.completed.values())
    return Keys(turn_ids=ids, seqs=seqs, ledgers_of=seqs, revisions=True)


def _differs(messages: MessageList, difference: Difference) -> HistoryDiffers:
    message, turn = messages.messages[difference.seq - 1], difference.stored
    pointer = message.draft.pointer
    return HistoryDiffers(
        f"The message at `{pointer}` must say what the stored turn {turn.seq} says, but differs in"
        f" {_DIFFERS[difference.what]}. The list repeats the stored history; new messages stand at"
        " its end. To append messages without the history, leave out `mode=sync`.",
        pointer=pointer,
        index=message.place,
        differs=difference.what,
        turn_id=turn.turn_id,
        seq=turn.seq,
    )


def _known(messages: MessageList, brought: News) -> int:
    """How many messages of the list brought nothing new."""
    new = {messages.messages[seq - 1].place for seq in brought.places}
    return len({one.place for one in messages.messages} - new - {None})


def _cut_note(found: Recognised) -> tuple[JsonObject, ...]:
    if found.begins is None:
        return ()
    why = f"the list begins with turn {found.begins.seq}; those before it are not in it"
    return (note("LIST_CUT", found.begins.turn_id, why),)


def _end_note(found: Recognised) -> tuple[JsonObject, ...]:
    if not found.after_end:
        return ()
    first, count = found.after_end[0], len(found.after_end)
    missing = "1 stored turn" if count == 1 else f"{count} stored turns"
    why = f"the list ends earlier than the history: it lacks {missing}, from turn {first.seq} on"
    return (note("LIST_ENDS_EARLIER", first.turn_id, why),)


def _tools_note(found: Recognised, others: Sequence[ToolSetRecord]) -> tuple[JsonObject, ...]:
    """`others`: tools of the list that are not those in force."""
    if not found.is_old or not others:
        return ()
    why = "the list ends before the stored history does; the tools in force stay as they are"
    return (note("TOOLS_NOT_KEPT", None, why),)


def _completion(messages: MessageList, seq: int, turn: Turn) -> tuple[NewTurn, ...]:
    """Completes an interrupted turn. Its receipt goes into that of the list: there may be calls to
    be run."""
    drafts = messages.drafts({seq - 1})
    return made_ready(replace(draft, turn_id=turn.turn_id) for draft in drafts)


def _nothing_new(
    known: Slice, tools: KeepTools | None, remarked: Sequence[Remark], synced: Synced
) -> Change[Appended]:
    remarks = [note(one.code, None, one.detail) for one in remarked]
    receipt: JsonObject = {
        "conversation_id": known.conversation_id,
        "version": known.version,
        "turns": [],
        "notes": [*tool_notes(tools), *remarks],
    }
    return Change(
        Appended(receipt_bytes(synced.beside(receipt)), known.version, status=200),
        tool_sets=kept_tools(known, tools),
    )


def _new_turns(
    messages: MessageList, found: Recognised, new: Sequence[int]
) -> tuple[list[Draft], tuple[tuple[str | None, ...], ...]]:
    """The messages with these numbers in the list, counted from 1, as turns to be appended, and
    the stored calls whose results they have.

    Of a message that is stored in part only the other blocks become a turn; its payload stays
    whole. A placeholder that a replay showed for a missing result is never taken for a result.
    """
    if not new:
        return [], ()
    told = messages.told
    marks = (mark for seq in new for mark in _marks(told.turns[seq - 1], told, found))
    drafts, calls = [], []
    for draft in messages.drafts({seq - 1 for seq in new}):
        marked = [(block, *next(marks)) for block in draft.blocks]
        kept = [(_as_new(block), call_id) for block, is_new, call_id in marked if is_new]
        drafts.append(_with_new(draft, tuple(block for block, _ in kept)))
        calls.append(tuple(call_id for _, call_id in kept))
    return drafts, tuple(calls)


def _marks(turn: Turn, told: Told, found: Recognised) -> Iterator[_Mark]:
    """Of each block, whether it is new, and the stored call whose result it is."""
    known, new = found.known.get(turn.seq, set()), found.new.get(turn.seq, set())
    last = max(known, default=-1)
    for place, block in enumerate(turn.blocks or ()):
        # What is not compared belongs to what it stands in front of.
        is_new = place in new or (is_unspoken(block) and place > last)
        link = told.links.get((turn.seq, place))
        yield is_new, found.calls.get(link.call_id) if link else None


def _with_new(draft: Draft, blocks: tuple[Block, ...]) -> Draft:
    if len(blocks) == len(draft.blocks):
        return replace(draft, blocks=blocks)
    left = len(draft.blocks) - len(blocks)
    why = f"{left} of its {len(draft.blocks)} blocks were stored before; the others are this turn"
    remark = Remark("PARTLY_KNOWN", why)
    # The id that it may have been given belongs to what was stored before.
    return replace(draft, blocks=blocks, turn_id=None, notes=(*draft.notes, remark))


def _as_new(block: Block) -> Block:
    if isinstance(block, ToolResult) and says_nothing(block):
        return replace(block, result=None, parts=None, error=None, status="unknown")
    return block


def _answering(turn: NewTurn, calls: Sequence[str | None], book: Book) -> NewTurn:
    """The turn, whose results name their calls where the ledger would find others.

    Ids repeat; where the list stands beside the history, its order says which call is meant.
    """
    blocks = tuple(map(partial(_naming, book), turn.draft.blocks, calls))
    return turn if blocks == turn.draft.blocks else turn.with_blocks(blocks)


def _naming(book: Book, block: Block, call_id: str | None) -> Block:
    if not isinstance(block, ToolResult) or call_id is None:
        return block
    found = match(block, book, ID_RULES.prefixes).call
    if (found and found.id == call_id) or not book.by_canonical(call_id):
        return block
    return replace(block, call_id=call_id)
