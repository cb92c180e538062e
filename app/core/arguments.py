"""What a call was asked to do: arguments as text, and as the object every wire wants to see.

Nothing is completed or guessed. Text that cannot be read stays what it is; a render shows an empty
object in its place and says so.
"""

from app.core.errors import NotJson, RuleBroken
from app.core.jsontext import Json, JsonObject, dumps, loads
from app.core.limits import Limits

# Arguments arrive as a text inside a text, so the body's limit on depth has not seen inside it.
_LIMITS = Limits()


def parsed(arguments: str) -> Json:
    """The value of the text. Raises `NotJson` or `RuleBroken`."""
    return loads(arguments, _LIMITS)


def object_text(arguments: str) -> tuple[str, str | None]:
    """The text of a JSON object for any wire, and the code of the repair it took."""
    try:
        value = parsed(arguments)
    except (NotJson, RuleBroken):
        return "{}", "ARGS_UNPARSEABLE" if arguments.strip() else "ARGS_COERCED_OBJECT"
    if isinstance(value, dict):
        return arguments, None
    if isinstance(value, str) and isinstance(_inner(value), dict):
        return value, "ARGS_UNWRAPPED"
    if value is None or value == [] or (isinstance(value, str) and not value.strip()):
        return "{}", "ARGS_COERCED_OBJECT"
    return dumps({"value": value}), "ARGS_COERCED_OBJECT"


def object_value(arguments: str) -> JsonObject:
    """The same as a value. Only for text that `object_text` gave."""
    value = parsed(arguments)
    assert isinstance(value, dict)
    return value


def _inner(text: str) -> Json:
    try:
        return parsed(text)
    except (NotJson, RuleBroken):
        return None
