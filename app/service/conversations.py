"""Conversations themselves: create, list, read, change, erase."""

import re

from app.core import telling
from app.core.errors import ConversationExists, ConversationNotFound, RuleBroken
from app.core.jsontext import Json, JsonObject, dumps
from app.core.records import ConversationRecord
from app.service.turnform import read_object
from app.storage.store import ReadStore, Store

# No bar: it parts the fields of a turn id's hash input. No slash: ids stand in paths, and clients
# take the segments . and .. away.
CONVERSATION_ID = re.compile(r"(?!\.\.?\Z)[A-Za-z0-9._:@+=,-]{1,128}")


def is_id(conversation_id: str) -> bool:
    """Ids of any other form name nothing; the databases need not be asked."""
    return CONVERSATION_ID.fullmatch(conversation_id) is not None


def check_id(conversation_id: str, pointer: str | None = None) -> str:
    """`pointer`: where in the body the id stands, if not in the path."""
    if not is_id(conversation_id):
        raise RuleBroken(telling.bad_conversation_id(conversation_id), pointer=pointer)
    return conversation_id


def create(
    store: Store, conversation_id: str, title: str | None, metadata: JsonObject
) -> JsonObject:
    if not store.create(conversation_id, title, dumps(metadata).encode()):
        raise ConversationExists(conversation_id)
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
        store.create(cid, None, b"{}")
    return head


def listed(store: ReadStore, limit: int, after: str | None) -> JsonObject:
    if after is not None and not is_id(after):
        raise RuleBroken(telling.BAD_CURSOR, pointer="?cursor")
    records = store.conversations(limit + 1, after)
    data: list[Json] = [shown(record) for record in records[:limit]]
    more = len(records) > limit
    return {
        "data": data,
        "has_more": more,
        "next_cursor": records[limit - 1].id if more else None,
    }


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
    store.update(
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
    }
