"""Syncing: a runtime posts the whole list of messages it holds, and what is new of it is appended.

The list is held against the stored history by what it says. That takes a while, so it is done
before the writer's turn comes; if others have written in between, it is done again inside the
transaction, so that of two racing syncs the second finds what the first has stored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.core.conversation import Turn
from app.core.errors import HistoryDiffers, StaleVersion
from app.core.json.text import JsonObject, dumps_utf8
from app.core.ledger.records import ConversationRecord
from app.core.sync.recognising import Difference, Recognised
from app.service.appended import note, tool_notes
from app.service.conversations import locked
from app.service.ingest import Append, Appended, Synced, append, once
from app.service.messagelist import MessageList
from app.service.newturns import new_turns
from app.service.seeing import Seen, look
from app.service.tooldefs import KeepTools, keep_tools
from app.storage.store import Store

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
    """The order to append what is new of a list."""

    conversation_id: str
    messages: MessageList
    body_hash: bytes = b""
    key: str | None = None
    expected_version: int | None = None
    tools: KeepTools | None = None
    texts: bool = False


def sync(store: Store, order: Sync, seen: Seen) -> Appended:
    """`seen`: what the list was held against before."""
    head = locked(store, order.conversation_id)
    return once(store, head, order.key, order.body_hash, lambda: _sync(store, head, order, seen))


def _sync(store: Store, head: ConversationRecord, order: Sync, seen: Seen) -> Appended:
    if seen.head_hash != head.head_hash:
        seen = look(store, head.id, order.messages)
    if isinstance(found := seen.found, Difference):
        raise _differs(order.messages, found)
    new = sorted({seq for seq, places in found.new.items() if places} | found.bare)
    is_stale = order.expected_version not in (None, head.version)
    if is_stale and (new or found.completed):
        raise StaleVersion(head.id, str(order.expected_version), head.version)
    known = Synced(_known(order.messages, found, new), tuple(_notes(found)))
    for seq, turn in found.completed.items():
        known = _complete(store, order, seq, turn, known)
    head = locked(store, head.id) if found.completed else head
    if not new:
        return _nothing_new(store, head, order, known)
    post = new_turns(order.messages, found, new, store.book(head.id))
    return append(
        store,
        head,
        Append(head.id, post, tools=order.tools, texts=order.texts, synced=known),
    )


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


def _notes(found: Recognised) -> Iterator[JsonObject]:
    if found.begins:
        why = f"the list begins with turn {found.begins.seq}; those before it are not in it"
        yield note("LIST_CUT", found.begins.turn_id, why)


def _complete(store: Store, order: Sync, seq: int, turn: Turn, known: Synced) -> Synced:
    """Gives the completed turn into the receipt: its calls may be there to be run."""
    cid, post = order.conversation_id, order.messages.post({seq - 1})
    drafts = tuple(replace(draft, turn_id=turn.turn_id) for draft in post.drafts)
    # Remarks on the body as a whole are made once, with what is new.
    post = replace(post, drafts=drafts, notes=())
    done = append(store, locked(store, cid), Append(cid, post, texts=order.texts))
    return known.with_receipt(done.receipt) if done.receipt else known


def _nothing_new(store: Store, head: ConversationRecord, order: Sync, known: Synced) -> Appended:
    if order.tools is not None:
        keep_tools(store, head, order.tools)
    remarks = [note(one.code, None, one.detail) for one in order.messages.notes]
    receipt: JsonObject = {
        "conversation_id": head.id,
        "version": head.version,
        "turns": [],
        "notes": [*tool_notes(order.tools), *remarks],
    }
    return Appended(dumps_utf8(known.beside(receipt)), head.version, status=200)
