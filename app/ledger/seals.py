"""Seals: hashes of what the chain of turns does not hold, so that a change of it shows.

The head of a conversation has one, each receipt that is kept under an idempotency key and each API
key have one, and tool sets are chained like turns; the head's seal holds the end of that chain.
There is no key in them: they find accidents and careless hands. Who writes all hashes anew is found
by an anchor.
"""

import hashlib
from datetime import UTC, datetime
from functools import lru_cache

from ..jsontext.writing import dumps
from ..model.api_keys import ApiKey
from ..model.json_values import Json
from .records import ConversationRecord, ToolSetRecord


def head_seal(tenant_id: str, head: ConversationRecord) -> bytes:
    return _sealed(
        tenant_id,
        head.id,
        head.title,
        _digest(head.metadata),
        head.version,
        head.head_hash.hex(),
        head.orphans,
        _time(head.created_at),
        _time(head.updated_at),
        *(head.input_tokens, head.output_tokens, head.cached_tokens, head.reasoning_tokens),
        head.indexed,
        head.tools_hash.hex(),
        head.expires_after,
        _optional(head.expires_at),
    )


def tool_set_hash(before: bytes, one: ToolSetRecord) -> bytes:
    """The link of a tool set in the chain behind another one."""
    return _sealed(
        before.hex(),
        one.number,
        one.at_version,
        one.provider,
        one.format,
        _digest(one.payload),
        _digest(one.definitions),
        _time(one.created_at),
    )


def key_seal(
    tenant_id: str,
    cid: str,
    key_sha256: bytes,
    body_sha256: bytes,
    status: int | None,
    receipt: bytes | None,
) -> bytes:
    said = None if receipt is None else _digest(receipt)
    return _sealed(tenant_id, cid, key_sha256.hex(), body_sha256.hex(), status, said)


def api_key_seal(key: ApiKey) -> bytes:
    return _sealed(
        key.id,
        key.tenant_id,
        key.name,
        key.secret_sha256.hex(),
        list(key.scopes),
        key.prefix,
        _time(key.created_at),
        *(_optional(key.expires_at), _optional(key.revoked_at)),
        *(key.requests, key.body_bytes, key.conversations),
    )


def _sealed(*facts: Json) -> bytes:
    return hashlib.sha256(dumps([*facts]).encode()).digest()


def _digest(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


# The heads of a group were changed at the same moment.
@lru_cache(maxsize=16)
def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _optional(moment: datetime | None) -> str | None:
    return None if moment is None else _time(moment)
