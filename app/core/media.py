"""Images and files: what a data URL holds, checked before any provider sees it."""

import base64
import binascii
import re
from dataclasses import dataclass

_DATA_URL = re.compile(
    r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?:;[^,]*?)?;base64,(?P<data>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class DataUrl:
    media_type: str
    data: str


def data_url(url: str) -> DataUrl | None:
    """The parts of a base64 data URL that can really be decoded, else None."""
    found = _DATA_URL.fullmatch(url)
    if not found or not found["data"]:
        return None
    try:
        base64.b64decode(found["data"], validate=True)
    except (binascii.Error, ValueError):
        return None
    return DataUrl((found["type"] or "application/octet-stream").lower(), found["data"])


def refusal(url: str, taken: frozenset[str]) -> str | None:
    """Why a wire that takes these media types refuses this one; None when it does not."""
    if url.startswith(("https://", "http://")):
        return None if "url" in taken else "this provider takes no addresses here"
    held = data_url(url)
    if held is None:
        return "it is not a readable data URL"
    if held.media_type not in taken:
        return f"this provider takes no {held.media_type} here"
    return None
