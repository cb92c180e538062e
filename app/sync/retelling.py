"""Retelling: a stored history as a list of messages may tell it again, walked along piece by piece.

A list tells the same in other cuts: turns are merged or split, texts joined, calls moved behind
texts, results pulled to their calls. So the walk counts pieces, not messages. Inside a stored part
texts keep their order and calls keep theirs; one part follows the other.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..formats.shared import placeholders as wording
from ..ledger.pairing import Placed, Role, Step
from ..model.conversation import Block, File, Image, Text, Thinking, ToolCall, Turn
from .likeness import is_unspoken, media_key, plain, same_call

What: TypeAlias = Literal["speaker", "text", "image", "file", "call", "result"]

_OURS = (wording.BRIDGE_USER, wording.BRIDGE_ASSISTANT, wording.EMPTY)
_DEMOTED = wording.demoted_system("")
_REASONING = wording.reasoning("")
_LEFT_OUT = re.compile(re.escape(wording.MARK) + r" (?:Image|File) of turn (\S+) left out: .*")


class Differs(Exception):
    """The list says something else than the stored turn."""

    def __init__(self, turn: Turn, what: What) -> None:
        super().__init__(what)
        self.turn = turn
        self.what: What = what


@dataclass(frozen=True, slots=True)
class Difference:
    """The place in the list, the stored turn that says something else, and what differs."""

    seq: int
    stored: Turn
    what: What


@dataclass(slots=True)
class Part:
    """What one stored turn said in one breath. `may_miss`: lists may leave it out."""

    role: Role
    turn: Turn
    pieces: list[Text | Image | File] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    leads: bool = False

    @property
    def may_miss(self) -> bool:
        """A system prompt is given beside the list, a broken response is often asked for anew, and
        notes are for others."""
        return self.leads or self.role == "note" or self.turn.status == "interrupted"

    @property
    def is_silent(self) -> bool:
        """Whether lists of a provider have nothing of it, but perhaps its thoughts."""
        return self.role == "note" or not (self.pieces or self.calls)


def parts_of(steps: Iterable[Step]) -> list[Part]:
    """The parts of a history, without those that say nothing."""
    parts: list[Part] = []
    for step in steps:
        items = [item for item in step.items if item.place is not None]
        if not items:
            continue
        part = Part(step.role, items[0].turn)
        for item in items:
            match item.block:
                case ToolCall() as call:
                    part.calls.append(call)
                case Thinking() as thought:
                    part.thoughts.append(plain(thought.text))
                case Image() | File() as media:
                    part.pieces.append(media)
                case Text() as said if not is_unspoken(said):
                    part.pieces.append(Text(plain(said.text)))
                case _:
                    pass
        opens = part.role in ("system", "note")
        part.leads = opens and all(before.leads for before in parts)
        if part.pieces or part.calls or part.thoughts:
            parts.append(part)
    return parts


@dataclass(frozen=True, slots=True)
class Place:
    """Where a walk stands: a part, and in it the next piece, its next character, the next call."""

    part: int = 0
    piece: int = 0
    offset: int = 0
    call: int = 0


class Walk:
    """Takes what a list tells, in its order, and says of each thing whether it is stored.

    `start`: the part with which the list begins, but for leading system parts; `began`: the one
    with which it really does. `owed`: media of results that the list may show behind them, before
    it goes on to another part than `owing`, or to something new.
    """

    def __init__(self, parts: Sequence[Part], names: re.Pattern[str], start: int) -> None:
        self.parts = parts
        self.names = names
        self.start = start
        self.reached = 0
        self.began: int | None = None
        self.taken = 0
        self.owed: Counter[object] = Counter()
        self.owing = 0
        self._move(Place())

    def take(self, role: Role, block: Block) -> ToolCall | bool:
        """The stored call, or whether the rest is stored. Raises `Differs`."""
        self.taken += 1
        taken: ToolCall | bool
        match block:
            case Image() | File():
                return self._media(role, block)
            case ToolCall():
                taken = self._call(block)
            case Text():
                taken = self._text(role, plain(block.text))
            case _:
                raise AssertionError("only what is spoken is walked along")
        if not taken or self.reached != self.owing:
            self.owed.clear()
        return taken

    def owe(self, media: Counter[object]) -> None:
        """The list may show these next."""
        self.owed.update(media)
        self.owing = self.reached

    def missing(self) -> Differs | None:
        """What is missing of the part that the walk stands in."""
        place = self.place
        if place.part == len(self.parts) or place == Place(place.part):
            return None
        part = self.parts[place.part]
        return Differs(part.turn, "call" if place.piece == len(part.pieces) else "text")

    @property
    def ended(self) -> bool:
        """Whether nothing is left that a list must tell."""
        return not self.missing() and all(one.may_miss for one in self.parts[self.place.part :])

    def skip(self) -> None:
        """Leaves out the part that comes next."""
        self._move(Place(self.place.part + 1))

    def next_part(self) -> Part | None:
        """The part of which nothing was told yet, if the walk stands before one."""
        place = self.place
        is_new = place == Place(place.part) and place.part < len(self.parts)
        return self.parts[place.part] if is_new else None

    def _call(self, call: ToolCall) -> ToolCall | bool:
        part = self._part({"ai"})
        if part is None:
            return False
        place = self.place
        stored = part.calls[place.call] if place.call < len(part.calls) else None
        if stored is None or not same_call(call, stored, self.names):
            raise Differs(part.turn, "call")
        self._met(Place(place.part, place.piece, place.offset, place.call + 1))
        return stored

    def _media(self, role: Role, block: Image | File) -> bool:
        before = self.place
        differs: Differs | None = None
        try:
            part = self._part({role})
            piece = self._piece(part) if part else None
            if isinstance(piece, Image | File) and media_key(block) == media_key(piece):
                self._met(Place(self.place.part, self.place.piece + 1, 0, self.place.call))
                return True
            if part:
                differs = Differs(part.turn, "image" if isinstance(block, Image) else "file")
        except Differs as error:
            differs = error
        if self._is_owed(block):
            # What was passed over while it was looked for is still to be told.
            self._move(before)
            return True
        if differs:
            raise differs
        return False

    def _is_owed(self, block: Image | File) -> bool:
        """Each is shown once; the same once more is new."""
        key = media_key(block)
        if not self.owed[key]:
            return False
        self.owed[key] -= 1
        return True

    def _text(self, role: Role, words: str) -> bool:
        if words in _OURS and not self._is_next(words):
            return True
        position = 0
        while position < len(words):
            if after := self._thought(words, position):
                position = after
            else:
                demoted = role == "human" and words.startswith(_DEMOTED, position)
                try:
                    part = self._part({role, "system"} if demoted else {role})
                    if part is None and not position:
                        return False
                    position = self._words(part, role, words, position)
                except Differs as differs:
                    if position and differs.what == "speaker":
                        # The text goes on where the stored one ends.
                        raise Differs(self.parts[self.reached].turn, "text") from None
                    raise
            position = _behind_blanks(words, position)
        return True

    def _words(self, part: Part | None, role: Role, words: str, position: int) -> int:
        """Where in the words the walk goes on, behind what this piece has of them."""
        piece = self._piece(part) if part else None
        if part is None or piece is None:
            raise Differs((part or self.parts[self.reached]).turn, "text")
        place = self.place
        if part.role != role and not place.offset:
            position = _behind_blanks(words, position + len(_DEMOTED))
        if isinstance(piece, Image | File):
            shown = _LEFT_OUT.match(words, position)
            if shown is None or shown[1] != part.turn.turn_id:
                raise Differs(part.turn, "image" if isinstance(piece, Image) else "file")
            self._met(Place(place.part, place.piece + 1, 0, place.call))
            return shown.end()
        start = _behind_blanks(piece.text, place.offset)
        length = min(len(words) - position, len(piece.text) - start)
        if words[position : position + length] != piece.text[start : start + length]:
            raise Differs(part.turn, "text")
        end = start + length
        if end == len(piece.text):
            self._met(Place(place.part, place.piece + 1, 0, place.call))
        else:
            self._met(Place(place.part, place.piece, end, place.call))
        return position + length

    def _thought(self, words: str, position: int) -> int:
        """Behind a thought that is shown as marked text; 0 where none is."""
        if not words.startswith(_REASONING, position):
            return 0
        begins = _behind_blanks(words, position + len(_REASONING))
        last = self.place.part
        # A list of a provider does not tell the notes in between, nor what is nothing but thoughts.
        while last < len(self.parts) and self.parts[last].is_silent:
            last += 1
        for part in self.parts[self.reached : last + 1]:
            for thought in part.thoughts:
                if thought and words.startswith(thought, begins):
                    return begins + len(thought)
        return 0

    def _is_next(self, words: str) -> bool:
        """Whether a stored text is exactly this: words of ours were posted as somebody's own."""
        if self.place.part == len(self.parts):
            return False
        piece = self._piece(self.parts[self.place.part])
        return isinstance(piece, Text) and piece.text == words

    def _piece(self, part: Part) -> Text | Image | File | None:
        return part.pieces[self.place.piece] if self.place.piece < len(part.pieces) else None

    def _part(self, roles: Collection[str]) -> Part | None:
        """The part that one of these roles goes on with; None behind the last."""
        while self.place.part < len(self.parts):
            part = self.parts[self.place.part]
            if part.role in roles:
                return part
            if missing := self.missing():
                raise missing
            if not part.may_miss:
                raise Differs(part.turn, "speaker")
            self.skip()
        return None

    def _met(self, place: Place) -> None:
        self.reached = place.part
        if self.began is None and not self.parts[place.part].leads:
            self.began = place.part
        self._move(place)

    def _move(self, place: Place) -> None:
        """Goes to a place, and on behind parts of which all was told."""
        while place.part < len(self.parts):
            part = self.parts[place.part]
            if place.part < self.start and not part.leads:
                place = Place(self.start)
            elif place.piece == len(part.pieces) and place.call == len(part.calls):
                place = Place(place.part + 1)
            else:
                break
        self.place = place


def _behind_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def spoken(steps: Iterable[Step]) -> Iterator[tuple[Role, Placed]]:
    """What a list tells in the order of the walk."""
    for step in steps:
        for item in step.items:
            if not is_unspoken(item.block) and item.place is not None:
                yield step.role, item
