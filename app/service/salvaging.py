"""Reading the response that a stream was put together to, when not all of it can be read.

A stream cannot be had again, so one part that breaks a rule must not take the others with it: it is
left out, named in a note, and stands in the payload.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from app.core.conversation import UNREADABLE, Remark
from app.core.errors import RuleBroken
from app.core.json.text import Json, JsonObject
from app.core.wire.responses import Reply

# A response with more broken parts than this is not read at all.
_MOST = 16


def read_what_can_be(read: Callable[[JsonObject, str], Reply], response: JsonObject) -> Reply:
    """The reply of all parts that can be read. Raises `RuleBroken` where no part is to blame."""
    notes: list[Remark] = []
    while True:
        try:
            reply = read(response, "")
            return replace(reply, notes=(*reply.notes, *notes))
        except RuleBroken as error:
            place = _place(response, error.pointer or "")
            if place is None or len(notes) == _MOST:
                raise
            response = cast(JsonObject, _without(response, place))
            notes.append(Remark(UNREADABLE, reason(error)))


def reason(error: RuleBroken) -> str:
    return f"{error.detail} ({error.pointer})" if error.pointer else error.detail


def _place(response: Json, pointer: str) -> Sequence[str] | None:
    """The innermost element of a list that the pointer goes through."""
    path = pointer.split("/")[1:]
    found: Sequence[str] | None = None
    at = response
    for depth, step in enumerate(path, 1):
        if isinstance(at, dict) and step in at:
            at = at[step]
        elif isinstance(at, list) and step.isdecimal() and int(step) < len(at):
            at = at[int(step)]
            found = path[:depth]
        else:
            break
    return found


def _without(value: Json, place: Sequence[str]) -> Json:
    """A copy without the element at the place."""
    step, *rest = place
    if isinstance(value, dict):
        return {**value, step: _without(value[step], rest)}
    assert isinstance(value, list)
    index = int(step)
    inner = [_without(value[index], rest)] if rest else []
    return [*value[:index], *inner, *value[index + 1 :]]
