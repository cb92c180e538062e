"""Making API keys."""

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from ..model.api_keys import SCOPES, ApiKey, KeyScope, fingerprint, is_prefix, written
from ..model.errors import RuleBroken
from ..model.forms import CONVERSATION_ID


def made(
    tenant_id: str,
    name: str,
    scopes: Iterable[KeyScope],
    *,
    prefix: str = "",
    expires_in: timedelta | None = None,
    requests: int | None = None,
    body_bytes: int | None = None,
    conversations: int | None = None,
) -> tuple[ApiKey, str]:
    """A new key, and its text, which is nowhere kept."""
    if not CONVERSATION_ID.fits(tenant_id):
        raise RuleBroken(
            "The name of a tenant must have the form of a conversation id:"
            " 1 to 128 letters, digits and . _ : @ + = , -"
        )
    if not is_prefix(prefix):
        raise RuleBroken("`prefix` must be the beginning of a conversation id.")
    asked = frozenset(scopes)
    if not asked:
        raise RuleBroken(f"A key must have at least one scope: {', '.join(SCOPES)}.")
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    now = datetime.now(UTC)
    key = ApiKey(
        key_id,
        tenant_id,
        name,
        fingerprint(secret),
        tuple(scope for scope in SCOPES if scope in asked),
        prefix,
        now,
        expires_at=now + expires_in if expires_in else None,
        requests=requests,
        body_bytes=body_bytes,
        conversations=conversations,
    )
    return key, written(key_id, secret)
