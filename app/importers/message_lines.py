"""Files with a message on every line: one history, or one for each conversation the lines name."""

from collections.abc import Iterable, Sequence

from app.core.errors import RuleBroken, TurnkeepError
from app.core.json.text import JsonObject, loads
from app.core.limits import Limits
from app.importers.detecting import wire_of
from app.importers.grouping import conversation_of, field_of, without
from app.importers.histories import Found, History, Line, Message, Problem, Reading
from app.importers.naming import conversation_name, own_turn_id, turn_name

Read = tuple[Line, JsonObject]


def read(lines: Iterable[Line], how: Reading) -> Found:
    """The histories of all lines, in the order in which they begin."""
    found = Found()
    kept: list[Read] = []
    for line in lines:
        try:
            kept.append((line, _message(line, how.limits)))
        except TurnkeepError as error:
            found.problems.append(Problem(line.number, error.detail))
    field = field_of([value for _, value in kept], how.group_by)
    for name, group in _grouped(kept, field, how, found).items():
        found.histories.append(_history(how.cid or name, group, field, how))
    return found


def _message(line: Line, limits: Limits) -> JsonObject:
    value = loads(line.text, limits)
    if not isinstance(value, dict):
        raise RuleBroken("A message must be a JSON object.")
    return value


def _grouped(
    kept: Sequence[Read], field: str | None, how: Reading, found: Found
) -> dict[str, list[Read]]:
    groups: dict[str, list[Read]] = {}
    for line, value in kept:
        try:
            name = conversation_of(value, field) if field else conversation_name(how.file_name)
        except RuleBroken as error:
            found.problems.append(Problem(line.number, error.detail))
            continue
        groups.setdefault(name, []).append((line, value))
    return groups


def _history(name: str, group: Sequence[Read], field: str | None, how: Reading) -> History:
    values = [without(value, field) for _, value in group]
    wire = how.wire or wire_of({}, values)
    messages = tuple(
        Message(
            value,
            line.text.strip(),
            turn_name(own_turn_id(value, wire), f"line-{line.number}"),
            line.number,
        )
        for value, (line, _) in zip(values, group, strict=True)
    )
    return History(name, how.provider or wire, wire, messages, line=messages[0].line)
