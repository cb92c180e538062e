"""Finds out whether a COMMIT that got no reply was carried out.

The number of the transaction alone does not say it. PostgreSQL may lose a transaction in a crash
and then give its number to another one, which is committed.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, select

from ..ledger.slice import Change
from .scope import owned
from .tables import conversations, turns

_TURN = select(turns.c.hash, turns.c.created_at).where(
    owned(turns), turns.c.seq == bindparam("the_seq")
)
_HEAD = select(conversations.c.seal, conversations.c.created_at).where(owned(conversations))


def is_stored(
    connection: Connection,
    tenant_id: str,
    changes: Mapping[str, Change[Any]],
    seals: Mapping[str, bytes],
) -> bool | None:
    """Returns True if the changes were committed, False if not, None if the rows cannot tell.

    The transaction is atomic, so one conversation decides. `seals`: the seal of each head that was
    written.
    """
    for cid, change in changes.items():
        whose = {"tenant": tenant_id, "conversation": cid}
        head = connection.execute(_HEAD, whose).one_or_none()
        is_written = cid in seals or change.erased
        if is_written and (head.seal if head else None) == seals.get(cid):
            return True
        if not change.turns or head is None:
            # Others may have changed it since, or erased it.
            continue
        # The creation time distinguishes the turn from a later one with equal content.
        last = change.turns[-1]
        row = connection.execute(_TURN, whose | {"the_seq": last.seq}).one_or_none()
        if row is not None:
            return tuple(row) == (last.hash, last.created_at)
        if change.head and head.created_at == change.head.created_at:
            return False
    return None
