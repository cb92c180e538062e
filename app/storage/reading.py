"""What can be read of conversations, as records. It cannot write: its type has no such method."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlalchemy import LargeBinary, bindparam, literal_column, select

from app.core import ids
from app.core.ledger import CallBook
from app.core.pairing import Link
from app.core.records import (
    ConversationRecord,
    ResultRecord,
    RevisionRecord,
    ToolSetRecord,
    TurnRecord,
)
from app.storage.audit import Audit, in_order
from app.storage.book import DatabaseBook
from app.storage.rows import (
    CONVERSATION,
    RESULT,
    REVISION,
    TOOL_SET,
    TURN,
    TURN_WITHOUT_PAYLOAD,
    Columns,
    revision,
    turn_without_payload,
)
from app.storage.scope import ALL, IDS, LIMIT, TENANT, AnySelect, owned, pieces
from app.storage.tables import (
    conversations,
    idempotency_keys,
    provider_ids,
    tool_calls,
    tool_results,
    tool_sets,
    turn_pieces,
    turn_revisions,
    turns,
)

_TARGET = provider_ids.c.target == bindparam("target")
_RANGE = (turns.c.seq > bindparam("after"), turns.c.seq <= bindparam("until"))

HEAD = select(*CONVERSATION).where(owned(conversations))
_CONVERSATIONS = (
    select(*CONVERSATION)
    .where(
        conversations.c.tenant_id == TENANT,
        conversations.c.conversation_id > bindparam("after"),
    )
    .order_by(conversations.c.conversation_id)
    .limit(LIMIT)
)
_TURNS = select(*TURN).where(owned(turns), *_RANGE).order_by(turns.c.seq).limit(LIMIT)
_TURNS_WITHOUT_PAYLOADS = (
    select(*TURN_WITHOUT_PAYLOAD).where(owned(turns), *_RANGE).order_by(turns.c.seq).limit(LIMIT)
)
_TURN = select(*TURN).where(owned(turns), turns.c.turn_id == bindparam("turn_id"))
_NO_PAYLOAD = literal_column("''", LargeBinary).label("payload")


def _revisions(columns: Columns) -> AnySelect:
    return (
        select(*columns)
        .where(
            owned(turn_revisions),
            turn_revisions.c.seq >= bindparam("first"),
            turn_revisions.c.seq <= bindparam("last"),
        )
        .order_by(turn_revisions.c.number)
    )


_REVISIONS = _revisions(REVISION)
_REVISIONS_WITHOUT_PAYLOADS = _revisions(
    [_NO_PAYLOAD if column is turn_revisions.c.payload else column for column in REVISION]
)
# Not a parameter: the index holds these turns only, and must be recognised.
_INTERRUPTED = select(turns.c.seq).where(
    owned(turns), turns.c.status == literal_column("'interrupted'")
)
_REVISED = (
    select(turn_revisions.c.seq, turn_revisions.c.status)
    .where(owned(turn_revisions))
    .order_by(turn_revisions.c.number)
)
_PIECES = (
    select(turn_pieces.c.part, turn_pieces.c.data)
    .where(
        owned(turn_pieces),
        turn_pieces.c.seq == bindparam("seq"),
        turn_pieces.c.revision == bindparam("revision"),
        # "blocks" comes before "payload".
        turn_pieces.c.part <= bindparam("last_part"),
    )
    .order_by(turn_pieces.c.part, turn_pieces.c.place)
)
_ASIDE = select(tool_calls.c.call_id, tool_calls.c.call_index).where(
    owned(tool_calls), tool_calls.c.seq == bindparam("seq"), tool_calls.c.call_index < 0
)
_REVISION_COUNT = (
    select(turn_revisions.c.number)
    .where(owned(turn_revisions))
    .order_by(turn_revisions.c.number.desc())
    .limit(1)
)
_CONTENT_HASHES = select(turns.c.turn_id, turns.c.content_hash).where(
    owned(turns), turns.c.turn_id.in_(IDS)
)
_LINKS = select(
    tool_results.c.seq,
    tool_results.c.place,
    tool_results.c.call_id,
    tool_results.c.matched_by,
).where(
    owned(tool_results),
    tool_results.c.call_id.is_not(None),
    tool_results.c.seq > bindparam("after"),
    tool_results.c.seq <= bindparam("until"),
)
_RESULTS_OF_TURN = select(*RESULT).where(
    owned(tool_results), tool_results.c.seq == bindparam("seq")
)
_SHOWN = select(provider_ids.c.call_id, provider_ids.c.provider_id).where(
    owned(provider_ids), _TARGET
)
# Not max(): PostgreSQL may count all of them for it.
_HIGHEST = (
    select(provider_ids.c.ordinal)
    .where(owned(provider_ids), _TARGET, provider_ids.c.ordinal.is_not(None))
    .order_by(provider_ids.c.ordinal.desc())
    .limit(1)
)
# For any target: with it, the index of the ordinals would look as good as the right one.
_TAKEN = select(provider_ids.c.target, provider_ids.c.provider_id).where(
    owned(provider_ids), provider_ids.c.provider_sha256.in_(IDS)
)
_USED = select(tool_calls.c.call_id).where(owned(tool_calls), tool_calls.c.call_id.in_(IDS))

_WAITING = select(*RESULT).where(owned(tool_results), tool_results.c.call_id.is_(None))
_ORPHANS = _WAITING.where(tool_results.c.raw_sha256.is_not(None))
_ORPHANS_BY_RAW = _WAITING.where(tool_results.c.raw_sha256.in_(IDS))
_ORPHANS_BY_NORMALIZED = _WAITING.where(tool_results.c.normalized_sha256.in_(IDS))

_TOOL_SET = (
    select(*TOOL_SET)
    .where(owned(tool_sets), tool_sets.c.at_version <= bindparam("until"))
    .order_by(tool_sets.c.number.desc())
    .limit(1)
)
_TOOL_SETS = select(*TOOL_SET).where(owned(tool_sets)).order_by(tool_sets.c.number)
_ANSWER = select(
    idempotency_keys.c.body_sha256, idempotency_keys.c.status, idempotency_keys.c.answer
).where(owned(idempotency_keys), idempotency_keys.c.key_sha256 == bindparam("key"))


class ReadStore(Audit):
    """One tenant's conversations, in one snapshot."""

    def conversation(self, cid: str) -> ConversationRecord | None:
        row = self._run(HEAD, cid).one_or_none()
        return ConversationRecord(*row) if row else None

    def conversations(self, limit: int, after: str | None = None) -> list[ConversationRecord]:
        """A page of conversations by id; `after` is the last id of the page before."""
        rows = self._run(_CONVERSATIONS, after=after or "", most=limit)
        return [ConversationRecord(*row) for row in rows]

    def turns(
        self,
        cid: str,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int | None = None,
        payloads: bool = True,
        as_of: int | None = None,
    ) -> list[TurnRecord]:
        """Turns with after < seq <= until, interrupted ones as they were completed.

        Without payloads, those are b"". `as_of`: as they were before the conversation had more
        turns, and before anything was completed at that version.
        """
        statement = _TURNS if payloads else _TURNS_WITHOUT_PAYLOADS
        rows = self._run(statement, cid, after=after, until=_or_all(until), most=_or_all(limit))
        records = [TurnRecord(*row) if payloads else turn_without_payload(row) for row in rows]
        newest = {
            one.turn.seq: (one.turn, one.number)
            for one in self._revised(cid, records, payloads=payloads)
            if as_of is None or one.at_version < as_of
        }
        chosen = [newest.get(record.seq, (record, 0)) for record in records]
        return [self._filled(cid, turn, number, payload=payloads) for turn, number in chosen]

    def posted_turns(self, cid: str) -> list[TurnRecord]:
        """All turns as they were posted first."""
        rows = self._run(_TURNS, cid, after=0, until=ALL, most=ALL)
        return [self._filled(cid, TurnRecord(*row)) for row in rows]

    def turn(self, cid: str, turn_id: str) -> TurnRecord | None:
        """A turn, completed if it was interrupted."""
        attempts = self.attempts(cid, turn_id)
        return attempts[-1] if attempts else None

    def attempts(self, cid: str, turn_id: str) -> list[TurnRecord]:
        """A turn as it was posted, and every later version of it."""
        row = self._run(_TURN, cid, turn_id=turn_id).one_or_none()
        if row is None:
            return []
        first = self._filled(cid, TurnRecord(*row))
        return [first, *(one.turn for one in self.revisions(cid, [first]))]

    def revisions(self, cid: str, records: Sequence[TurnRecord]) -> list[RevisionRecord]:
        """The later versions of these turns, oldest first."""
        return [
            replace(one, turn=self._filled(cid, one.turn, one.number))
            for one in self._revised(cid, records)
        ]

    def _revised(
        self, cid: str, records: Sequence[TurnRecord], *, payloads: bool = True
    ) -> list[RevisionRecord]:
        """The later versions without what stands in pieces. Only interrupted turns have some."""
        broken = {record.seq: record for record in records if record.status != "complete"}
        if not broken:
            return []
        statement = _REVISIONS if payloads else _REVISIONS_WITHOUT_PAYLOADS
        rows = self._run(statement, cid, first=min(broken), last=max(broken))
        return [revision(row, broken[row.seq]) for row in rows if row.seq in broken]

    def _filled(
        self, cid: str, record: TurnRecord, revision: int = 0, *, payload: bool = True
    ) -> TurnRecord:
        """The record with its long values, which stand in pieces of their own."""
        if record.blocks != b"":
            return record
        found: dict[str, list[bytes]] = {"payload": [], "blocks": []}
        last_part = "payload" if payload else "blocks"
        rows = self._run(_PIECES, cid, seq=record.seq, revision=revision, last_part=last_part)
        for part, data in rows:
            found[part].append(data)
        return replace(record, payload=b"".join(found["payload"]), blocks=b"".join(found["blocks"]))

    def interrupted(self, cid: str) -> set[int]:
        """The turns that are interrupted and were not completed, by seq."""
        broken = set(self._run(_INTERRUPTED, cid).scalars())
        if broken:
            for seq, status in self._run(_REVISED, cid):
                (broken.discard if status == "complete" else broken.add)(seq)
        return broken

    def aside(self, cid: str, seq: int) -> dict[str, int]:
        """The calls that the newest version of a turn does not make, with their places."""
        return {row.call_id: row.call_index for row in self._run(_ASIDE, cid, seq=seq)}

    def revision_count(self, cid: str) -> int:
        return self._run(_REVISION_COUNT, cid).scalar() or 0

    def content_hashes(self, cid: str, turn_ids: Collection[str]) -> dict[str, bytes]:
        """The content hashes of those of the turns that are stored."""
        return {
            row.turn_id: row.content_hash
            for piece in pieces(turn_ids)
            for row in self._run(_CONTENT_HASHES, cid, ids=piece)
        }

    def links(
        self, cid: str, *, after: int = 0, until: int | None = None
    ) -> dict[tuple[int, int], Link]:
        """The matched results of the turns with after < seq <= until, by seq and place."""
        rows = self._run(_LINKS, cid, after=after, until=_or_all(until))
        return {(seq, place): Link(call_id, rule) for seq, place, call_id, rule in rows}

    def results_of(self, cid: str, seq: int) -> list[ResultRecord]:
        """The results of one turn."""
        return in_order(ResultRecord(*row) for row in self._run(_RESULTS_OF_TURN, cid, seq=seq))

    def shown_ids(self, cid: str, target: str) -> dict[str, str]:
        """The ids that this target assigned, by canonical id."""
        return {row.call_id: row.provider_id for row in self._run(_SHOWN, cid, target=target)}

    def highest_ordinal(self, cid: str, target: str) -> int:
        """The highest number given out for this target; -1 when there is none."""
        highest = self._run(_HIGHEST, cid, target=target).scalar()
        return -1 if highest is None else highest

    def taken_ids(self, cid: str, target: str, candidates: Collection[str]) -> set[str]:
        """Those of the candidates that this target shows already."""
        keys = map(ids.fingerprint, candidates)
        return {
            row.provider_id
            for piece in pieces(keys)
            for row in self._run(_TAKEN, cid, ids=piece)
            if row.target == target
        }

    def used_canonical(self, cid: str, canonical: Collection[str]) -> set[str]:
        """Those of the ids that name a call already."""
        return {
            used
            for piece in pieces(canonical)
            for used in self._run(_USED, cid, ids=piece).scalars()
        }

    def orphans(self, cid: str) -> list[ResultRecord]:
        """All results that have an id and wait for their call."""
        return in_order(ResultRecord(*row) for row in self._run(_ORPHANS, cid))

    def waiting_orphans(
        self, cid: str, raw_ids: Collection[str], normalized: Collection[str] = ()
    ) -> list[ResultRecord]:
        """Waiting results whose raw id is one of these, or becomes one when normalized."""
        questions = ((_ORPHANS_BY_RAW, raw_ids), (_ORPHANS_BY_NORMALIZED, normalized))
        return in_order(
            {
                ResultRecord(*row)
                for statement, texts in questions
                for piece in pieces(map(ids.fingerprint, texts))
                for row in self._run(statement, cid, ids=piece)
            }
        )

    def tool_set(self, cid: str, until: int) -> ToolSetRecord | None:
        """The tool definitions that were in force at a version of the conversation."""
        row = self._run(_TOOL_SET, cid, until=until).one_or_none()
        return ToolSetRecord(*row) if row else None

    def tool_sets(self, cid: str) -> list[ToolSetRecord]:
        """All tool definitions that were ever in force, oldest first."""
        return [ToolSetRecord(*row) for row in self._run(_TOOL_SETS, cid)]

    def idempotent_answer(
        self, cid: str, key: str
    ) -> tuple[bytes, int | None, bytes | None] | None:
        """The hash of the body that used this key, with its answer once there is one."""
        row = self._run(_ANSWER, cid, key=ids.fingerprint(key)).one_or_none()
        return (row.body_sha256, row.status, row.answer) if row else None

    def book(self, cid: str) -> CallBook:
        """The ledger, read by index."""
        return DatabaseBook(self._connection, self._tenant_id, cid)


def _or_all(number: int | None) -> int:
    return ALL if number is None else number
