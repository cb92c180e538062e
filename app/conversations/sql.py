"""The heads of conversations."""

from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import bindparam, func, or_, select
from sqlalchemy.exc import DBAPIError

from ..database.damage import UnlessDamaged, may_be_damage, sound
from ..database.driver import Query
from ..database.rows import CONVERSATION, conversation
from ..database.scope import ALL, IDS, LIMIT, TENANT, Scope, beginning_with, begins, owned
from ..database.sweeping import EXPIRED
from ..database.tables import conversations, idempotency_keys
from ..database.types import UtcTime
from ..ledger.records import ConversationRecord
from ..model import ids

# What has expired is absent, swept or not.
KEPT = or_(
    conversations.c.expires_at.is_(None),
    conversations.c.expires_at > bindparam("now", type_=UtcTime),
)
_HEAD = Query(select(*CONVERSATION).where(owned(conversations)))
_HEADS = select(*CONVERSATION).where(
    conversations.c.tenant_id == TENANT, conversations.c.conversation_id.in_(IDS), KEPT
)
_MADE = _HEADS.with_only_columns(conversations.c.conversation_id, conversations.c.created_at)
_IDS = (
    select(conversations.c.conversation_id)
    .where(
        conversations.c.tenant_id == TENANT,
        conversations.c.conversation_id > bindparam("after"),
        KEPT,
    )
    .order_by(conversations.c.conversation_id)
    .limit(LIMIT)
)
_BEHIND = (
    select(*CONVERSATION)
    # Not a parameter: the index holds these alone, and must be recognised.
    .where(
        conversations.c.tenant_id == TENANT,
        conversations.c.indexed < conversations.c.version,
        KEPT,
    )
    .order_by(conversations.c.conversation_id)
    .limit(LIMIT)
)
_COUNTED = select(func.count()).select_from(
    select(conversations.c.conversation_id)
    .where(
        conversations.c.tenant_id == TENANT,
        begins(conversations.c.conversation_id),
    )
    .limit(LIMIT)
    .subquery()
)
_EXPIRED = select(func.count()).where(*EXPIRED)
_KEY = select(idempotency_keys.c.key_sha256).where(
    owned(idempotency_keys), idempotency_keys.c.key_sha256 == bindparam("key")
)


class Conversations(Scope):
    """The stored conversations."""

    def head(self, cid: str) -> ConversationRecord | None:
        """None, too, where it has expired and is not swept yet."""
        row = next(self._found(_HEAD, cid), None)
        record = conversation(row) if row else None
        return None if record and record.has_expired(datetime.now(UTC)) else record

    def heads(self, cids: Iterable[str]) -> dict[str, ConversationRecord]:
        """Those of these conversations that are there."""
        rows = self._among(_HEADS, None, cids, now=datetime.now(UTC))
        return {record.id: record for record in map(conversation, rows)}

    def made(self, cids: Iterable[str]) -> dict[str, datetime]:
        """When those of these conversations were made that are there."""
        rows = self._among(_MADE, None, cids, now=datetime.now(UTC))
        return {row.conversation_id: row.created_at for row in rows}

    def behind(self, limit: int) -> list[ConversationRecord]:
        """Conversations with turns that are not indexed yet; damaged ones never will be."""
        now = datetime.now(UTC)
        with UnlessDamaged():
            return [conversation(row) for row in self._run(_BEHIND, most=limit, now=now)]
        # With all that are damaged the limit may be reached before the others come.
        values = {"tenant": self._tenant_id, "most": ALL, "now": now}
        rows, _ = sound(self._connection, _BEHIND, values)
        return [conversation(row) for row in rows[:limit]]

    def count(self, prefix: str, most: int) -> int:
        """How many have ids with this prefix; beyond `most` nobody counts."""
        counted = self._run(_COUNTED, most=most, **beginning_with(prefix))
        return int(counted.scalar_one())

    def expired(self) -> int:
        """Counts those that are expired or erased, but not removed yet."""
        return int(self._run(_EXPIRED, now=datetime.now(UTC)).scalar_one())

    def has_key(self, cid: str, key: str) -> bool:
        """Whether this idempotency key was used."""
        return self._run(_KEY, cid, key=ids.fingerprint(key)).first() is not None

    def ids(self, limit: int, after: str | None = None) -> list[str]:
        """A page of ids, which are there where the rest is damaged; `after` is the last one of the
        page before."""
        values = {"tenant": self._tenant_id, "after": after or "", "now": datetime.now(UTC)}
        try:
            found = list(self._connection.execute(_IDS, values | {"most": limit}).scalars())
            if all(isinstance(cid, str) for cid in found):
                return found
        except DBAPIError as error:
            if not may_be_damage(error):
                raise
        # Ids that are damaged themselves are not found under any name.
        rows, _ = sound(self._connection, _IDS, values | {"most": ALL})
        return [row[0] for row in rows[:limit]]
