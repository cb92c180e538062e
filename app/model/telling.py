"""The sentences in which a request is told what is wrong: its subject first, then what must be.

Names stand in backticks, what the caller sent in quotes. A quoted word is short and printable;
everything else is told by its kind, so that no message content and no long text comes back.
"""

import re
from collections.abc import Iterable, Sequence

from .nearest import nearest

BAD_CURSOR = "`cursor` must be the `next_cursor` of the page before."
_LARGE, _DIGITS, _LONGEST = 10**20, 24, 64
# What a name may look like and still be repeated as it is.
_PLAIN = re.compile(r"[\w.:/@+=,*$#\[\]-]{1,64}")


def missing(name: str, expected: str | None = None) -> str:
    """`expected` has its article: "a string", "a list of messages"."""
    must = f" and must be {expected}" if expected else ""
    return f"`{name}` is required{must}."


def wrong_type(name: str, expected: str, value: object) -> str:
    """Both types are named: `messages` must be a list, not an object."""
    return f"`{name}` must be {expected}, not {kind(value)}."


def one_of(name: str, value: object, allowed: Sequence[str]) -> str:
    """A value outside a short list of words."""
    found = nearest(value, allowed) if isinstance(value, str) else None
    return f"`{name}` must be {either(allowed)}, not {quoted(value)}{did_you_mean(found)}"


def out_of_range(name: str, lowest: int, highest: int | None, value: object) -> str:
    """A number that is none, or one beyond its bounds; without a highest any larger one is fine."""
    bounds = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
    return f"`{name}` must be a whole number {bounds}, not {quoted(value)}."


def unknown(name: str, known: Iterable[str], what: str = "a member") -> str:
    """A member of a body, or a parameter of the query, that nobody reads."""
    names = list(dict.fromkeys(known))
    known_ones = f"Known: {', '.join(f'`{one}`' for one in names)}" if names else "There are none"
    subject = named(name)[:1].upper() + named(name)[1:]
    meant = did_you_mean(nearest(name, names), "`")
    return f"{subject} is not {what} here{meant} {known_ones}."


def did_you_mean(found: str | None, mark: str = "'") -> str:
    """The end of a sentence: the question for the word that was probably meant, if there is one."""
    return f"; did you mean {mark}{found}{mark}?" if found else "."


def kind(value: object) -> str:
    """What a JSON value is, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "another type"


def quoted(value: object) -> str:
    """A word as the caller wrote it; a long or strange one only by its length."""
    if isinstance(value, str):
        if not value:
            return "an empty string"
        return f"'{value}'" if _PLAIN.fullmatch(value) else f"a string of {len(value)} characters"
    if isinstance(value, int | float) and not isinstance(value, bool):
        # A number may remember its own text, which can be long however small it is.
        written = repr(value) if abs(value) < _LARGE else ""
        return written if 0 < len(written) <= _DIGITS else "a number of many digits"
    return kind(value)


def pointer(*steps: str | int) -> str:
    """A JSON pointer (RFC 6901) to a place in the body; names that are too long are cut."""
    return "".join(f"/{cut(str(step)).replace('~', '~0').replace('/', '~1')}" for step in steps)


def parameter(name: str) -> str:
    """The same for a parameter of the query."""
    return f"?{cut(name)}"


def bad_characters(subject: str, value: str, allowed: str, signs: str, longest: int) -> str:
    """An id or name that is too long or holds what it must not; `signs` is a class of `re`."""
    said = f"{subject} must have 1 to {longest} characters ({allowed})"
    if not value:
        return f"{said}; this one is empty."
    if len(value) > longest:
        return f"{said}; this one has {len(value)}."
    if wrong := re.search(f"[^{signs}]", value):
        return f"{said}; this one has {_sign(wrong[0])}."
    return f"{said}; it must not be {quoted(value)}."


def named(name: str) -> str:
    """A name that the caller chose, in backticks; a long or strange one only by its length."""
    if not name:
        return "the empty name"
    return f"`{name}`" if _PLAIN.fullmatch(name) else f"a name of {len(name)} characters"


def cut(name: str) -> str:
    """A name that may be long, in the words of somebody else."""
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


def either(words: Sequence[str]) -> str:
    """A list for people: auto, text or drop."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _sign(sign: str) -> str:
    if sign == " ":
        return "a space"
    return f"'{sign}'" if sign.isprintable() and sign.isascii() else f"U+{ord(sign):04X}"


def cell(text: str | None) -> str | None:
    """A cell of a table: a spreadsheet takes what begins with these signs for a formula, but not
    behind a quote."""
    return f"'{text}" if text and text[0] in "=+-@\t\r\n" else text
