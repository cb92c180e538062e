"""Conversations themselves: create, read, change, erase."""

from app.core.errors import ConversationExists, ConversationNotFound, RuleBroken
from app.core.identity.forms import CONVERSATION_ID
from app.core.json.text import JsonObject, dumps
from app.core.ledger.records import ConversationRecord
from app.service.indexing import index_head
from app.service.turnform import read_object
from app.storage.store import ReadStore, Store


def is_id(conversation_id: str) -> bool:
    """Ids of any other form name nothing; the databases need not be asked."""
    return CONVERSATION_ID.fits(conversation_id)


def check_id(conversation_id: str, pointer: str | None = None) -> str:
    """`pointer`: where in the body the id stands, if not in the path."""
    if not is_id(conversation_id):
        raise RuleBroken(CONVERSATION_ID.complaint(conversation_id), pointer=pointer)
    return conversation_id


def create(
    store: Store, conversation_id: str, title: str | None, metadata: JsonObject
) -> JsonObject:
    if not _made(store, conversation_id, title, metadata):
        # Another process may erase it meanwhile; then it has no turns any more.
        there = store.conversation(conversation_id)
        raise ConversationExists(conversation_id, there.version if there else 0)
    return read(store, conversation_id)


def read(store: ReadStore, conversation_id: str) -> JsonObject:
    return shown(known(store, conversation_id))


def known(store: ReadStore, conversation_id: str) -> ConversationRecord:
    record = store.conversation(conversation_id) if is_id(conversation_id) else None
    if record is None:
        raise ConversationNotFound(conversation_id)
    return record


def locked(store: Store, cid: str) -> ConversationRecord:
    """The conversation, ours until the commit; made when it is absent."""
    # Another process may erase it between our two statements; then it is made again.
    while (head := store.lock(cid)) is None:
        _made(store, cid, None, {})
    return head


def describe(store: Store, cid: str, title: str | None, metadata: bytes) -> None:
    """Gives a conversation, which is ours, another title and other metadata."""
    store.update(cid, title, metadata)
    index_head(store, cid, title, metadata)


def _made(store: Store, cid: str, title: str | None, metadata: JsonObject) -> bool:
    written = dumps(metadata).encode()
    if not store.create(cid, title, written):
        return False
    index_head(store, cid, title, written, new=True)
    return True


def change(
    store: Store,
    conversation_id: str,
    title: str | None,
    metadata: JsonObject | None,
    fields: set[str],
) -> JsonObject:
    """Changes only the members that were given; a null title takes the title away."""
    record = store.lock(conversation_id) if is_id(conversation_id) else None
    if record is None:
        raise ConversationNotFound(conversation_id)
    describe(
        store,
        conversation_id,
        title if "title" in fields else record.title,
        dumps(metadata or {}).encode() if "metadata" in fields else record.metadata,
    )
    return read(store, conversation_id)


def erase(store: Store, conversation_id: str) -> None:
    if not is_id(conversation_id) or not store.delete(conversation_id):
        raise ConversationNotFound(conversation_id)


def shown(record: ConversationRecord) -> JsonObject:
    return {
        "id": record.id,
        "title": record.title,
        "metadata": read_object(record.metadata),
        "version": record.version,
        "created_at": record.created_at.isoformat(),
        "updated_at": record.updated_at.isoformat(),
        "usage": record.usage.json(),
    }
