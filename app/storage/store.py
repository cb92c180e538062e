"""What can be read of conversations, as records. It cannot write: its type has no such method."""

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, select

from app.core.identity import ids
from app.core.ledger.book import whole_book
from app.core.ledger.records import (
    ConversationRecord,
    ResultRecord,
    ToolSetRecord,
)
from app.core.ledger.slice import History
from app.core.render.pairing import Link
from app.storage.audit import in_order
from app.storage.finding import Finder
from app.storage.lookup import Lookup
from app.storage.rows import (
    CONVERSATION,
    RESULT,
    TOOL_SET,
)
from app.storage.scope import IDS, LIMIT, TENANT, owned, pieces
from app.storage.tables import (
    conversations,
    idempotency_keys,
    provider_ids,
    tool_calls,
    tool_results,
    tool_sets,
)
from app.storage.versions import Turns, or_all, ranges

_TARGET = provider_ids.c.target == bindparam("target")

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
_MATCHED = select(
    tool_results.c.seq,
    tool_results.c.place,
    tool_results.c.call_id,
    tool_results.c.matched_by,
).where(owned(tool_results))
_LINKS = _MATCHED.where(
    tool_results.c.call_id.is_not(None),
    tool_results.c.seq > bindparam("after"),
    tool_results.c.seq <= bindparam("until"),
)
# Nothing but the ids: asked for a range too, SQLite would rather read the whole conversation.
_LINKS_OF = _MATCHED.where(tool_results.c.call_id.in_(IDS))
_CALL_SEQS = select(tool_calls.c.call_id, tool_calls.c.seq).where(
    owned(tool_calls), tool_calls.c.call_id.in_(IDS)
)
_RESULTS_OF_TURN = select(*RESULT).where(
    owned(tool_results), tool_results.c.seq == bindparam("seq")
)
_PROVIDER_IDS = select(provider_ids.c.call_id, provider_ids.c.provider_id).where(
    owned(provider_ids), _TARGET
)
_PROVIDER_IDS_OF = _PROVIDER_IDS.where(provider_ids.c.call_id.in_(IDS))
_TOOL_SET = (
    select(*TOOL_SET)
    .where(owned(tool_sets), tool_sets.c.at_version <= bindparam("until"))
    .order_by(tool_sets.c.number.desc())
    .limit(1)
)
_TOOL_SETS = select(*TOOL_SET).where(owned(tool_sets)).order_by(tool_sets.c.number)
_RECEIPT = select(
    idempotency_keys.c.body_sha256,
    idempotency_keys.c.status,
    idempotency_keys.c["answer"].label("receipt"),
).where(owned(idempotency_keys), idempotency_keys.c.key_sha256 == bindparam("key"))


class ReadStore(Turns, Lookup):
    """One tenant's conversations, in one snapshot. `searches`: words are kept and can be asked."""

    def __init__(self, connection: Connection, tenant_id: str, *, searches: bool = True) -> None:
        super().__init__(connection, tenant_id)
        self.searches = searches

    @property
    def finder(self) -> Finder:
        return Finder(self._connection, self._tenant_id)

    def conversation(self, cid: str) -> ConversationRecord | None:
        row = self._run(HEAD, cid).one_or_none()
        return ConversationRecord(*row) if row else None

    def conversations(self, limit: int, after: str | None = None) -> list[ConversationRecord]:
        """A page of conversations by id; `after` is the last id of the page before."""
        rows = self._run(_CONVERSATIONS, after=after or "", most=limit)
        return [ConversationRecord(*row) for row in rows]

    def links(
        self, cid: str, *, after: int = 0, until: int | None = None
    ) -> dict[tuple[int, int], Link]:
        """The matched results of the turns with after < seq <= until, by seq and place."""
        rows = self._run(_LINKS, cid, after=after, until=or_all(until))
        return {(seq, place): Link(call_id, rule) for seq, place, call_id, rule in rows}

    def links_at(self, cid: str, seqs: Collection[int]) -> dict[tuple[int, int], Link]:
        """The matched results of these turns."""
        found: dict[tuple[int, int], Link] = {}
        for after, until in ranges(seqs):
            found |= self.links(cid, after=after, until=until)
        return found

    def links_of(
        self, cid: str, call_ids: Collection[str], until: int
    ) -> dict[tuple[int, int], Link]:
        """The results of these calls up to a turn."""
        return {
            (seq, place): Link(call_id, rule)
            for piece in pieces(call_ids)
            for seq, place, call_id, rule in self._run(_LINKS_OF, cid, ids=piece)
            if seq <= until
        }

    def call_seqs(self, cid: str, call_ids: Collection[str]) -> dict[str, int]:
        """The turns that made these calls, or made them once."""
        return {
            row.call_id: row.seq
            for piece in pieces(call_ids)
            for row in self._run(_CALL_SEQS, cid, ids=piece)
        }

    def results_of(self, cid: str, seq: int) -> list[ResultRecord]:
        """The results of one turn."""
        return in_order(ResultRecord(*row) for row in self._run(_RESULTS_OF_TURN, cid, seq=seq))

    def provider_ids(self, cid: str, target: str) -> dict[str, str]:
        """The provider ids that this target gave, by canonical id."""
        return {
            row.call_id: row.provider_id for row in self._run(_PROVIDER_IDS, cid, target=target)
        }

    def provider_ids_of(self, cid: str, target: str, call_ids: Collection[str]) -> dict[str, str]:
        """Those of these calls, by canonical id."""
        return {
            row.call_id: row.provider_id
            for piece in pieces(call_ids)
            for row in self._run(_PROVIDER_IDS_OF, cid, target=target, ids=piece)
        }

    def tool_set(self, cid: str, until: int) -> ToolSetRecord | None:
        """The tool definitions that were in force at a version of the conversation."""
        row = self._run(_TOOL_SET, cid, until=until).one_or_none()
        return ToolSetRecord(*row) if row else None

    def tool_sets(self, cid: str) -> list[ToolSetRecord]:
        """All tool definitions that were ever in force, oldest first."""
        return [ToolSetRecord(*row) for row in self._run(_TOOL_SETS, cid)]

    def receipt_of_key(self, cid: str, key: str) -> tuple[bytes, int | None, bytes | None] | None:
        """The hash of the body that used this key, with its receipt once there is one."""
        row = self._run(_RECEIPT, cid, key=ids.fingerprint(key)).one_or_none()
        return (row.body_sha256, row.status, row.receipt) if row else None

    def history(self, cid: str) -> History:
        """The whole conversation, if there is one."""
        head = self.conversation(cid)
        return History(
            head.head_hash if head else b"",
            self.turns(cid, payloads=False),
            self.links(cid),
            whole_book(record.call for record in self.calls(cid)),
        )
