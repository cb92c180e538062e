"""Likeness: whether two things say the same, whichever formats they came in.

Ids, the spelling of JSON, blanks at the ends and characters that are no Unicode text do not count:
renders and SDKs change them. What was said counts.
"""

import re
from collections import Counter
from dataclasses import replace
from math import isinf

from ..formats.shared.placeholders import ERROR_PREFIX, are_moved, is_placeholder, result_text
from ..formats.shared.tool_names import shown_name
from ..jsontext.arguments import object_of, parsed
from ..jsontext.unicode import mended, mended_value
from ..jsontext.writing import dumps
from ..model.conversation import Block, File, Image, Opaque, Text, Thinking, ToolCall, ToolResult
from ..model.errors import TurnkeepError
from ..model.json_values import Json, NumberText
from ..model.media import data_url

# Beyond this a float is no exact integer, and two numbers that differ would look the same.
_EXACT = 2**53


def plain(text: str) -> str:
    """A text as it is compared."""
    return mended(text).strip()


def value_key(value: Json) -> str:
    """A JSON value as text: equal for equal values, in whatever order and spelling."""
    match value:
        case dict():
            members = (f"{dumps(mended(key))}:{value_key(value[key])}" for key in sorted(value))
            return "{" + ",".join(members) + "}"
        case list():
            return "[" + ",".join(map(value_key, value)) + "]"
        case bool() | None:
            return dumps(value)
        case float() if abs(value) < _EXACT and value == int(value):
            return str(int(value))
        case NumberText() if isinf(value):
            return value.text
        case float():
            return repr(float(value))
        case int():
            return str(value)
        case str():
            return dumps(mended(value))


def same_call(told: ToolCall, stored: ToolCall, names: re.Pattern[str]) -> bool:
    """`names`: those that the format of the told one takes; others are shown under mapped names."""
    if told.name not in (stored.name, shown_name(stored.name, names)):
        return False
    if told.arguments == stored.arguments:
        return True
    told_object, stored_object = object_of(told.arguments), object_of(stored.arguments)
    if told_object[2] == stored_object[2] == "ARGS_UNPARSEABLE":
        # Both may be JSON, with numbers that no wire can show.
        told_key = _json_key(told.arguments)
        return told_key is not None and told_key == _json_key(stored.arguments)
    return value_key(told_object[1]) == value_key(mended_value(stored_object[1]))


def same_result(told: ToolResult, stored: ToolResult) -> bool:
    """The words and the media; whether a format has a flag for failures does not count."""
    told_media, stored_media = _media(told), _media(stored)
    if told_media and told_media != stored_media:
        return False
    told_words, stored_words = _words(told), _words(stored)
    if told_words == stored_words:
        return True
    if told.status == stored.status == "denied" and not (told.error and stored.error):
        # Not every format, nor every release, says why.
        return True
    if told.error and stored.error and plain(told.error) == plain(stored.error):
        # The same failure. What was given beside it may be spelled in another way.
        return same_result(replace(told, error=None), replace(stored, error=None))
    told_value, stored_value = _value(told, told_words), _value(stored, stored_words)
    return told_value is not None and told_value == stored_value


def media_key(block: Image | File) -> str | tuple[str, bytes]:
    """A picture or file by its content, or by its address."""
    held = data_url(block.url)
    return mended(block.url) if held is None else (held.media_type, held.content)


def is_unspoken(block: Block) -> bool:
    """What renders may leave out without a word in its place."""
    is_blank = isinstance(block, Text) and not block.text.strip()
    return is_blank or isinstance(block, Thinking | Opaque)


def unspoken_key(block: Block) -> str:
    """What is unspoken, by its content."""
    match block:
        case Thinking():
            return f"thinking {dumps(plain(block.text))} {value_key(_given(block.native))}"
        case Opaque():
            return f"{block.kind} {value_key(_given(block.native))}"
        case _:
            return "blank"


def _given(value: Json) -> Json:
    """A value without members that are null: dumps of SDKs write them for what was not given."""
    match value:
        case dict():
            return {key: _given(one) for key, one in value.items() if one is not None}
        case list():
            return list(map(_given, value))
        case _:
            return value


def says_nothing(result: ToolResult) -> bool:
    """Whether a result is our own placeholder for one that was never recorded."""
    return is_placeholder(_words(result))


def _words(result: ToolResult) -> str:
    return plain(plain(result_text(result)).removeprefix(ERROR_PREFIX))


def moved_media(told: ToolResult | None, stored: ToolResult) -> Counter[object]:
    """Media of a stored result that stand behind it in a list, as the told one says; where none is
    told, any of them may."""
    if told is None:
        return Counter(_media(stored))
    if not any(moved := are_moved(result_text(told))):
        return Counter()
    # What the tool itself said stands before our words.
    pairs = zip(reversed(_media(stored)), reversed(moved), strict=False)
    return Counter(key for key, is_moved in pairs if is_moved)


def _media(result: ToolResult) -> list[object]:
    return [media_key(part) for part in result.parts or () if isinstance(part, Image | File)]


def given_value(result: ToolResult) -> str | None:
    """The value of a result, where it came as one that is no text."""
    is_value = result.parts is None and not isinstance(result.result, str) and not result.error
    return value_key(result.result) if is_value else None


def _value(result: ToolResult, words: str) -> str | None:
    """The value of a result, also where it came as the text of one."""
    if (given := given_value(result)) is not None:
        return given
    return _json_key(words) if words.startswith(("{", "[")) else None


def _json_key(text: str) -> str | None:
    """The key of the value that a JSON text says."""
    try:
        return value_key(parsed(text))
    except TurnkeepError:
        return None
