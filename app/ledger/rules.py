"""How a result finds its call.

Raw ids repeat, are lost, are decorated by gateways, or are those that another provider's replay
showed. So a result is never hashed; it is looked up among the conversation's calls, by a fixed list
of rules, and the match says which one held.
"""

from ..model import ids
from ..model.conversation import ToolResult
from ..model.value import dataclass
from .book import Book, KeyKind
from .records import Call, MatchedBy


@dataclass(frozen=True, slots=True)
class Match:
    """The call that a result belongs to, by which rule, and whether it had a result before."""

    call: Call | None
    matched_by: MatchedBy
    repeat: bool = False


def match(result: ToolResult, book: Book, prefixes: tuple[str, ...]) -> Match:
    """The call a result belongs to, by the first rule that holds."""
    raw_id = result.call_id or result.raw_id
    if not raw_id:
        return _without_id(result, book)
    if ids.is_canonical(raw_id) and (call := book.by_canonical(raw_id)):
        return Match(call, "canonical", repeat=call.answered)
    names = result_names(raw_id)
    for kind, name in names:
        if call := book.open(kind, name) or _unprefixed(kind, name, book, prefixes, answered=False):
            return Match(call, kind)
    for kind, name in names:
        if call := book.answered(kind, name) or _unprefixed(
            kind, name, book, prefixes, answered=True
        ):
            return Match(call, kind, repeat=True)
    return Match(None, "none")


def result_names(raw_id: str) -> list[tuple[KeyKind, str]]:
    """As what a call may be known that a result names by this id, the strongest first."""
    names: list[tuple[KeyKind, str]] = [("raw", raw_id), ("provider_id", raw_id)]
    if core := ids.normalized(raw_id):
        names.append(("normalized", core))
    return names


def _unprefixed(
    kind: KeyKind, name: str, book: Book, prefixes: tuple[str, ...], *, answered: bool
) -> Call | None:
    """Most targets show the canonical id behind a prefix of their own."""
    if kind != "provider_id" or not (canonical := ids.from_prefixed(name, prefixes)):
        return None
    call = book.by_canonical(canonical)
    return call if call and call.answered is answered else None


def _without_id(result: ToolResult, book: Book) -> Match:
    """The newest turn with an open call of the tool; if no call of it is open, the newest turn
    with any open call. In either the oldest call comes first."""
    if result.name and (call := book.open("name", result.name)):
        return Match(call, "name")
    if call := book.newest_open():
        return Match(call, "position")
    return Match(None, "none")
