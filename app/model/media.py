"""Images and files: what a data URL holds, checked before any provider sees it."""

import base64
import binascii
import re

from .value import dataclass

_DATA_URL = re.compile(
    r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?:;[^,]*?)?;base64,(?P<data>.*)", re.DOTALL
)
_ADDRESS = re.compile(r"https?://[^\s\ud800-\udfff]+")
_URL_SAFE = str.maketrans("-_", "+/")
_SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


@dataclass(frozen=True, slots=True)
class DataUrl:
    media_type: str
    data: str
    content: bytes

    def sniffed(self) -> str | None:
        """The media type that the first bytes tell, where they do."""
        if self.content[:4] == b"RIFF" and self.content[8:12] == b"WEBP":
            return "image/webp"
        return next((kind for sign, kind in _SIGNS if self.content.startswith(sign)), None)

    def longest_side(self) -> int | None:
        """The pixels of the longer side, where the header says them at a fixed place."""
        if self.sniffed() == "image/png" and len(self.content) >= 24:
            return max(int.from_bytes(self.content[16:20]), int.from_bytes(self.content[20:24]))
        if self.sniffed() == "image/gif" and len(self.content) >= 10:
            width = int.from_bytes(self.content[6:8], "little")
            return max(width, int.from_bytes(self.content[8:10], "little"))
        if self.sniffed() == "image/jpeg":
            return _jpeg_side(self.content)
        return None


def is_base64(text: str) -> bool:
    """Whether the text is base64 in the usual or the URL's alphabet, padded or not.

    The last character has no bits to spare: strict readers refuse what could not be written so.
    """
    usual = (text + "=" * (-len(text) % 4)).translate(_URL_SAFE)
    try:
        content = base64.b64decode(usual, validate=True)
    except (binascii.Error, ValueError):
        return False
    return base64.b64encode(content).decode() == usual


def plain_base64(text: str) -> str:
    """The same bytes in the usual alphabet, padded; anything else as it is."""
    if not is_base64(text):
        return text
    return text.translate(_URL_SAFE) + "=" * (-len(text) % 4)


def data_url(url: str) -> DataUrl | None:
    """The parts of a base64 data URL that can really be decoded, else None."""
    found = _DATA_URL.fullmatch(url)
    if not found or not found["data"]:
        return None
    try:
        content = base64.b64decode(found["data"], validate=True)
    except (binascii.Error, ValueError):
        return None
    media_type = (found["type"] or "application/octet-stream").lower()
    return DataUrl(media_type, found["data"], content)


def refusal(url: str, taken: frozenset[str], most_bytes: int, most_pixels: int) -> str | None:
    """Why a wire that takes these media types refuses this one; None when it does not."""
    if _ADDRESS.fullmatch(url):
        return None if "url" in taken else "this provider takes no addresses here"
    held = data_url(url)
    if held is None:
        return "it is not a readable data URL"
    if held.media_type not in taken:
        return f"this provider takes no {held.media_type} here"
    if (found := held.sniffed()) and found != held.media_type:
        return f"it is declared as {held.media_type} but is {found}"
    if len(held.content) > most_bytes:
        return f"its {len(held.content)} bytes are more than the {most_bytes} this provider takes"
    if (side := held.longest_side()) and side > most_pixels:
        return f"its {side} pixels are more than the {most_pixels} this provider takes"
    return None


def _jpeg_side(content: bytes) -> int | None:
    """JPEG: the size stands in the frame header, behind any number of other segments."""
    place = 2
    while place + 9 <= len(content) and content[place] == 0xFF:
        marker, length = content[place + 1], int.from_bytes(content[place + 2 : place + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height = int.from_bytes(content[place + 5 : place + 7])
            return max(height, int.from_bytes(content[place + 7 : place + 9]))
        place += 2 + length
    return None
