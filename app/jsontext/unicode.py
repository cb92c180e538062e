"""Text that is no Unicode: lone surrogates, which every strict JSON reader refuses."""

import re

from ..model.json_values import Json

_LONE = re.compile(r"[\ud800-\udfff]")


def is_broken(text: str) -> bool:
    if text.isascii():
        return False
    try:
        # Quicker than a search.
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def mended(text: str) -> str:
    if not is_broken(text):
        return text
    return _LONE.sub("\N{REPLACEMENT CHARACTER}", text)


def mended_value(value: Json) -> Json:
    """The same for every text inside a value; the value itself when nothing is broken."""
    match value:
        case str():
            return mended(value)
        case list():
            return [mended_value(element) for element in value]
        case dict():
            return {mended(key): mended_value(member) for key, member in value.items()}
        case _:
            return value
