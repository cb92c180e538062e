"""Identity: pure functions from what was said to the names it keeps.

Turn ids, canonical ids of tool calls, and the prefix functions that older histories used. Frozen by
`tests/vectors/`: a change here renames calls in stored histories.
"""

import base64
import hashlib
import re
from functools import lru_cache

from .media import is_base64

CANONICAL_PREFIX = "hist_tool_"
CANONICAL = re.compile(r"hist_tool_[A-Za-z0-9_-]{24}")

# The forms that older histories swapped, and the prefix of each.
SWAPPED = {"openai": "call_", "history": CANONICAL_PREFIX, "anthropic": "toolu_"}
_STRIPPED = ("hist_tool_", "toolu_", "call_", "fc_", "call")


def turn_id(conversation_id: str, seq: int) -> str:
    """The id of a turn whose caller minted none; `seq` is its 1-based place."""
    return "turn_" + _short_hash(f"{conversation_id}|{seq}")


# An append asks twice: for what it must know, and when it decides.
@lru_cache(maxsize=256)
def canonical_id(provider: str, raw_id: str | None, name: str, turn: str, call_index: int) -> str:
    """The one id of a call. All five fields always take part; a missing one keeps its slot."""
    return canonical_of(canonical_input(provider, raw_id, name, turn, call_index))


def canonical_input(
    provider: str, raw_id: str | None, name: str, turn: str, call_index: int
) -> str:
    """The text whose hash is the canonical id."""
    fields = (provider, raw_id or "", name, turn, str(call_index))
    plain = "|".join(fields)
    if "\\" not in plain and plain.count("|") == len(fields) - 1:
        return plain
    return "|".join(field.replace("\\", "\\\\").replace("|", "\\|") for field in fields)


def canonical_of(text: str) -> str:
    """The canonical id that such a text gives."""
    return CANONICAL_PREFIX + _short_hash(text)


def is_canonical(text: str) -> bool:
    return CANONICAL.fullmatch(text) is not None


def with_prefix(canonical: str, prefix: str) -> str:
    """How wires with free ids show a call: another prefix, the same 24 characters."""
    return prefix + canonical.removeprefix(CANONICAL_PREFIX)


def from_prefixed(shown: str, prefixes: tuple[str, ...]) -> str | None:
    """The canonical id behind an id that a replay showed, if it has that form."""
    for prefix in prefixes:
        if shown.startswith(prefix):
            candidate = CANONICAL_PREFIX + shown[len(prefix) :]
            if is_canonical(candidate):
                return candidate
    return None


def signature_in(raw_id: str | None) -> str | None:
    """Gemini's thought signature, where a gateway has put it into the id."""
    signature = (raw_id or "").partition("__thought__")[2]
    return signature if signature and is_base64(signature) else None


def normalized(raw_id: str) -> str:
    """What is left of a raw id without the decorations that gateways add or lose."""
    core = raw_id.split("|", 1)[0].split("__thought__", 1)[0]
    for prefix in _STRIPPED:
        if core.startswith(prefix):
            return core[len(prefix) :]
    return core


def swapped(any_id: str, wanted: str) -> str:
    """The id under the prefix that is wanted; an unknown form is prefixed as it is."""
    if any_id.startswith(wanted):
        return any_id
    # Seed 003 turns `fc_xyz` into `toolu_xyz`; seed 000 leaves unknown prefixes where they are.
    more = ("fc_",) if wanted == SWAPPED["anthropic"] else ()
    known = next((one for one in (*SWAPPED.values(), *more) if any_id.startswith(one)), "")
    return wanted + any_id.removeprefix(known)


def fingerprint(text: str) -> bytes:
    """The key under which unbounded text is indexed. Lone surrogates have one too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _short_hash(text: str) -> str:
    return base64.urlsafe_b64encode(fingerprint(text)).decode()[:24]
