"""What is read from a file: histories, lines that could not be read, and what was left out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...model.errors import TurnkeepError
from ...model.json_values import JsonObject
from ...model.limits import Limits


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file and its 1-based number."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message in the shape of its wire.

    text       what the file says, which may be more than the message: kept as the turn's payload
    turn_id    the id of the turn that begins here: the source's own, or one derived from the place
    joins      the message goes on with the one before it: both are one turn
    """

    value: JsonObject
    text: str
    turn_id: str
    line: int = 0
    model: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    joins: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """A whole conversation. `members` ride beside the messages: system prompt, tools, tool choice.

    `tool_sets` are the definitions of our own export, by version; `expires_after` is its expiry.
    """

    conversation_id: str
    provider: str
    format: str
    messages: tuple[Message, ...]
    members: JsonObject = field(default_factory=dict)
    texts: Mapping[str, list[str]] = field(default_factory=dict)
    line: int = 1
    model: str | None = None
    title: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    tool_sets: tuple[JsonObject, ...] = ()
    expires_after: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A line, or a history that begins there, which cannot be taken."""

    line: int
    reason: str


@dataclass(slots=True)
class Found:
    """What lines of a file came to. `skipped` counts by kind what is no part of a conversation."""

    histories: list[History] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def taking(self, line: Line) -> Iterator[None]:
        """What is wrong with a line is kept as a problem; the next one may be better."""
        try:
            yield
        except TurnkeepError as error:
            self.problems.append(Problem(line.number, error.detail))

    def add(self, other: "Found") -> None:
        self.histories += other.histories
        self.problems += other.problems
        self.skipped += other.skipped


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are to be read.

    format     what the caller says that they are; `auto`: told from their content
    wire       None: told from their content
    cid        the conversation's id, for one history
    group_by   the member that names the conversation; None: one of those that are known
    edited     exports that were changed since they were written are taken too
    """

    limits: Limits
    file_name: str = ""
    format: str = "auto"
    wire: str | None = None
    provider: str | None = None
    cid: str | None = None
    group_by: str | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Importer:
    """A kind of session file: its name, its program, how its first line is known, how read."""

    name: str
    program: str
    recognises: Callable[[JsonObject], bool]
    read: Callable[[Iterable[Line], Reading], Found]
