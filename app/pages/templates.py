"""HTML from templates. Whatever a turn says is text: it is escaped, and what cannot be seen is
shown as a sign that can. Imported with the first page (`app.pages.page.rendered`)."""

import re
from datetime import datetime
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import WEB

# Control characters, marks that turn the direction of writing, and lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
# Colours for providers; the style sheet has so many.
_HUES = 8


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code == 0x0D:
        return ""
    return chr(0x2400 + code) if code < 0x20 else f"[U+{code:04X}]"


def _finalized(value: Any) -> Any:
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return _UNSEEN.sub(_sign, value) if is_text else value


def _moment(value: datetime | str) -> str:
    """To the second, in UTC as everything here."""
    text = value.isoformat() if isinstance(value, datetime) else value
    return f"{text[:10]} {text[11:19]}"


def _short(value: int) -> str:
    """A number of tokens or characters in little room."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.1f}".removesuffix(".0") + sign
    return str(value)


def _hue(provider: str) -> int:
    return sum(provider.encode("utf-8", "replace")) % _HUES


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(WEB / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
    finalize=_finalized,
)
_ENVIRONMENT.filters |= {"moment": _moment, "count": "{:,}".format, "short": _short, "hue": _hue}


def rendered(template: str, **values: Any) -> bytes:
    return _ENVIRONMENT.get_template(template).render(**values).encode("utf-8", "replace")
