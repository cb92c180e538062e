"""Idempotency keys and their receipts."""

from sqlalchemy import bindparam, select

from app.core.identity import ids
from app.storage.scope import Scope, owned
from app.storage.tables import idempotency_keys

_RECEIPT = select(
    idempotency_keys.c.body_sha256,
    idempotency_keys.c.status,
    idempotency_keys.c["answer"].label("receipt"),
).where(owned(idempotency_keys), idempotency_keys.c.key_sha256 == bindparam("key"))


class IdempotencyKeys(Scope):
    """The stored keys."""

    def receipt(self, cid: str, key: str) -> tuple[bytes, int | None, bytes | None] | None:
        """The hash of the body that used this key, with its receipt once there is one."""
        row = self._run(_RECEIPT, cid, key=ids.fingerprint(key)).one_or_none()
        return (row.body_sha256, row.status, row.receipt) if row else None
