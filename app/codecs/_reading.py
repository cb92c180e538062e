"""Reading posted JSON with pointers: every complaint says where in the body it stands."""

from app.core.errors import RuleBroken
from app.core.jsontext import Json, JsonObject
from app.core.wire import Posted


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


def definitions(value: Json) -> list[Json]:
    """A list of tool definitions; nothing and null count as none."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise RuleBroken("tools is a list of definitions.", pointer="/tools")
    return value


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
