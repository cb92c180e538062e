"""Reading posted JSON with pointers: every complaint says where in the body it stands."""

from collections.abc import Iterable
from dataclasses import replace

from app.core.conversation import Block, Opaque, Remark, Thinking
from app.core.errors import RuleBroken
from app.core.jsontext import Json, JsonObject, JsonText, dumps
from app.core.replies import Reply
from app.core.wire import Posted

_GIVEN = ("input", "args")


def elements(posted: Posted, key: str) -> list[tuple[str, JsonObject, str]]:
    """Pointer, object and text of each element of the array under `key`."""
    values = posted.members.get(key)
    if not isinstance(values, list):
        raise RuleBroken(f"{key} is a list and has to be given.", pointer=f"/{key}")
    if not values:
        raise RuleBroken(f"{key} is empty.", pointer=f"/{key}")
    found = []
    for place, value in enumerate(values):
        pointer = f"/{key}/{place}"
        found.append((pointer, an_object(value, pointer), posted.texts[key][place]))
    return found


def an_object(value: Json, pointer: str) -> JsonObject:
    if not isinstance(value, dict):
        raise RuleBroken("A JSON object is expected here.", pointer=pointer)
    return value


def a_list(members: JsonObject, key: str, pointer: str) -> list[Json]:
    """The list under a key; nothing and null count as the empty list."""
    value = members.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RuleBroken(f"{key} is a list.", pointer=f"{pointer}/{key}")
    return value


def arguments_text(value: "Json | JsonText") -> str:
    """Arguments that came as a value, as text; exactly as far as they came, if they broke off."""
    return value.text if isinstance(value, JsonText) else dumps(value)


def first_of(response: JsonObject, key: str, at: str) -> tuple[JsonObject, tuple[Remark, ...]]:
    """The first of a response's alternatives; the others are noted."""
    values = a_list(response, key, at)
    if not values:
        raise RuleBroken(f"{key} is a list and must not be empty.", pointer=f"{at}/{key}")
    notes: tuple[Remark, ...] = ()
    if len(values) > 1:
        more = f"{len(values) - 1} more {key} stand in the payload only"
        notes = (Remark("CHOICES_NOT_SHOWN", more),)
    return an_object(values[0], f"{at}/{key}/0"), notes


def reply(blocks: Iterable[Block], notes: tuple[Remark, ...] = (), **facts: Json) -> Reply:
    """A reply. Members that an SDK's dump fills with null were never sent."""
    said: JsonObject = {
        name: without_nulls(fact) for name, fact in facts.items() if fact is not None
    }
    return Reply(tuple(map(_as_sent, blocks)), said, notes)


def _as_sent(block: Block) -> Block:
    if not isinstance(block, Thinking | Opaque):
        return block
    return replace(block, native=without_nulls(block.native))


def without_nulls(value: Json) -> Json:
    """A value without members that are null. What a model gave to a tool is not looked into."""
    match value:
        case list():
            return [without_nulls(one) for one in value]
        case dict():
            return {
                key: one if key in _GIVEN else without_nulls(one)
                for key, one in value.items()
                if one is not None
            }
        case _:
            return value


def definitions(value: Json) -> list[Json]:
    """A list of tool definitions; nothing and null count as none."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise RuleBroken("tools is a list of definitions.", pointer="/tools")
    return value


def description_in(function: JsonObject) -> Json:
    """The description of a function; one without words is none, and some wires refuse it."""
    said = function.get("description")
    return None if said == "" else said


def bad_choice() -> RuleBroken:
    return RuleBroken("tool_choice is none that this format knows.", pointer="/tool_choice")


def a_text(members: JsonObject, key: str, pointer: str) -> str:
    value = members.get(key)
    if not isinstance(value, str):
        raise RuleBroken(f"{key} is a text and has to be given.", pointer=f"{pointer}/{key}")
    return value


def maybe_text(members: JsonObject, key: str, pointer: str) -> str | None:
    value = members.get(key)
    if value is not None and not isinstance(value, str):
        raise RuleBroken(f"{key} is a text.", pointer=f"{pointer}/{key}")
    return value


def names(text: str) -> frozenset[str]:
    """The names that a text lists, with blanks between them."""
    return frozenset(text.split())
