"""Syncing: a runtime posts the whole list of messages it holds, and what is new of it is appended.

The list is held against the stored history by what it says. That takes a while, so it is done
before the writer's turn comes; if others have written in between, it is done again when the command
decides, so that of two racing syncs the second finds what the first has stored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from app.codecs import ID_RULES, PREFIXES
from app.core.conversation import Block, Draft, Remark, ToolResult, Turn
from app.core.errors import HistoryDiffers, StaleVersion
from app.core.json.text import JsonObject
from app.core.ledger.append import keys_of
from app.core.ledger.book import Book
from app.core.ledger.keys import Keys
from app.core.ledger.rules import match
from app.core.ledger.slice import Change, Slice
from app.core.sync.likeness import is_unspoken, says_nothing
from app.core.sync.recognising import Recognised, Told
from app.core.sync.retelling import Difference
from app.service.append import Append, Appended, Synced, append, once
from app.service.messagelist import MessageList
from app.service.posting import Post
from app.service.receipts import note, receipt_bytes, tool_notes
from app.service.seeing import Seen, look
from app.service.tooldefs import KeepTools, kept_tools
from app.service.turnform import made_ready

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
class Sync:
    """The command to append what is new of a list. `seen`: what it was held against before."""

    conversation_id: str
    messages: MessageList
    seen: Seen
    body_hash: bytes = b""
    key: str | None = None
    expected_version: int | None = None
    tools: KeepTools | None = None
    texts: bool = False

    @property
    def adds(self) -> int:
        return len(_new(self.seen.found)) if isinstance(self.seen.found, Recognised) else 0

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        asked = Keys(
            idempotency=frozenset({self.key} if self.key is not None else ()),
            tools=self.tools is not None,
        )
        found = self.seen.found
        if isinstance(found, Difference):
            return asked
        asked |= _keys_of_completed(found)
        if new := _new(found):
            drafts = self.messages.post({seq - 1 for seq in new}).drafts
            asked |= keys_of(drafts, self.conversation_id, version, ID_RULES, waiting=waiting)
        return asked

    def decide(self, known: Slice) -> Change[Appended]:
        return once(known, self.key, self.body_hash, lambda there: _sync(there, self))


def _keys_of_completed(found: Recognised) -> Keys:
    """What completing interrupted turns asks."""
    if not found.completed:
        return Keys()
    seqs = frozenset(turn.seq for turn in found.completed.values())
    ids = frozenset(turn.turn_id for turn in found.completed.values())
    return Keys(turn_ids=ids, seqs=seqs, ledgers_of=seqs, revisions=True)


def _new(found: Recognised) -> list[int]:
    """The messages that bring something, counted from 1."""
    return sorted({seq for seq, places in found.new.items() if places} | found.bare)


def _sync(known: Slice, order: Sync) -> Change[Appended]:
    seen, head = order.seen, known.head
    assert head is not None
    if seen.head_hash != head.head_hash:
        seen = look(known.whole_history(), order.messages)
    if isinstance(found := seen.found, Difference):
        raise _differs(order.messages, found)
    known.demand(_keys_of_completed(found))
    new = _new(found)
    is_stale = order.expected_version not in (None, head.version)
    if is_stale and (new or found.completed):
        raise StaleVersion(head.id, str(order.expected_version), head.version)
    synced = Synced(_known(order.messages, found, new), _cut_note(found))
    completed: Change[object] = Change(None)
    for seq, turn in found.completed.items():
        change = append(known, _completion(order, seq, turn))
        if change.receipt.members:
            synced = synced.with_receipt(change.receipt.members)
        completed, known = completed.then(change), known.after(change)
    if not new:
        return completed.then(_nothing_new(known, order, synced))
    post = _new_turns(order.messages, found, new, known.book)
    turns = made_ready(post)
    rest = Append(head.id, post, turns, tools=order.tools, texts=order.texts, synced=synced)
    return completed.then(append(known, rest))


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


def _known(messages: MessageList, found: Recognised, new: Sequence[int]) -> int:
    """How many messages of the list brought nothing new."""
    brought = {messages.messages[seq - 1].place for seq in (*new, *found.completed)}
    return len({one.place for one in messages.messages} - brought - {None})


def _cut_note(found: Recognised) -> tuple[JsonObject, ...]:
    if found.begins is None:
        return ()
    why = f"the list begins with turn {found.begins.seq}; those before it are not in it"
    return (note("LIST_CUT", found.begins.turn_id, why),)


def _completion(order: Sync, seq: int, turn: Turn) -> Append:
    """Completes an interrupted turn. Its receipt goes into that of the list: there may be calls to
    be run."""
    post = order.messages.post({seq - 1})
    drafts = tuple(replace(draft, turn_id=turn.turn_id) for draft in post.drafts)
    # Remarks on the body as a whole are made once, with what is new.
    post = replace(post, drafts=drafts, notes=())
    return Append(order.conversation_id, post, made_ready(post), texts=order.texts)


def _nothing_new(known: Slice, order: Sync, synced: Synced) -> Change[Appended]:
    remarks = [note(one.code, None, one.detail) for one in order.messages.notes]
    receipt: JsonObject = {
        "conversation_id": known.conversation_id,
        "version": known.version,
        "turns": [],
        "notes": [*tool_notes(order.tools), *remarks],
    }
    return Change(
        Appended(receipt_bytes(synced.beside(receipt)), known.version, status=200),
        tool_sets=kept_tools(known, order.tools),
    )


def _new_turns(messages: MessageList, found: Recognised, new: Sequence[int], book: Book) -> Post:
    """The messages with these numbers in the list, counted from 1, as turns to be appended.

    Of a message that is stored in part only the other blocks become a turn; its payload stays
    whole. A placeholder that a replay showed for a missing result is never taken for a result.
    """
    post = messages.post({seq - 1 for seq in new})
    told = messages.told
    marks = (mark for one in told.turns if one.seq in new for mark in _marks(one, told, found))
    drafts = tuple(
        _without_known(draft, [next(marks) for _ in draft.blocks], book) for draft in post.drafts
    )
    return replace(post, drafts=drafts)


def _marks(turn: Turn, told: Told, found: Recognised) -> Iterator[_Mark]:
    """Of each block, whether it is new, and the stored call that it answers."""
    known, new = found.known.get(turn.seq, set()), found.new.get(turn.seq, set())
    for place, block in enumerate(turn.blocks or ()):
        # What is not compared belongs to what it stands in front of.
        is_new = place in new or (is_unspoken(block) and place > max(known, default=-1))
        link = told.links.get((turn.seq, place))
        yield is_new, found.calls.get(link.call_id) if link else None


def _without_known(draft: Draft, marks: Sequence[_Mark], book: Book) -> Draft:
    blocks = tuple(
        _as_new(block, call_id, book)
        for block, (is_new, call_id) in zip(draft.blocks, marks, strict=True)
        if is_new
    )
    if len(blocks) == len(draft.blocks):
        return replace(draft, blocks=blocks)
    left = len(draft.blocks) - len(blocks)
    why = f"{left} of its {len(draft.blocks)} blocks were stored before; the others are this turn"
    remark = Remark("PARTLY_KNOWN", why)
    # The id that it may have been given belongs to what was stored before.
    return replace(draft, blocks=blocks, turn_id=None, notes=(*draft.notes, remark))


def _as_new(block: Block, call_id: str | None, book: Book) -> Block:
    if not isinstance(block, ToolResult):
        return block
    if says_nothing(block):
        block = replace(block, result=None, parts=None, error=None, status="unknown")
    if call_id is None:
        return block
    # Ids repeat; where the list stands beside the history, its order says which call is meant.
    found = match(block, book, PREFIXES).call
    if (found and found.id == call_id) or not book.by_canonical(call_id):
        return block
    return replace(block, call_id=call_id)
