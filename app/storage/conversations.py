"""The heads of conversations."""

from datetime import UTC, datetime

from sqlalchemy import bindparam, or_, select

from app.core.ledger.records import ConversationRecord
from app.storage.rows import CONVERSATION
from app.storage.scope import LIMIT, TENANT, Scope, owned
from app.storage.tables import conversations
from app.storage.types import UtcTime

# What has expired is absent, swept or not.
KEPT = or_(
    conversations.c.expires_at.is_(None),
    conversations.c.expires_at > bindparam("now", type_=UtcTime),
)
_HEAD = select(*CONVERSATION).where(owned(conversations))
_CONVERSATIONS = (
    select(*CONVERSATION)
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


class Conversations(Scope):
    """The stored conversations."""

    def head(self, cid: str) -> ConversationRecord | None:
        """None, too, where it has expired and is not swept yet."""
        row = self._run(_HEAD, cid).one_or_none()
        record = ConversationRecord(*row) if row else None
        return None if record and record.has_expired(datetime.now(UTC)) else record

    def behind(self, limit: int) -> list[ConversationRecord]:
        """Conversations with turns that are not indexed yet."""
        rows = self._run(_BEHIND, most=limit, now=datetime.now(UTC))
        return [ConversationRecord(*row) for row in rows]

    def page(self, limit: int, after: str | None = None) -> list[ConversationRecord]:
        """A page of conversations by id; `after` is the last id of the page before."""
        rows = self._run(_CONVERSATIONS, after=after or "", most=limit, now=datetime.now(UTC))
        return [ConversationRecord(*row) for row in rows]
