"""Numbers that JSON can say and most readers cannot hold: JavaScript makes infinity of 1e400, and
null of that, and Python's SDKs refuse to send it."""

from ..model.json_values import Json

LARGEST_DOUBLE = float.fromhex("0x1.fffffffffffffp+1023")


def is_beyond_double(value: Json) -> bool:
    """Whether a number is in it, at any depth, that is larger than any double."""
    every = [value]
    for one in every:
        if type(one) is str:
            continue
        if isinstance(one, dict):
            every += one.values()
        elif isinstance(one, list):
            every += one
        elif isinstance(one, int | float) and not -LARGEST_DOUBLE <= one <= LARGEST_DOUBLE:
            return True
    return False
