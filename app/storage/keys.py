"""Idempotency keys and their receipts."""

from sqlalchemy import bindparam, select

from app.core.identity import ids
from app.storage.scope import Scope, owned
from app.storage.tables import idempotency_keys

_KEY = select(idempotency_keys.c.key_sha256).where(
    owned(idempotency_keys), idempotency_keys.c.key_sha256 == bindparam("key")
)


class IdempotencyKeys(Scope):
    """The stored keys."""

    def has(self, cid: str, key: str) -> bool:
        """Whether the key was used."""
        return self._run(_KEY, cid, key=ids.fingerprint(key)).first() is not None
