"""Syncing: a runtime posts the whole list of messages it holds, and what is new of it is appended.

The list is held against the stored history by what it says. That takes a while, so it is done
before the writer's turn comes; if others have written in between, it is done again when the command
decides, so that of two racing syncs the second finds what the first has stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.codecs import ID_RULES
from app.core.conversation import Turn
from app.core.errors import HistoryDiffers, StaleVersion
from app.core.json.text import JsonObject, dumps_utf8
from app.core.ledger.append import keys_of
from app.core.ledger.keys import Keys
from app.core.ledger.slice import Change, Slice
from app.core.sync.recognising import Difference, Recognised
from app.service.append import Append, Appended, Synced, append, once
from app.service.messagelist import MessageList
from app.service.newturn import made_ready
from app.service.newturns import new_turns
from app.service.receipts import note, tool_notes
from app.service.seeing import Seen, look
from app.service.tooldefs import KeepTools, kept_tools

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

    def keys(self, version: int, *, waiting: bool) -> Keys:
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
        change = append(known, _completion(known, order, seq, turn))
        if change.receipt.members:
            synced = synced.with_receipt(change.receipt.members)
        completed, known = completed.then(change), known.after(change)
    if not new:
        return completed.then(_nothing_new(known, order, synced))
    post = new_turns(order.messages, found, new, known.book)
    turns = made_ready(post, searches=known.searches)
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


def _completion(known: Slice, order: Sync, seq: int, turn: Turn) -> Append:
    """Completes an interrupted turn. Its receipt goes into that of the list: there may be calls to
    be run."""
    post = order.messages.post({seq - 1})
    drafts = tuple(replace(draft, turn_id=turn.turn_id) for draft in post.drafts)
    # Remarks on the body as a whole are made once, with what is new.
    post = replace(post, drafts=drafts, notes=())
    turns = made_ready(post, searches=known.searches)
    return Append(order.conversation_id, post, turns, texts=order.texts)


def _nothing_new(known: Slice, order: Sync, synced: Synced) -> Change[Appended]:
    remarks = [note(one.code, None, one.detail) for one in order.messages.notes]
    receipt: JsonObject = {
        "conversation_id": known.conversation_id,
        "version": known.version,
        "turns": [],
        "notes": [*tool_notes(order.tools), *remarks],
    }
    return Change(
        Appended(dumps_utf8(synced.beside(receipt)), known.version, status=200),
        tool_sets=kept_tools(known, order.tools),
    )
