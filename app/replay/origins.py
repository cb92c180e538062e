"""Where the messages of a request come from: the turns of each, and about how long it is.

A codec writes one message of a view as one message of its wire, or as several: then each piece is
asked by itself how many it makes. Where pieces are joined again, what is known of the whole counts.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import assert_never

from ..formats.shared.placeholders import result_text
from ..formats.shared.view import CallShown, Content, Message, ResultShown
from ..model.conversation import File, Image, Opaque, Text, Thinking, ToolResult, Turn
from ..model.value import dataclass
from .tokens import estimated_block_tokens
from .window import PAGE, words_of

Count = Callable[[Sequence[Message]], int]


@dataclass(frozen=True, slots=True)
class Origin:
    """Of one message of a request."""

    tokens: int
    turns: tuple[str, ...]


def origins(messages: Sequence[Message], lines: int, count: Count) -> tuple[Origin, ...]:
    """Of so many lines that these messages became; `count`: how many some of them become."""
    found = [origin for message in messages for origin in _of(message, count([message]), count)]
    if len(found) == lines:
        return tuple(found)
    whole = tuple(dict.fromkeys(turn for message in messages for turn in message.turn_ids()))
    return tuple(_shared(sum(one.tokens for one in found), whole, lines))


def _of(message: Message, lines: int, count: Count) -> Iterator[Origin]:
    alone = [Message(message.role, (part,)) for part in message.parts] if lines > 1 else []
    if alone and [count([one]) for one in alone] == [1] * lines:
        for one in alone:
            yield Origin(_weight(one), tuple(one.turn_ids()))
    else:
        yield from _shared(_weight(message), tuple(message.turn_ids()), lines)


def _shared(tokens: int, turns: tuple[str, ...], lines: int) -> Iterator[Origin]:
    for place in range(lines):
        yield Origin(tokens * (place + 1) // lines - tokens * place // lines, turns)


def of_turn(turn: Turn) -> Origin:
    """Of a turn that is shown as it is stored."""
    texts = (
        result_text(block) if isinstance(block, ToolResult) else words_of(block)
        for block in turn.blocks or ()
    )
    return Origin(estimated_block_tokens(texts), (turn.turn_id,))


def _weight(message: Message) -> int:
    return estimated_block_tokens(map(_words, message.contents()))


def _words(content: Content) -> str:
    match content:
        case CallShown():
            return content.name + content.arguments
        case ResultShown():
            return "\n".join(map(_words, content.parts))
        case Text() | Thinking():
            return content.text
        case Image() | File() | Opaque():
            return PAGE
        case _:
            assert_never(content)
