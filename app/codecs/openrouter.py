"""OpenRouter: the chat shape, and reasoning that goes back as it came.

Models of many makers stand behind it. `reasoning_details` carry their signatures and encrypted
thoughts and must come back unmodified (@openrouter/sdk: ChatAssistantMessage), so they are kept as
they are, returned to the model that they came from, and shown to nobody else.
"""

import re
from collections.abc import Sequence

from app.codecs import _chat, _chat_tools
from app.codecs._chat import DETAILED, KEYS, LIST
from app.codecs._chat_tools import read_choice, read_tools
from app.codecs._reading import names
from app.core.conversation import Draft
from app.core.json.text import JsonObject
from app.core.render.profile import Profile
from app.core.render.view import View
from app.core.tools.definitions import Choice, HostedTool, Tool
from app.core.tools.rules import ToolRules
from app.core.tools.schema.walk import COMBINATIONS
from app.core.wire.codec import Posted, Prefixed

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

IDS = Prefixed("call_")
# @openrouter/sdk: ChatRequest; then what its documentation has beside. Its `provider` is not here:
# that name is the envelope's.
SETTINGS = _chat.SETTINGS | names(
    "cache_control debug image_config min_p models plugins reasoning session_id"
    " stop_server_tools_when top_a trace"
    " include_reasoning route transforms usage"
)
REPLIES = _chat.replies(DETAILED)
PROFILE = Profile(
    # Some of them want the user to speak last.
    last="user",
    # What all makers behind it take.
    ids=re.compile(r"[a-zA-Z0-9_-]{1,40}"),
    wire=DETAILED,
    thinking=True,
    issuers=frozenset({"openrouter"}),
    images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
    files=frozenset({"application/pdf"}),
)
# The strictest of the makers, as on their own wires.
TOOLS = ToolRules(
    object_type=True,
    refused_top=COMBINATIONS,
    most=128,
    strict=True,
    strict_closed=True,
    described=True,
)


def parse(posted: Posted) -> list[Draft]:
    return _chat.parse(posted, DETAILED)


def render(view: View) -> JsonObject:
    return _chat.render(view, _chat.Dialect(detailed=True))


def write_tools(tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
    return _chat_tools.write_tools(tools, choice, strict=True)
