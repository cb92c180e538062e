"""Mistral: the chat shape with ids of nine letters and digits.

mistral-common: the validators up to v11 take nothing else; `name` stands on tool messages; no user
message directly behind a tool message (the hosted API's code 3230); the last message is not the
assistant's unless it says `prefix`.
"""

import hashlib
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from ..model.conversation import ToolCall
from .chat import chat_codec
from .chat.messages import FILE_ID, WIRE, Dialect
from .shared.profile import BOTH, Profile, keeping
from .shared.tool_rules import ToolRules

_OWN = re.compile(r"[A-Za-z0-9]{9}")
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


@dataclass(frozen=True, slots=True)
class NineCharacters:
    """Mistral's own id, then hashes of the canonical id with a salt that counts up."""

    signs: str = _BASE62
    form: str = "nine letters and digits"

    def candidates(self, call: ToolCall, highest: int) -> Iterator[tuple[str, int | None]]:
        if call.raw_id and _OWN.fullmatch(call.raw_id):
            yield call.raw_id, None
        for salt in count():
            yield self.hashed(call.id, salt), None

    def hashed(self, canonical: str, salt: int) -> str:
        return _hashed(self.signs, canonical, salt)


# An append asks twice: for what it must know, and when it decides.
@lru_cache(maxsize=256)
def _hashed(signs: str, canonical: str, salt: int) -> str:
    number = int.from_bytes(hashlib.sha256(f"{canonical}|{salt}".encode()).digest(), "big")
    # Only the last nine digits count, and small numbers are divided in half the time.
    number %= len(signs) ** 9
    letters = []
    for _ in range(9):
        number, place = divmod(number, len(signs))
        letters.append(signs[place])
    return "".join(letters)


CODEC = chat_codec(
    Profile(
        assigns_ids=True,
        alternate=BOTH,
        first_user=True,
        user_after_results=False,
        last="prefix",
        trims_end=True,
        inner_system="user",
        wire=WIRE,
        issuers=frozenset({"mistral"}),
        thinking=True,
        home=True,
        keeps_opaque=keeping(FILE_ID),
        images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
    ),
    # mistral-common: Function.strict.
    ToolRules(strict=True, described=True),
    NineCharacters(),
    Dialect(string_content=True, names_results=True, thinks_in_content=True),
    nicknames=("magistral", "codestral"),
)
