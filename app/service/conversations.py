"""Conversations themselves: create, read, change, erase."""

import hashlib
from dataclasses import dataclass, replace

from app.core.errors import ConversationExists, ConversationNotFound, RuleBroken, StaleVersion
from app.core.identity.forms import CONVERSATION_ID
from app.core.json.text import JsonObject, dumps, dumps_utf8
from app.core.ledger.records import ConversationRecord
from app.core.ledger.slice import Change, Plain, Slice
from app.service.indexing import description
from app.service.turnform import read_object
from app.storage.store import ReadStore


def known_form(conversation_id: str) -> None:
    """Raises `ConversationNotFound` for an id that can name nothing: no database need be asked."""
    if not CONVERSATION_ID.fits(conversation_id):
        raise ConversationNotFound(conversation_id)


def check_id(conversation_id: str, pointer: str | None = None) -> str:
    """`pointer`: where in the body the id stands, if not in the path."""
    if not CONVERSATION_ID.fits(conversation_id):
        raise RuleBroken(CONVERSATION_ID.complaint(conversation_id), pointer=pointer)
    return conversation_id


@dataclass(frozen=True, slots=True)
class Create(Plain):
    """The command to make a conversation that is not there yet."""

    conversation_id: str
    title: str | None
    metadata: JsonObject

    def decide(self, known: Slice) -> Change[JsonObject]:
        if known.head is not None:
            raise ConversationExists(known.conversation_id, known.version)
        made = _made(known, self.title, dumps(self.metadata).encode())
        assert made.head is not None
        return made.then(Change(shown(made.head)))


@dataclass(frozen=True, slots=True)
class Describe(Plain):
    """The command to change the `given` members; a null title takes the title away."""

    conversation_id: str
    title: str | None
    metadata: JsonObject | None
    given: frozenset[str]
    expected: str | None = None

    def decide(self, known: Slice) -> Change[JsonObject]:
        if known.head is None:
            raise ConversationNotFound(known.conversation_id)
        check_state(known, self.expected)
        metadata = dumps(self.metadata or {}).encode()
        change = described(
            known,
            self.title if "title" in self.given else known.head.title,
            metadata if "metadata" in self.given else known.head.metadata,
        )
        assert change.head is not None
        return change.then(Change(shown(change.head)))


@dataclass(frozen=True, slots=True)
class Erase(Plain):
    """The command to erase a conversation with all its rows."""

    conversation_id: str
    expected: str | None = None

    def decide(self, known: Slice) -> Change[None]:
        if known.head is None:
            raise ConversationNotFound(known.conversation_id)
        check_state(known, self.expected)
        return Change(None, erased=True)


def check_state(known: Slice, expected: str | None) -> None:
    """Raises `StaleVersion` unless the conversation has the version, or the tag, that is expected;
    one that is absent is at version 0."""
    if expected is None or expected == str(known.version):
        return
    tag = tag_of(shown(known.head)) if known.head else None
    if expected != tag:
        told = tag if "-" in expected else None
        raise StaleVersion(known.conversation_id, expected, known.version, tag=told)


def tag_of(conversation: JsonObject) -> str:
    """What tells a conversation, as it is shown, from the same one before or after a change."""
    return f"{conversation['version']}-{hashlib.sha256(dumps_utf8(conversation)).hexdigest()[:16]}"


def ensured(known: Slice) -> tuple[Slice, Change[None]]:
    """The conversation, made when it is absent, and what that changes."""
    if known.head is not None:
        return known, Change(None)
    made = _made(known, None, b"{}")
    return known.after(made), made


def described(known: Slice, title: str | None, metadata: bytes) -> Change[None]:
    """Gives a conversation that is there another title and other metadata."""
    assert known.head is not None
    head = replace(known.head, title=title, metadata=metadata, updated_at=known.now)
    return Change(None, head=head, described=description(known, title, metadata))


def _made(known: Slice, title: str | None, metadata: bytes) -> Change[None]:
    head = ConversationRecord(
        known.conversation_id, title, metadata, 0, b"", 0, known.now, known.now
    )
    return Change(None, head=head, described=description(known, title, metadata))


def read(store: ReadStore, conversation_id: str) -> JsonObject:
    return shown(known(store, conversation_id))


def has_room(store: ReadStore, conversation_id: str, prefix: str, most: int) -> bool:
    """Whether this conversation is there, or there are fewer than so many with this prefix."""
    there = store.conversations.head(conversation_id) is not None
    return there or store.conversations.count(prefix, most) < most


def known(store: ReadStore, conversation_id: str) -> ConversationRecord:
    known_form(conversation_id)
    record = store.conversations.head(conversation_id)
    if record is None:
        raise ConversationNotFound(conversation_id)
    return record


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
