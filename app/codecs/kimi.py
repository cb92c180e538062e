"""Kimi K2: the chat shape with ids `functions.{name}:{n}`.

n counts the calls of the whole conversation from 0; the id is the only place where the model sees
the name (Kimi-K2 docs/tool_call_guidance.md), so ids are assigned when a call is stored. Thinking
models want `reasoning_content` on assistant messages and take an empty one (kimi-cli PR#2446).
"""

import re
from collections.abc import Iterator

from app.codecs import _chat
from app.codecs._chat import KEYS, LIST, REPLIES, SETTINGS, WIRE, parse
from app.codecs._chat_tools import read_choice, read_tools, write_tools
from app.core.conversation import ToolCall
from app.core.identity.ids import kimi_id
from app.core.identity.tool_names import shown_name
from app.core.json.text import JsonObject
from app.core.render.profile import Profile
from app.core.render.view import View
from app.core.tools.rules import ToolRules
from app.core.tools.schema.walk import COMBINATIONS
from app.core.wire.codec import Assigned

__all__ = [
    "IDS",
    "KEYS",
    "LIST",
    "PROFILE",
    "REPLIES",
    "SETTINGS",
    "TOOLS",
    "parse",
    "read_choice",
    "read_tools",
    "render",
    "write_tools",
]

PROFILE = Profile(
    assigns_ids=True,
    names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"),
    images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"}),
    wire=WIRE,
    thinking=True,
    issuers=frozenset({"kimi", "moonshot"}),
    plain_reasoning=True,
    demands_reasoning=True,
)


def _candidates(call: ToolCall, highest: int) -> Iterator[tuple[str, int | None]]:
    yield kimi_id(shown_name(call.name, PROFILE.names), call.raw_id, highest)


IDS = Assigned(_candidates)


# Moonshot's answers: 'parameters.type is required and must be "object"'; "when using anyOf, type
# should be defined in anyOf items instead of the parent schema" (MoonshotAI/kimi-code#2661).
TOOLS = ToolRules(
    object_type=True,
    refused_top=COMBINATIONS,
    typed_branches=True,
    most=128,
    parallel=False,
    described=True,
)


def render(view: View) -> JsonObject:
    return _chat.render(view, _chat.Dialect(string_content=True))
