"""Seeing what of a list is stored: the history, and what replays make of it, held against the list.

This only reads. Whoever writes later checks that the history is still the one that was seen.
"""

from dataclasses import dataclass

from ..formats.registry import CODECS, ID_RULES
from ..jsontext.reading import loads
from ..ledger.book import Book
from ..ledger.rules import match
from ..ledger.slice import History
from ..model.conversation import ToolResult, Turn
from ..model.limits import UNLIMITED
from ..replay.options import ReplayOptions
from ..replay.rendering import Loaded, render
from ..replay.unstored import assigned, remember
from ..turns.turnform import read_turn
from .messagelist import MessageList
from .recognising import Recognised, Recognising, Told
from .retelling import Difference


@dataclass(frozen=True, slots=True)
class Seen:
    """The outcome, and the head of the chain of turns that it is true for."""

    head_hash: bytes
    found: Recognised | Difference


def look(history: History, messages: MessageList) -> Seen:
    turns = [read_turn(record) for record in history.turns]
    book, target = history.book, messages.format
    loaded = Loaded(turns, history.links, assigned(book, target))
    found = Recognising(
        Told(turns, history.links),
        messages.told,
        CODECS[target].profile.names,
        lambda: shown_results(loaded, target),
        shown_calls(loaded, target),
        lambda result: named_call(book, result),
        lambda seq, turn: _completes(messages, seq, turn),
    ).outcome()
    return Seen(history.head_hash, found)


def named_call(book: Book, result: ToolResult) -> str | None:
    """The stored call that a result names by an id."""
    found = match(result, book, ID_RULES.prefixes).call if result.call_id or result.raw_id else None
    return found.id if found else None


def _completes(messages: MessageList, seq: int, turn: Turn) -> bool:
    """Whether a message may be the whole of an interrupted turn, as under its turn id."""
    draft = messages.messages[seq - 1].draft
    if draft.speaker != turn.speaker or not messages.is_turn(seq - 1):
        return False
    if any(isinstance(block, ToolResult) for block in draft.blocks):
        return False
    return (draft.provider or messages.members["provider"]) == turn.provider


def shown_calls(loaded: Loaded, target: str) -> dict[str, str]:
    """The calls by the ids under which a replay shows them."""
    return {shown: call_id for call_id, shown in loaded.provider_ids(target).items()}


def shown_results(loaded: Loaded, target: str) -> dict[str, list[ToolResult]]:
    """The result that a replay shows for each call, as the target's format reads it back."""
    codec = CODECS[target]
    rendered = render(loaded, ReplayOptions(target, tools="omit")).render
    texts = [line.decode() for line in rendered.lines()]
    if not texts:
        return {}
    messages = [loads(text, UNLIMITED) for text in texts]
    read = codec.parse({codec.messages: messages}, {codec.messages: texts})
    told = remember(read, "list")
    calls = shown_calls(loaded, target)
    raw_ids = {call.id: call.raw_id or "" for turn in told.turns for call in turn.calls()}
    read_links = told.links()
    found: dict[str, list[ToolResult]] = {}
    for turn in told.turns:
        for place, result in turn.results():
            link = read_links.get((turn.seq, place))
            if link and (call_id := calls.get(raw_ids[link.call_id])):
                found.setdefault(call_id, []).append(result)
    return found
