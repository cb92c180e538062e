"""What a response took, in one shape for all providers.

`input_tokens` are all tokens of the request, `cached_tokens` those of them that came from a cache;
`output_tokens` are all that the model wrote, `reasoning_tokens` those of them that were thinking.
Each codec knows how its wire says that. What a provider does not say is 0.
"""

from operator import add, attrgetter, sub

from .json_values import Json, JsonObject
from .value import dataclass

# Nobody sends more in a response; a wilder number must not spoil the sum of a conversation.
_MOST = 10**12


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*map(add, _COUNTS(self), _COUNTS(other)))

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(*map(sub, _COUNTS(self), _COUNTS(other)))

    def at_most(self, other: "Usage") -> "Usage":
        return Usage(*map(min, _COUNTS(self), _COUNTS(other)))

    def json(self) -> JsonObject:
        return dict(zip(Usage.__slots__, _COUNTS(self), strict=True))


_COUNTS = attrgetter(*Usage.__slots__)


def tokens(usage: Json, *path: str) -> int:
    """The count under these names, one inside the other; 0 where there is none."""
    for name in path:
        usage = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(usage, bool) or not isinstance(usage, int):
        return 0
    return usage if 0 <= usage <= _MOST else 0
