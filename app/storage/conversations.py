"""The heads of conversations."""

from sqlalchemy import bindparam, func, select

from app.core.ledger.records import ConversationRecord
from app.storage.rows import CONVERSATION
from app.storage.scope import LIMIT, TENANT, Scope, beginning_with, begins, owned
from app.storage.tables import conversations

_HEAD = select(*CONVERSATION).where(owned(conversations))
_CONVERSATIONS = (
    select(*CONVERSATION)
    .where(
        conversations.c.tenant_id == TENANT,
        conversations.c.conversation_id > bindparam("after"),
    )
    .order_by(conversations.c.conversation_id)
    .limit(LIMIT)
)
_BEHIND = (
    select(*CONVERSATION)
    # Not a parameter: the index holds these alone, and must be recognised.
    .where(conversations.c.tenant_id == TENANT, conversations.c.indexed < conversations.c.version)
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


class Conversations(Scope):
    """The stored conversations."""

    def head(self, cid: str) -> ConversationRecord | None:
        row = self._run(_HEAD, cid).one_or_none()
        return ConversationRecord(*row) if row else None

    def behind(self, limit: int) -> list[ConversationRecord]:
        """Conversations with turns that are not indexed yet."""
        return [ConversationRecord(*row) for row in self._run(_BEHIND, most=limit)]

    def count(self, prefix: str, most: int) -> int:
        """How many have ids with this prefix; beyond `most` nobody counts."""
        counted = self._run(_COUNTED, most=most, **beginning_with(prefix))
        return int(counted.scalar_one())

    def page(self, limit: int, after: str | None = None) -> list[ConversationRecord]:
        """A page of conversations by id; `after` is the last id of the page before."""
        rows = self._run(_CONVERSATIONS, after=after or "", most=limit)
        return [ConversationRecord(*row) for row in rows]
