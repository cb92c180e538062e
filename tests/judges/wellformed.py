"""What every wire demands of plain values: real Unicode, real JSON, real base64.

Knows no provider. Each function answers with complaints, or with the reason why not.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re

_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+(;[\w.+-]+=[^;,]*)*;base64,(?P<data>.*)", re.DOTALL)


def value_faults(value: object, where: str = "request") -> list[str]:
    """Lone surrogates (keys too), NaN, infinities, and whatever JSON cannot carry."""
    match value:
        case None | bool() | int():
            return []
        case str():
            return [f"{where}: lone surrogate in the text"] if has_lone_surrogate(value) else []
        case float():
            return [] if math.isfinite(value) else [f"{where}: {value} is not JSON"]
        case list():
            return [
                f for at, each in enumerate(value) for f in value_faults(each, f"{where}[{at}]")
            ]
        case dict():
            faults = []
            for key, each in value.items():
                if not isinstance(key, str):
                    faults.append(f"{where}: key {key!r} is not text")
                elif has_lone_surrogate(key):
                    faults.append(f"{where}: lone surrogate in key {key!a}")
                faults += value_faults(each, f"{where}.{ascii(key)[1:-1]}")
            return faults
        case _:
            return [f"{where}: {type(value).__name__} is not a JSON value"]


def has_lone_surrogate(text: str) -> bool:
    """A JSON text of it is not valid UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def object_text(text: object) -> tuple[object, str | None]:
    """Read `text` as the JSON text of an object: the value, and what is wrong with it."""
    if not isinstance(text, str):
        return text, f"must be JSON text, got {type(text).__name__}"
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return text, f"does not parse as JSON: {error}"
    if not isinstance(value, dict):
        return value, f"must be the text of an object, got {type(value).__name__}"
    faults = value_faults(value, "arguments")
    return value, faults[0] if faults else None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def base64_fault(data: object) -> str | None:
    """Why `data` is not base64 of at least one byte."""
    if not isinstance(data, str) or not data:
        return "media data is empty or not text"
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        return f"media data is not base64: {error}"
    return None


def url_fault(url: object) -> str | None:
    """Why `url` is neither a web address nor a well-formed base64 data URL."""
    if not isinstance(url, str):
        return "media address is not text"
    if re.match(r"https?://\S+\Z", url):
        return None
    found = _DATA_URL.fullmatch(url)
    if not found:
        return f"media address is neither http(s) nor a base64 data URL: {url[:40]!a}"
    return base64_fault(found["data"])


def file_fault(data: object) -> str | None:
    """Why `data` is neither a base64 data URL nor plain base64."""
    inline = isinstance(data, str) and data.startswith("data:")
    return url_fault(data) if inline else base64_fault(data)


def is_blank(text: object) -> bool:
    """No text, or only white space."""
    return not isinstance(text, str) or not text.strip()


def objects(value: object) -> list[dict[str, object]]:
    """The objects of a list; anything else is left to the shape check, which has named it."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def leaves(value: object) -> list[str]:
    """Every scalar inside a value as a reader sees it: texts as they are, the rest as JSON."""
    match value:
        case str():
            return [value]
        case list():
            return [leaf for each in value for leaf in leaves(each)]
        case dict():
            return [leaf for each in value.values() for leaf in leaves(each)]
        case _:
            return [json.dumps(value, default=str)]
