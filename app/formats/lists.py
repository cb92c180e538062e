"""Histories as people write them down: a list of messages, or an object with such a list.

A line (or a whole file) is `[…messages…]`, `{"messages": […], "tools": […]}` as in OpenAI's
fine-tuning files, `{"system", "messages"}`, `{"instructions", "input"}`, `{"contents"}`, our own
export `{"conversation_id", "turns"}`, or an export for a provider `{"provider", "request"}`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.core.errors import RuleBroken, TurnkeepError
from app.core.jsontext import Json, JsonObject, dumps, loads, loads_object
from app.core.limits import Limits
from app.formats.detecting import LISTS, has_messages, wire_of
from app.formats.histories import Found, History, Line, Message, Problem
from app.formats.naming import conversation_name, turn_name


@dataclass(frozen=True, slots=True)
class Reading:
    """How lists are to be read. `wire` None: told from their content; `cid`: for one history."""

    file_name: str
    limits: Limits
    wire: str | None = None
    provider: str | None = None
    cid: str | None = None


def read_line(line: Line, how: Reading, *, only: bool = False) -> Found:
    """The histories of one line; `only`: it is the whole file and needs no number in its name."""
    found = Found()
    try:
        for places, members, texts in _bodies(
            line.text, how.limits, () if only else (line.number,)
        ):
            found.histories.append(_history(members, texts, places, line, how))
    except TurnkeepError as error:
        found.problems.append(Problem(line.number, error.detail))
    return found


def read_messages(lines: Iterable[Line], how: Reading) -> Found:
    """One history with a message on every line."""
    found = Found()
    values: list[Json] = []
    kept: list[Line] = []
    for line in lines:
        try:
            value = loads(line.text, how.limits)
            if not isinstance(value, dict):
                raise RuleBroken("A message is a JSON object.")
        except TurnkeepError as error:
            found.problems.append(Problem(line.number, error.detail))
            continue
        values.append(value)
        kept.append(line)
    wire = how.wire or wire_of({}, values)
    messages = tuple(
        Message(
            value,
            line.text.strip(),
            turn_name(_own(value, wire), f"line-{line.number}"),
            line.number,
        )
        for value, line in zip(values, kept, strict=True)
        if isinstance(value, dict)
    )
    if messages:
        name = how.cid or conversation_name(how.file_name)
        found.histories.append(History(name, how.provider or wire, wire, messages, line=1))
    return found


Body = tuple[tuple[int, ...], JsonObject, Mapping[str, list[str]]]


def _bodies(text: str, limits: Limits, places: tuple[int, ...]) -> Iterator[Body]:
    """The objects that hold a list of messages; a bare list becomes one."""
    text = text.strip()
    if not text.startswith("["):
        yield places, *loads_object(text, limits)
        return
    members, texts = loads_object(f'{{"messages":{text}}}', limits)
    values = members["messages"]
    if isinstance(values, list) and values and all(map(_is_history, values)):
        for place, inner in enumerate(texts["messages"], 1):
            yield from _bodies(inner, limits, (*places, place))
        return
    yield places, members, texts


def _is_history(value: Json) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and has_messages(value))


def _history(
    members: JsonObject,
    texts: Mapping[str, list[str]],
    places: Sequence[int],
    line: Line,
    how: Reading,
) -> History:
    wire, provider = how.wire, how.provider
    around = members
    if isinstance(members.get("request"), dict):
        members, texts = loads_object(texts["request"][0], how.limits)
        spoken = around.get("provider")
        wire = wire or (spoken if isinstance(spoken, str) else None)
    key = next((key for key in LISTS if key in members), None)
    if key is None:
        raise RuleBroken(f"The line has no list of messages; known: {', '.join(LISTS)}, request.")
    values, written = _values(members[key], texts[key], key)
    wire = wire or ("neutral" if key == "turns" else wire_of(members, values))
    if not values and key != "turns":
        raise RuleBroken(f"{key} is empty.")
    given = around.get("conversation_id")
    named = given if isinstance(given, str) and given else None
    return History(
        how.cid or named or conversation_name(how.file_name, *places),
        provider or wire,
        wire,
        tuple(_messages(values, written, wire, line.number)),
        *_beside(members, texts, key, wire),
        line.number,
        _text(members, "model"),
        _text(around, "title"),
        _object(around.get("metadata")),
        _tool_sets(members) if wire == "neutral" else (),
    )


def _values(given: Json, texts: list[str], key: str) -> tuple[list[Json], list[str]]:
    if key == "input" and isinstance(given, str):
        said: JsonObject = {"role": "user", "content": given}
        return [said], [dumps(said)]
    if not isinstance(given, list):
        raise RuleBroken(f"{key} is a list of messages.")
    return given, texts


def _messages(
    values: Sequence[Json], texts: Sequence[str], wire: str, line: int
) -> Iterator[Message]:
    for number, (value, text) in enumerate(zip(values, texts, strict=True), 1):
        if not isinstance(value, dict):
            raise RuleBroken(f"Message {number} is not a JSON object.")
        yield Message(value, text, turn_name(_own(value, wire), f"message-{number}"), line)


def _own(value: Json, wire: str) -> Json:
    """Only the neutral form carries ids of turns; other wires' ids are not ours to trust."""
    return value.get("turn_id") if wire == "neutral" and isinstance(value, dict) else None


def _beside(
    members: JsonObject, texts: Mapping[str, list[str]], key: str, wire: str
) -> tuple[JsonObject, Mapping[str, list[str]]]:
    """What rides with the messages: everything but the list and the names we read ourselves."""
    taken = {key, "conversation_id", "title", "metadata", "model"}
    if wire == "neutral":
        taken.add("tools")
    beside = {name: value for name, value in members.items() if name not in taken}
    functions = beside.pop("functions", None)
    if isinstance(functions, list) and "tools" not in beside:
        # The older form of the same thing: https://platform.openai.com/docs/guides/fine-tuning
        beside["tools"] = [{"type": "function", "function": one} for one in functions]
    return beside, {name: texts[name] for name in beside if name in texts}


def _tool_sets(members: JsonObject) -> tuple[JsonObject, ...]:
    given = members.get("tools")
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise RuleBroken("tools of an export is a list of tool sets, each a JSON object.")
    return tuple(one for one in given if isinstance(one, dict))


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(members: JsonObject, key: str) -> str | None:
    value = members.get(key)
    return value if isinstance(value, str) else None
