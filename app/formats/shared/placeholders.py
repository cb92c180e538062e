"""The few sentences this service writes into a history: marked, saying no more than is known."""

import re

from ...jsontext.writing import dumps_utf8
from ...model.conversation import File, Image, Part, Status, Text, ToolResult, TurnStatus
from ...model.json_values import Json

MARK = "[turnkeep]"
BRIDGE_USER = f"{MARK} The conversation goes on here."
BRIDGE_ASSISTANT = f"{MARK} Understood."
EMPTY = f"{MARK} This history has no content to show."
NO_OUTPUT = "(no output)"
OUTPUT_LEFT_OUT = f"{MARK} What the tool gave is left out: it cannot be shown here."
NO_MESSAGE = "(tool failed without message)"
ERROR_PREFIX = "[Error] "

_MEDIA = re.compile(
    re.escape(MARK) + r" (?:(The (?:image|file) is in the next user message\.)|\w+ left out: )"
)

_UNRECORDED = f"{MARK} No result was recorded for this call; outcome unknown."
_BROKEN = (
    f"{MARK} The message with this call broke off; no result was recorded for it; outcome unknown."
)
_STATES: dict[Status, str] = {
    "denied": f"{MARK} The call was denied; the tool was not run.",
    "interrupted": f"{MARK} The tool was interrupted; it may have run in part or in full.",
    "unknown": _UNRECORDED,
}


def unrecorded(turn_status: TurnStatus = "complete") -> str:
    """For a call without a result; one of a broken stream may never have been whole."""
    return _UNRECORDED if turn_status == "complete" else _BROKEN


def is_placeholder(text: str) -> bool:
    """Whether a text stands where no result was recorded: what a render showed came back."""
    return text in (_UNRECORDED, _BROKEN)


def of_status(status: Status) -> str | None:
    """What a state means to the model, where the wire cannot say it."""
    return _STATES.get(status)


def value_text(value: Json) -> str:
    """A result as text: text as it is, nothing as nothing, any other value as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps_utf8(value).decode()


def result_text(result: ToolResult) -> str:
    """All words of a result: its error, then what it gave."""
    if result.parts is None:
        said = value_text(result.result)
    else:
        said = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    error = result.error or ""
    if not error or error == said:
        return said
    return f"{error}\n{said}" if said else error


def orphan_text(result: ToolResult) -> str:
    named = f" {result.name}" if result.name else ""
    held = "".join(f"\n[{_kind(part)} left out]" for part in result.parts or () if _kind(part))
    said = result_text(result) + held
    return f"{MARK} Result of a tool{named} whose call is not in this history:\n{said}"


def _kind(part: Part) -> str | None:
    if isinstance(part, Text):
        return None
    return "image" if isinstance(part, Image) else "file" if isinstance(part, File) else part.kind


def demoted_system(text: str) -> str:
    return f"{MARK} System note: {text}"


def reasoning(text: str) -> str:
    return f"{MARK} Reasoning: {text}"


def elided(text: str, most: int) -> str:
    """Head and tail of a text, with a mark between them; exactly `most` characters."""
    mark = f"\n{MARK} {len(text)} characters; the middle is left out.\n"
    room = max(0, most - len(mark))
    head = room - room // 2
    tail = room // 2
    return text[:head] + mark + (text[-tail:] if tail else "")


def left_out(kind: str, why: str) -> str:
    return f"{MARK} {kind} left out: {why}."


def moved(kind: str) -> str:
    """In a result, for a medium that stands behind it."""
    return f"{MARK} The {kind} is in the next user message."


def are_moved(text: str) -> list[bool]:
    """Of the media that a result speaks of: whether each was moved, or left out."""
    return [bool(one) for one in _MEDIA.findall(text)]
