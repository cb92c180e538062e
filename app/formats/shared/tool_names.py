"""Tool names on wires that refuse some: mapped, so that different names stay different."""

import hashlib
import re

_REFUSED = re.compile(r"[^a-zA-Z0-9_-]+")


def shown_name(name: str, allowed: re.Pattern[str]) -> str:
    """The name itself where it is allowed; else its readable part and eight digits of its hash."""
    if allowed.fullmatch(name):
        return name
    readable = _REFUSED.sub("_", name).strip("_-")[:48] or "invalid_tool"
    digits = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    mapped = f"{readable}_{digits}"
    return mapped if allowed.fullmatch(mapped) else f"tool_{mapped}"
