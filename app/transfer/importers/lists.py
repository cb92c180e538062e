"""Histories as people write them down: a list of messages, or an object with such a list.

A line (or a whole file) is `[…messages…]`, `{"messages": […], "tools": […]}` as in OpenAI's
fine-tuning files, `{"system", "messages"}`, `{"instructions", "input"}`, `{"contents"}`, our own
export `{"conversation_id", "turns"}`, or an export for a provider `{"provider", "request"}`. A file
may also have a message on every line: one history, or one for each conversation the lines name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from ...jsontext.fields import text_in
from ...jsontext.reading import loads, loads_object
from ...jsontext.writing import dumps
from ...model import telling
from ...model.errors import RuleBroken
from ...model.json_values import Json, JsonObject
from ...model.limits import LONGEST_EXPIRY
from .. import sums
from . import naming
from .detecting import LISTS, has_messages, wire_of
from .histories import Found, History, Line, Message, Reading


def read_line(line: Line, how: Reading, *, only: bool = False) -> Found:
    """The histories of one line; `only`: it is the whole file and needs no number in its name."""
    found = Found()
    first = () if only else (line.number,)
    with found.taking(line):
        for places, members, texts in _bodies(line.text, how, first):
            found.histories += _histories(members, texts, places, line, how)
    return found


def read_messages(lines: Iterable[Line], how: Reading) -> Found:
    """The histories of lines that are messages, in the order in which they begin."""
    found = Found()
    kept: list[tuple[Line, JsonObject]] = []
    for line in lines:
        with found.taking(line):
            value = loads(line.text, how.limits)
            if not isinstance(value, dict):
                raise RuleBroken("A message must be a JSON object.")
            kept.append((line, value))
    field = naming.field_of([value for _, value in kept], how.group_by)
    groups: dict[str, list[tuple[Line, JsonObject]]] = {}
    for line, value in kept:
        with found.taking(line):
            name = (
                naming.conversation_of(value, field)
                if field
                else naming.conversation_name(how.file_name)
            )
            groups.setdefault(name, []).append((line, naming.without(value, field)))
    for name, group in groups.items():
        wire = how.wire or wire_of({}, [value for _, value in group])
        messages = tuple(
            _message(value, None, line.text.strip(), wire, f"line-{line.number}", line.number)
            for line, value in group
        )
        first = messages[0].line
        history = History(how.cid or name, how.provider or wire, wire, messages, line=first)
        found.histories.append(history)
    return found


T = TypeVar("T")
Body = tuple[tuple[int, ...], JsonObject, Mapping[str, list[str]]]


def _bodies(text: str, how: Reading, places: tuple[int, ...]) -> Iterator[Body]:
    """The objects that hold a list of messages; a bare list becomes one."""
    text = text.strip()
    if not text.startswith("["):
        members, texts = loads_object(text, how.limits)
        if "turns" in members and sums.MEMBER in members and not how.edited:
            _check_sum(text, members)
        yield places, members, texts
        return
    members, texts = loads_object(f'{{"messages":{text}}}', how.limits)
    values = members["messages"]
    if isinstance(values, list) and values and all(map(_is_history, values)):
        for place, inner in enumerate(texts["messages"], 1):
            yield from _bodies(inner, how, (*places, place))
        return
    yield places, members, texts


def _check_sum(text: str, members: JsonObject) -> None:
    """Exports of earlier releases have no checksum."""
    if not sums.is_as_summed(text):
        name = telling.quoted(members.get("conversation_id"))
        raise RuleBroken(
            f"The conversation {name} is not as it was exported:"
            f" its `{sums.MEMBER}` is that of another line. --edited imports it as it is."
        )


def _is_history(value: Json) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and has_messages(value))


def _histories(
    members: JsonObject,
    texts: Mapping[str, list[str]],
    places: Sequence[int],
    line: Line,
    how: Reading,
) -> Iterator[History]:
    """One history, or one for each conversation that its messages name."""
    wire, around = how.wire, members
    if isinstance(members.get("request"), dict):
        members, texts = loads_object(texts["request"][0], how.limits)
        wire = wire or text_in(around, "provider")
    key = next((key for key in LISTS if key in members), None)
    if key is None:
        raise RuleBroken(f"The line has no list of messages; known: {', '.join(LISTS)}, request.")
    values, written = _values(members[key], texts[key], key)
    if not values and (key != "turns" or how.group_by):
        raise RuleBroken(f"`{key}` must not be empty.")
    # What names the conversation of the whole line. What was asked for may stand inside.
    field = naming.field_of([around], how.group_by)
    if field and not naming.has(around, field):
        field = None
    wire = wire or ("neutral" if key == "turns" else wire_of(members, values))
    named = naming.conversation_of(around, field) if field else None
    inner = None if named else naming.field_of(values, how.group_by)
    messages = [
        _message(value, inner, text, wire, f"message-{number}", line.number)
        for number, (value, text) in enumerate(zip(values, written, strict=True), 1)
    ]
    for name, group in _grouped(values, messages, inner).items():
        yield History(
            how.cid or named or name or naming.conversation_name(how.file_name, *places),
            how.provider or wire,
            wire,
            tuple(group),
            *_beside(members, texts, (key, field), wire),
            line.number,
            _given(members, "model", str, "a string"),
            _given(around, "title", str, "a string"),
            _given(around, "metadata", dict, "an object") or {},
            _tool_sets(members) if wire == "neutral" else (),
            _expires_after(members) if wire == "neutral" else None,
        )


def _grouped(
    values: Sequence[JsonObject], messages: Sequence[Message], field: str | None
) -> dict[str | None, list[Message]]:
    if field is None:
        return {None: list(messages)}
    groups: dict[str | None, list[Message]] = {}
    for number, (value, message) in enumerate(zip(values, messages, strict=True), 1):
        try:
            groups.setdefault(naming.conversation_of(value, field), []).append(message)
        except RuleBroken as error:
            raise RuleBroken(f"Message {number}: {error.detail}") from None
    return groups


def _values(given: Json, texts: list[str], key: str) -> tuple[list[JsonObject], list[str]]:
    if key == "input" and isinstance(given, str):
        said: JsonObject = {"role": "user", "content": given}
        return [said], [dumps(said)]
    if not isinstance(given, list):
        raise RuleBroken(f"`{key}` must be a list of messages.")
    values = [value for value in given if isinstance(value, dict)]
    if len(values) < len(given):
        number = next(n for n, value in enumerate(given, 1) if not isinstance(value, dict))
        raise RuleBroken(f"Message {number} must be a JSON object.")
    return values, texts


def _message(
    value: JsonObject, field: str | None, text: str, wire: str, name: str, line: int
) -> Message:
    # Only the neutral form carries ids of turns; other wires' ids are not ours to trust.
    given = value.get("turn_id") if wire == "neutral" else None
    return Message(naming.without(value, field), text, naming.turn_name(given, name), line)


def _beside(
    members: JsonObject, texts: Mapping[str, list[str]], read: Sequence[str | None], wire: str
) -> tuple[JsonObject, Mapping[str, list[str]]]:
    """What rides with the messages: everything but the list and the names we read ourselves."""
    taken = {*read, "conversation_id", "title", "metadata", "model"}
    if wire == "neutral":
        taken |= {"tools", "expires_after", sums.MEMBER}
    beside = {name: value for name, value in members.items() if name not in taken}
    functions = beside.pop("functions", None)
    if isinstance(functions, list) and "tools" not in beside:
        # The older form of the same thing: https://platform.openai.com/docs/guides/fine-tuning
        beside["tools"] = [{"type": "function", "function": one} for one in functions]
    return beside, {name: texts[name] for name in beside if name in texts}


def _given(members: JsonObject, name: str, kind: type[T], must: str) -> T | None:
    """A member of the line, if it has one. Raises `RuleBroken` where it is something else."""
    value = members.get(name)
    if value is None or isinstance(value, kind):
        return value
    raise RuleBroken(telling.wrong_type(name, must, value))


def _expires_after(members: JsonObject) -> int | None:
    given = members.get("expires_after")
    if given is not None and (type(given) is not int or not 0 < given <= LONGEST_EXPIRY):
        raise RuleBroken(telling.out_of_range("expires_after", 1, LONGEST_EXPIRY, given))
    return given


def _tool_sets(members: JsonObject) -> tuple[JsonObject, ...]:
    given = members.get("tools")
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise RuleBroken("`tools` of an export must be a list of tool sets, each an object.")
    return tuple(one for one in given if isinstance(one, dict))
