"""Kimi K2: the chat shape with ids `functions.{name}:{n}`.

n counts the calls of the whole conversation from 0; the id is the only place where the model sees
the name (Kimi-K2 docs/tool_call_guidance.md), so ids are assigned when a call is stored. Thinking
models want `reasoning_content` on assistant messages and take an empty one (kimi-cli PR#2446).
"""

import re
from collections.abc import Iterator

from ..model.conversation import ToolCall
from .chat import chat_codec
from .chat.messages import WIRE, Dialect
from .shared.profile import Profile
from .shared.tool_names import shown_name
from .shared.tool_rules import ToolRules
from .shared.walk import COMBINATIONS

_NAMES = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_ID = re.compile(r"functions\.(?P<name>.+):(?P<n>0|[1-9][0-9]{0,8})", re.DOTALL)


class CountedIds:
    """`functions.{name}:{n}`, n counting the calls of the conversation."""

    form = "`functions.{name}:{n}`, n counting the conversation's calls from 0"

    def candidates(self, call: ToolCall, highest: int) -> Iterator[tuple[str, int | None]]:
        yield counted(shown_name(call.name, _NAMES), call.raw_id, highest)


def counted(name: str, raw_id: str | None, highest: int) -> tuple[str, int]:
    """The id and its n. Kimi's own id is echoed while it keeps the count rising."""
    own = _ID.fullmatch(raw_id) if raw_id else None
    if own and own["name"] == name and int(own["n"]) > highest:
        return own[0], int(own["n"])
    return f"functions.{name}:{highest + 1}", highest + 1


CODEC = chat_codec(
    Profile(
        assigns_ids=True,
        names=_NAMES,
        images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"}),
        wire=WIRE,
        thinking=True,
        issuers=frozenset({"kimi", "moonshot"}),
        home=True,
        plain_reasoning=True,
        demands_reasoning=True,
    ),
    # Moonshot's answers: 'parameters.type is required and must be "object"'; "when using anyOf,
    # type should be defined in anyOf items instead of the parent schema" (kimi-code#2661).
    ToolRules(
        object_type=True,
        refused_top=COMBINATIONS,
        typed_branches=True,
        most=128,
        parallel=False,
        described=True,
    ),
    CountedIds(),
    Dialect(string_content=True),
    nicknames=("moonshot", "k2"),
)
