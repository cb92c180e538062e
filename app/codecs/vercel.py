"""Vercel AI SDK 5 and later: `input`, `output{type, value}`; system text beside the messages.

SDK 7 refuses system messages inside; 6 and later throw when a call has no result.
"""

from collections.abc import Sequence

from app.codecs import _ai_sdk, _ai_sdk_tools
from app.codecs._ai_sdk import KEYS, LIST, SETTINGS
from app.codecs._ai_sdk_tools import read_choice
from app.core.conversation import Draft
from app.core.json.text import Json, JsonObject
from app.core.render.profile import Profile
from app.core.render.view import View
from app.core.tools.definitions import Choice, Definition, HostedTool, Tool
from app.core.tools.rules import ToolRules
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

_VERSION = _ai_sdk.Version("vercel", v4=False)
IDS = Prefixed("call_")
# An SDK, not a provider: its own answers are messages.
REPLIES = None
PROFILE = Profile(
    results="together",
    # Any maker's model may stand behind it, and some want the user to speak last.
    last="user",
    system="beside",
    inner_system="user",
    value_results=True,
    error_flag=True,
    wire=_VERSION.wire,
    thinking=True,
    issuers=frozenset({"vercel"}),
    images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
    files=frozenset({"application/pdf", "text/plain", "url"}),
)


TOOLS = ToolRules(members=("tools", "toolChoice"), object_type=True, parallel=False)


def parse(posted: Posted) -> list[Draft]:
    return _ai_sdk.parse(posted, _VERSION)


def render(view: View) -> JsonObject:
    return _ai_sdk.render(view, _VERSION)


def read_tools(value: Json) -> list[Definition]:
    return _ai_sdk_tools.read_tools(value, _VERSION.wire)


def write_tools(tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
    return _ai_sdk_tools.write_tools(tools, choice, key="inputSchema")
