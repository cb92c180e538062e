"""The stored API keys, of all tenants: who asks is not known before the key is found."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, literal_column, select, update

from ..database.damage import UnlessDamaged, sound
from ..database.scope import AnySelect
from ..database.tables import api_keys
from ..ledger.seals import api_key_seal
from ..model.api_keys import SCOPES, ApiKey

log = logging.getLogger(__name__)

_ROW = select(
    *(
        api_keys.c[name]
        for name in (
            *("key_id", "tenant_id", "name", "secret_sha256", "scopes", "prefix", "created_at"),
            *("expires_at", "revoked_at", "requests", "body_bytes", "conversations", "seal"),
        )
    )
)
_ONE = _ROW.where(api_keys.c.key_id == bindparam("id"))
_EVERY = _ROW.order_by(api_keys.c.created_at, api_keys.c.key_id)
_ANY: AnySelect = select(literal_column("1")).select_from(api_keys).limit(1)
_TENANTS = select(api_keys.c.tenant_id).distinct()
_REVOKE = (
    update(api_keys)
    .where(api_keys.c.key_id == bindparam("id"), api_keys.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("now"), seal=bindparam("sealed"))
)


class ApiKeys:
    """Keys are never removed: a revoked one still says that this service is used with keys."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def any(self) -> bool:
        return self._connection.execute(_ANY).first() is not None

    def find(self, key_id: str) -> ApiKey | None:
        """None, too, for one that is damaged; the log names it."""
        with UnlessDamaged():
            row = self._connection.execute(_ONE, {"id": key_id}).one_or_none()
            return _sealed(row) if row else None
        log.warning("the API key %s is damaged and not let in", key_id)
        return None

    def every(self) -> list[ApiKey]:
        return self._read()[0]

    def damaged(self) -> list[str]:
        """The ids of keys that cannot be read or were changed; they are let in nowhere."""
        return self._read()[1]

    def _read(self) -> tuple[list[ApiKey], list[str]]:
        rows, damaged = sound(self._connection, _EVERY, {})
        keys: list[ApiKey] = []
        for row in rows:
            try:
                keys.append(_sealed(row))
            except ValueError:
                damaged.append(row[0])
        return keys, damaged

    def tenants(self) -> set[str]:
        """Those of damaged keys are left out where they are damaged themselves."""
        return {row[0] for row in sound(self._connection, _TENANTS, {})[0]}

    def add(self, key: ApiKey) -> None:
        values: dict[str, object] = {
            name: getattr(key, name) for name in ApiKey.__slots__ if name != "id"
        }
        values |= {"key_id": key.id, "scopes": " ".join(key.scopes), "seal": api_key_seal(key)}
        self._connection.execute(insert(api_keys), values)

    def revoke(self, key_id: str, now: datetime) -> bool:
        """False where there is no such key, or it is revoked already. One that was changed is
        sealed as it stands: it opens nothing any more."""
        values: dict[str, object] = {"id": key_id, "now": now, "sealed": None}
        for row in sound(self._connection, _ONE, {"id": key_id})[0]:
            with suppress(ValueError):
                values["sealed"] = api_key_seal(replace(_key(row), revoked_at=now))
        return self._connection.execute(_REVOKE, values).rowcount == 1


def _sealed(row: Sequence[Any]) -> ApiKey:
    key = _key(row)
    if row[-1] != api_key_seal(key):
        raise ValueError("the key was changed")
    return key


def _key(row: Sequence[Any]) -> ApiKey:
    key_id, tenant_id, name, secret, scopes, *rest, _ = row
    named = scopes.split()
    key = ApiKey(
        key_id,
        tenant_id,
        name,
        bytes(secret),
        tuple(scope for scope in SCOPES if scope in named),
        *rest,
    )
    if len(key.scopes) != len(named) or not key.is_sound():
        raise ValueError("the key is damaged")
    return key
