"""A render: segments of messages, each encoded once.

A segment holds messages that no later turn changes, unless it answers a call, completes a turn or
brings the call of an orphan in them. So a render is extended by writing what comes behind its
segments; what changes one drops it and those behind it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from app.core.conversation import Text
from app.core.render.repairs import Repair
from app.core.render.view import Pending, Role


@dataclass(frozen=True, slots=True)
class Carry:
    """What a segment must know of the messages before it.

    `leads`: nobody but the system has spoken. `spoke`: there is a message of somebody else.
    `last`: whose message comes before.
    """

    leads: bool = True
    spoke: bool = False
    last: Role | None = None


@dataclass(frozen=True, slots=True)
class Uses:
    """What a request may hold once, and the names of the tools called: by the seq of first use."""

    raw_ids: dict[str, int] = field(default_factory=dict)
    native_ids: dict[tuple[str, str], int] = field(default_factory=dict)
    tools: dict[str, int] = field(default_factory=dict)

    def before(self, seq: int) -> "Uses":
        """Those of earlier turns, as a copy to go on with."""
        return Uses(
            {key: at for key, at in self.raw_ids.items() if at < seq},
            {key: at for key, at in self.native_ids.items() if at < seq},
            {key: at for key, at in self.tools.items() if at < seq},
        )


@dataclass(frozen=True, slots=True)
class Segment:
    """Messages of one or more closed tool groups, as bytes.

    first    the turn that it begins with
    carry    what the next segment must know
    lines    the messages, each encoded as the wire takes it
    system   texts that stand beside the messages
    version  the version of the conversation at which it came to read as it does
    """

    first: int
    carry: Carry
    lines: tuple[bytes, ...]
    repairs: tuple[Repair, ...] = ()
    pending: tuple[Pending, ...] = ()
    system: tuple[Text, ...] = ()
    version: int = 0


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

    def lines(self) -> Iterator[bytes]:
        return (line for segment in self.segments for line in segment.lines)

    def repairs(self) -> Iterator[Repair]:
        return (repair for segment in self.segments for repair in segment.repairs)

    def pending(self) -> Iterator[Pending]:
        return (call for segment in self.segments for call in segment.pending)

    def system(self) -> tuple[Text, ...]:
        return tuple(text for segment in self.segments for text in segment.system)

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

    def _cut(self, count: int) -> "Render":
        first = self.segments[count].first if self.segments else 0
        return replace(self, segments=self.segments[:count], next=first)
