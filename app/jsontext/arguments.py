"""What a call was asked to do: arguments as text, and as the object every wire wants to see.

Nothing is completed or guessed. Text that cannot be read, or that others would read as infinity,
stays what it is; a render shows an empty object in its place and says so.
"""

from contextlib import suppress

from ..model.errors import LimitExceeded, RuleBroken, TooLarge, TurnkeepError
from ..model.json_values import Json, JsonObject
from ..model.large import PIECE
from ..model.limits import Limits
from .bounds import check_bounds
from .numbers import is_beyond_double
from .plain import plain
from .reading import loads
from .writing import dumps

# The only parameter of the function that stands for a custom tool.
CUSTOM_INPUT = "input"
# Arguments arrive as a text inside a text, so the body's limits have not seen inside it.
_LIMITS = Limits()


def parsed(arguments: str) -> Json:
    """The value of the text. Raises `NotJson`, `RuleBroken` or `TooLarge`."""
    return _read(arguments)[0]


def _read(arguments: str) -> tuple[Json, bool]:
    """The value, and whether it may hold numbers that are not of 64 bits."""
    check_bounds(arguments, _LIMITS)
    found = plain(arguments) if len(arguments) <= PIECE else None
    return (found[0], False) if found else (loads(arguments, _LIMITS), True)


def _sendable(arguments: str) -> Json:
    """The same value. Raises `RuleBroken` as well where a number is beyond what SDKs can send."""
    value, is_odd = _read(arguments)
    if is_odd and is_beyond_double(value):
        raise RuleBroken("A number must not be larger than any double.")
    return value


def as_given(arguments: str) -> JsonObject:
    """`parameters`, the value of the text; `arguments`, the text, where it is no JSON or long."""
    if len(arguments) <= PIECE:
        try:
            return {"parameters": parsed(arguments)}
        except TurnkeepError:
            pass
    return {"arguments": arguments}


def custom_object(text: str) -> tuple[str, JsonObject, str]:
    """The text that a custom tool takes, for a function in its place. It is stored as JSON."""
    with suppress(TurnkeepError):
        said = parsed(text)
        text = said if isinstance(said, str) else text
    value: JsonObject = {CUSTOM_INPUT: text}
    return dumps(value), value, "CUSTOM_TOOL_AS_FUNCTION"


def object_of(arguments: str) -> tuple[str, JsonObject, str | None]:
    """A JSON object for any wire, as text and as value, and the code of the repair it took."""
    try:
        value = _sendable(arguments)
    except TurnkeepError:
        return "{}", {}, "ARGS_UNPARSEABLE" if arguments.strip() else "ARGS_COERCED_OBJECT"
    if isinstance(value, dict):
        return arguments, value, None
    if isinstance(value, str):
        try:
            inner = _sendable(value)
        except (LimitExceeded, TooLarge):
            return "{}", {}, "ARGS_UNPARSEABLE"
        except TurnkeepError:
            inner = None
        if isinstance(inner, dict):
            return value, inner, "ARGS_UNWRAPPED"
    if value is None or value == [] or (isinstance(value, str) and not value.strip()):
        return "{}", {}, "ARGS_COERCED_OBJECT"
    wrapped: JsonObject = {"value": value}
    return dumps(wrapped), wrapped, "ARGS_COERCED_OBJECT"
