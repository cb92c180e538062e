"""The stored API keys, of all tenants: who asks is not known before the key is found."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from app.core.access import SCOPES, ApiKey
from app.storage.tables import api_keys

_ROW = select(
    *(
        api_keys.c[name]
        for name in (
            *("key_id", "tenant_id", "name", "secret_sha256", "scopes", "prefix", "created_at"),
            *("expires_at", "revoked_at", "requests", "body_bytes", "conversations"),
        )
    )
)
_ONE = _ROW.where(api_keys.c.key_id == bindparam("id"))
_EVERY = _ROW.order_by(api_keys.c.created_at, api_keys.c.key_id)
_ANY = select(api_keys.c.key_id).limit(1)
_TENANTS = select(api_keys.c.tenant_id).distinct()
_REVOKE = (
    update(api_keys)
    .where(api_keys.c.key_id == bindparam("id"), api_keys.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("now"))
)


class ApiKeys:
    """Keys are never removed: a revoked one still says that this service is used with keys."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def any(self) -> bool:
        return self._connection.execute(_ANY).first() is not None

    def find(self, key_id: str) -> ApiKey | None:
        row = self._connection.execute(_ONE, {"id": key_id}).one_or_none()
        return _key(*row) if row else None

    def every(self) -> list[ApiKey]:
        return [_key(*row) for row in self._connection.execute(_EVERY)]

    def tenants(self) -> set[str]:
        return set(self._connection.execute(_TENANTS).scalars())

    def add(self, key: ApiKey) -> None:
        values: dict[str, object] = {
            name: getattr(key, name) for name in ApiKey.__slots__ if name != "id"
        }
        values |= {"key_id": key.id, "scopes": " ".join(key.scopes)}
        self._connection.execute(insert(api_keys), values)

    def revoke(self, key_id: str, now: datetime) -> bool:
        """False where there is no such key, or it is revoked already."""
        return self._connection.execute(_REVOKE, {"id": key_id, "now": now}).rowcount == 1


def _key(key_id: str, tenant_id: str, name: str, secret: bytes, scopes: str, *rest: Any) -> ApiKey:
    known = tuple(scope for scope in SCOPES if scope in scopes.split())
    return ApiKey(key_id, tenant_id, name, bytes(secret), known, *rest)
