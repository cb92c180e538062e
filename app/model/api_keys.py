"""API keys as values: whose they are and what they allow. Only the hash of a key is ever stored."""

import re
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Literal, TypeAlias

from .forms import CONVERSATION_ID

KeyScope: TypeAlias = Literal["read", "write", "admin"]
SCOPES: tuple[KeyScope, ...] = ("read", "write", "admin")
_TEXT = re.compile(r"tk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret. `prefix`: of all conversations it may use; limits are None where
    there are none, `requests` and `body_bytes` those of a minute."""

    id: str
    tenant_id: str
    name: str
    secret_sha256: bytes
    scopes: tuple[KeyScope, ...]
    prefix: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    requests: int | None = None
    body_bytes: int | None = None
    conversations: int | None = None

    def is_sound(self) -> bool:
        """Whether every value is one that a key can have."""
        limits = (self.requests, self.body_bytes, self.conversations)
        return (
            len(self.secret_sha256) == sha256().digest_size
            and bool(self.scopes)
            and CONVERSATION_ID.fits(self.tenant_id)
            and is_prefix(self.prefix)
            and all(limit is None or limit > 0 for limit in limits)
        )

    def allows(self, scope: KeyScope) -> bool:
        """Whoever may do everything may also read and write."""
        return scope in self.scopes or "admin" in self.scopes

    def holds(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def has(self, secret: str) -> bool:
        return compare_digest(self.secret_sha256, fingerprint(secret))


def fingerprint(secret: str) -> bytes:
    """Secrets are 32 random bytes: there is nothing to guess, so one round of hashing will do."""
    return sha256(secret.encode()).digest()


def written(key_id: str, secret: str) -> str:
    """A key as its owner sees it, once."""
    return f"tk_{key_id}_{secret}"


def read(text: str) -> tuple[str, str] | None:
    """The id and the secret of a key; None for what cannot be one."""
    found = _TEXT.fullmatch(text)
    return (found[1], found[2]) if found else None


def is_prefix(text: str) -> bool:
    """Whether a conversation id can begin like this."""
    return not text or CONVERSATION_ID.fits(text + "x")
