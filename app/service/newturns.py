"""What is new of a list that was recognised, as turns to be appended.

Of a message that is stored in part only the other blocks become a turn; its payload stays whole. A
placeholder that a replay showed for a missing result is never taken for a result.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.codecs import PREFIXES
from app.core.conversation import Block, Draft, Remark, ToolResult, Turn
from app.core.ledger.book import Book
from app.core.ledger.rules import match
from app.core.sync.likeness import is_unspoken, says_nothing
from app.core.sync.recognising import Recognised, Told
from app.service.messagelist import MessageList
from app.service.posting import Post


@dataclass(frozen=True, slots=True)
class _Mark:
    """What is known of a block in the list. `call_id`: the stored call that a result answers."""

    is_new: bool
    call_id: str | None = None


def new_turns(messages: MessageList, found: Recognised, new: Sequence[int], book: Book) -> Post:
    """The messages with these numbers in the list, counted from 1."""
    post = messages.post({seq - 1 for seq in new})
    told = messages.told
    marks = iter(
        [mark for turn in told.turns if turn.seq in new for mark in _marks(turn, told, found)]
    )
    drafts = tuple(
        _without_known(draft, [next(marks) for _ in draft.blocks], book) for draft in post.drafts
    )
    return replace(post, drafts=drafts)


def _marks(turn: Turn, told: Told, found: Recognised) -> Iterator[_Mark]:
    known, new = found.known.get(turn.seq, set()), found.new.get(turn.seq, set())
    for place, block in enumerate(turn.blocks or ()):
        # What is not compared belongs to what it stands in front of.
        is_new = place in new or (is_unspoken(block) and place > max(known, default=-1))
        link = told.links.get((turn.seq, place))
        yield _Mark(is_new, found.calls.get(link.call_id) if link else None)


def _without_known(draft: Draft, marks: Sequence[_Mark], book: Book) -> Draft:
    blocks = tuple(
        _as_new(block, mark, book)
        for block, mark in zip(draft.blocks, marks, strict=True)
        if mark.is_new
    )
    if len(blocks) == len(draft.blocks):
        return replace(draft, blocks=blocks)
    left = len(draft.blocks) - len(blocks)
    why = f"{left} of its {len(draft.blocks)} blocks were stored before; the others are this turn"
    remark = Remark("PARTLY_KNOWN", why)
    # The id that it may have been given belongs to what was stored before.
    return replace(draft, blocks=blocks, turn_id=None, notes=(*draft.notes, remark))


def _as_new(block: Block, mark: _Mark, book: Book) -> Block:
    if not isinstance(block, ToolResult):
        return block
    if says_nothing(block):
        block = replace(block, result=None, parts=None, error=None, status="unknown")
    if mark.call_id is None:
        return block
    # Ids repeat; where the list stands beside the history, its order says which call is meant.
    found = match(block, book, PREFIXES).call
    if (found and found.id == mark.call_id) or not book.by_canonical(mark.call_id):
        return block
    return replace(block, call_id=mark.call_id)
