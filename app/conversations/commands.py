"""Conversations themselves: create, read, change, erase."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..database.damage import UnlessDamaged
from ..database.store import ReadStore
from ..jsontext.plain import read_object
from ..jsontext.writing import dumps, dumps_utf8
from ..ledger.load_request import Keys
from ..ledger.records import PARTS, SMALL, ConversationRecord
from ..ledger.slice import Change, Plain, Removal, Slice
from ..model.errors import (
    ConversationExists,
    ConversationNotFound,
    Damaged,
    RuleBroken,
    StaleVersion,
)
from ..model.forms import CONVERSATION_ID
from ..model.json_values import JsonObject
from ..search.indexing import description


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
class Expiry:
    """After how many seconds without a new turn a conversation expires; None: never."""

    after: int | None


@dataclass(frozen=True, slots=True)
class Create(Plain):
    """The command to make a conversation that is not there yet."""

    conversation_id: str
    title: str | None
    metadata: JsonObject
    # None: as the service is set.
    expiry: Expiry | None = None

    def decide(self, known: Slice) -> Change[JsonObject]:
        if known.head is not None:
            raise ConversationExists(known.conversation_id, known.version)
        seconds = self.expiry.after if self.expiry else known.custom.expires_after
        made = _made(known, self.title, dumps(self.metadata).encode(), seconds)
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
    expiry: Expiry | None = None

    def decide(self, known: Slice) -> Change[JsonObject]:
        if known.head is None:
            raise ConversationNotFound(known.conversation_id)
        check_state(known, self.expected)
        if self.expiry:
            head = replace(known.head, expires_after=self.expiry.after).renewed(known.now)
            known = replace(known, head=head)
        assert known.head is not None
        metadata = dumps(self.metadata or {}).encode()
        change = described(
            known,
            self.title if "title" in self.given else known.head.title,
            metadata if "metadata" in self.given else known.head.metadata,
        )
        assert change.head is not None
        return change.then(Change(shown(change.head)))


@dataclass(frozen=True, slots=True)
class Erased:
    """An erased conversation: how many rows of each part it had, and whether they are all removed
    already."""

    conversation_id: str
    erased_at: str
    counts: Mapping[str, int]
    is_gone: bool

    def receipt(self, removed: Mapping[str, int] | None = None) -> JsonObject:
        """The receipt. `removed`: the rows that are removed so far, where some are left."""
        gone = self.counts if removed is None else removed
        shown: JsonObject = {
            "conversation_id": self.conversation_id,
            "erased_at": self.erased_at,
            "removed": {part: gone.get(part, 0) for part in PARTS},
        }
        if removed is not None:
            shown["left"] = {part: self.counts[part] - removed.get(part, 0) for part in PARTS}
        return shown


@dataclass(frozen=True, slots=True)
class Erase(Removal):
    """The command to erase a conversation with all its rows.

    A long one only expires at once, so that its rows can be removed a few at a time. Nothing is
    added to what has expired: what is counted now is what will have been removed, by whomever.
    """

    conversation_id: str
    expected: str | None = None

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        return Keys(parts=True)

    def decide(self, known: Slice) -> Change[Erased]:
        if known.head is None:
            raise ConversationNotFound(known.conversation_id)
        if self.expected is not None and not known.head.head_hash and known.version:
            # The head is lost or damaged: it has no version that could be the expected one.
            raise Damaged(known.conversation_id)
        check_state(known, self.expected)
        is_small = known.version <= SMALL
        erased = Erased(
            known.conversation_id, known.now.isoformat(), known.counted(), is_gone=is_small
        )
        if is_small:
            return Change(erased, erased=True)
        return Change(erased, head=replace(known.head, expires_at=known.now))


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
    made = _made(known, None, b"{}", known.custom.expires_after)
    return known.after(made), made


def described(known: Slice, title: str | None, metadata: bytes) -> Change[None]:
    """Gives a conversation that is there another title and other metadata."""
    assert known.head is not None
    head = replace(known.head, title=title, metadata=metadata, updated_at=known.now)
    return Change(None, head=head, described=description(known, title, metadata))


def _made(known: Slice, title: str | None, metadata: bytes, seconds: int | None) -> Change[None]:
    cid, now = known.conversation_id, known.now
    head = ConversationRecord(cid, title, metadata, 0, b"", 0, now, now, expires_after=seconds)
    described = description(known, title, metadata)
    return Change(None, head=head.renewed(now), described=described)


def read(store: ReadStore, conversation_id: str) -> JsonObject:
    return shown(known(store, conversation_id))


def heads_of(store: ReadStore, cids: Sequence[str]) -> dict[str, ConversationRecord | None]:
    """The heads of conversations; None where one is gone, nothing where it is damaged."""
    with UnlessDamaged():
        found = store.conversations.heads(cids)
        return {cid: found.get(cid) for cid in cids}
    sound: dict[str, ConversationRecord | None] = {}
    for cid in cids:
        with UnlessDamaged():
            sound[cid] = store.conversations.head(cid)
    return sound


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
        **_expiry(record),
    }


def _expiry(record: ConversationRecord) -> JsonObject:
    if record.expires_at is None:
        return {}
    return {"expires_after": record.expires_after, "expires_at": record.expires_at.isoformat()}
