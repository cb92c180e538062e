"""A render: segments of messages, each encoded once.

A segment holds messages that no later turn changes, unless it answers a call, completes a turn or
brings the call of an orphan in them. So a render is extended by writing what comes behind its
segments; what changes one drops it and those behind it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import takewhile
from typing import Self, TypeVar

from ..formats.shared.view import Pending, Role, Shown
from ..jsontext.writing import dumps_utf8
from ..model.repairs import Repair
from ..model.value import dataclass
from .origins import Origin

K = TypeVar("K")
# Behind the last so many segments, neighbours are joined: fewer things to hold and to go through.
FINE = 16


@dataclass(frozen=True, slots=True)
class Carry:
    """What a segment must know of the messages before it.

    `leads`: nobody but the system has spoken. `spoke`: there is a message of somebody else.
    `last`: whose message comes before. `model`: the newest model of the target's own provider.
    `bound_to`: the models that issued the provider's own reasoning so far.
    """

    leads: bool = True
    spoke: bool = False
    last: Role | None = None
    model: str | None = None
    bound_to: frozenset[str] = frozenset()

    def shown_for(self, model: str | None) -> frozenset[str]:
        """The models whose reasoning a replay for this model shows."""
        return self.bound_to & {model} if model else self.bound_to


@dataclass(frozen=True, slots=True)
class Uses:
    """What a request may hold once, and the names of the tools called: by the seq of first use.

    `named`: the turns whose omitted members are reported, by the step that reports them.
    """

    raw_ids: dict[str, int] = field(default_factory=dict)
    native_ids: dict[tuple[str, str], int] = field(default_factory=dict)
    tools: dict[str, int] = field(default_factory=dict)
    named: dict[int, int] = field(default_factory=dict)

    def before(self, seq: int) -> "Uses":
        """Those of earlier turns, as a copy to go on with."""
        return Uses(
            _before(self.raw_ids, seq),
            _before(self.native_ids, seq),
            _before(self.tools, seq),
            _before(self.named, seq),
        )


def _before(uses: dict[K, int], seq: int) -> dict[K, int]:
    """Uses come in order, so those that are left out are at the end."""
    kept = uses.copy()
    while kept and next(reversed(kept.values())) >= seq:
        kept.popitem()
    return kept


@dataclass(frozen=True, slots=True)
class Segment:
    """Messages of one or more closed tool groups, as bytes.

    first    the turn that it begins with
    carry    what the next segment must know
    text     the messages, each encoded as the wire takes it, with commas between them
    sizes    how long each of them is
    told     repairs and calls without a result as JSON, with commas between them
    system   parts that stand beside the messages
    version  the version of the conversation at which it came to read as it does
    origins  where each of the messages comes from, where that was asked
    marks    the turn of each mark for a prompt cache
    whole    the segment with all its marks, where some of them are not shown
    """

    first: int
    carry: Carry
    text: bytes
    sizes: tuple[int, ...]
    repairs: tuple[Repair, ...] = ()
    system: tuple[Shown, ...] = ()
    told: tuple[bytes, bytes] = (b"", b"")
    version: int = 0
    origins: tuple[Origin, ...] = ()
    marks: tuple[str | None, ...] = ()
    whole: Self | None = None

    @classmethod
    def of(
        cls,
        first: int,
        carry: Carry,
        lines: Sequence[bytes],
        repairs: Sequence[Repair] = (),
        pending: Sequence[Pending] = (),
        system: Sequence[Shown] = (),
    ) -> Self:
        """A segment of encoded messages."""
        return cls(
            first,
            carry,
            b",".join(lines),
            tuple(map(len, lines)),
            tuple(repairs),
            tuple(system),
            (
                b",".join(dumps_utf8(one.json()) for one in repairs),
                b",".join(dumps_utf8(one.json()) for one in pending),
            ),
        )

    def lines(self) -> Iterator[memoryview]:
        """The messages one by one."""
        text, begin = memoryview(self.text), 0
        for size in self.sizes:
            yield text[begin : begin + size]
            begin += size + 1

    def with_lines(
        self, lines: Sequence[bytes], repairs: Sequence[Repair], marks: Sequence[str | None]
    ) -> Self:
        """The segment with other messages and more repairs; it keeps itself as the whole one."""
        told = b",".join(dumps_utf8(one.json()) for one in repairs)
        return replace(
            self,
            text=b",".join(lines),
            sizes=tuple(map(len, lines)),
            repairs=(*self.repairs, *repairs),
            told=(b",".join(filter(None, (self.told[0], told))), self.told[1]),
            marks=tuple(marks),
            whole=self,
        )

    @classmethod
    def joined(cls, segments: Sequence[Self]) -> Self:
        """Neighbours as one."""
        wholes = [one.whole or one for one in segments]
        is_stripped = any(one.whole for one in segments)
        return cls(
            segments[0].first,
            segments[-1].carry,
            joined_lines(segments),
            tuple(size for one in segments for size in one.sizes),
            tuple(repair for one in segments for repair in one.repairs),
            tuple(part for one in segments for part in one.system),
            joined_told(segments),
            max(one.version for one in segments),
            tuple(origin for one in segments for origin in one.origins),
            tuple(turn_id for one in segments for turn_id in one.marks),
            cls.joined(wholes) if is_stripped else None,
        )


def joined_lines(segments: Sequence[Segment]) -> bytes:
    """The messages of segments with commas between them."""
    return b",".join(one.text for one in segments if one.sizes)


def joined_told(segments: Sequence[Segment]) -> tuple[bytes, bytes]:
    """The repairs of segments, and their calls without a result."""
    repairs = b",".join(one.told[0] for one in segments if one.told[0])
    return repairs, b",".join(one.told[1] for one in segments if one.told[1])


@dataclass(frozen=True, slots=True)
class Render:
    """Segments in order. The last one is open: how a history ends is decided there.

    `next`: the first turn that is not written yet.
    """

    segments: tuple[Segment, ...] = ()
    uses: Uses = field(default_factory=Uses)
    next: int = 0

    @property
    def carry(self) -> Carry:
        return self.segments[-1].carry if self.segments else Carry()

    @property
    def count(self) -> int:
        """The number of messages."""
        return sum(len(segment.sizes) for segment in self.segments)

    def lines(self) -> Iterator[bytes]:
        return (bytes(line) for segment in self.segments for line in segment.lines())

    def repairs(self) -> Iterator[Repair]:
        return (repair for segment in self.segments for repair in segment.repairs)

    def origins(self) -> list[Origin]:
        return [origin for segment in self.segments for origin in segment.origins]

    def system(self) -> tuple[Shown, ...]:
        return tuple(part for segment in self.segments for part in segment.system)

    def before(self, seq: int) -> "Render":
        """What stays of it when the turn `seq` changes, or is new.

        The segment in front of a changed one stays only if another turn closed it.
        """
        return self._cut(sum(1 for one in self.segments[1:] if one.first < seq))

    def as_of(self, version: int) -> "Render":
        """What of it read the same when the conversation had that version."""
        return self._cut(
            sum(1 for _ in takewhile(lambda one: one.version <= version, self.segments[:-1]))
        )

    def compacted(self) -> "Render":
        """The same with fewer segments, where many have gathered; the newest stay as they are."""
        newest_first = reversed(self.segments)
        small = sum(1 for _ in takewhile(lambda one: len(one.sizes) < FINE, newest_first))
        if small < 3 * FINE:
            return self
        rest, newest = self.segments[:-small], self.segments[-small:]
        blocks = [
            Segment.joined(newest[place : place + FINE])
            for place in range(0, small - 2 * FINE, FINE)
        ]
        left = newest[len(blocks) * FINE :]
        return replace(self, segments=(*rest, *blocks, *left))

    def _cut(self, count: int) -> "Render":
        first = self.segments[count].first if self.segments else 0
        return replace(self, segments=self.segments[:count], next=first)
