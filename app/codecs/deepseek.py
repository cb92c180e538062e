"""DeepSeek: the chat shape with plain texts.

Content is a string, never a list (the API's error: "invalid type: sequence, expected a string").
Its own reasoning comes back as `reasoning_content`; its thinking mode, on by default since V4,
demands the field on every assistant message and takes an empty one (hermes-agent PR#15228). Of who
speaks last its reasoning model says: "must be a user message, or an assistant message with prefix
mode on" (litellm#8090), and that mode is to be had at another address only.
"""

import re

from app.codecs import _chat
from app.codecs._chat import KEYS, LIST, REPLIES, SETTINGS, WIRE, parse
from app.codecs._chat_tools import read_choice, read_tools, write_tools
from app.core.json.text import JsonObject
from app.core.render.profile import Profile
from app.core.render.view import View
from app.core.tools.rules import ToolRules
from app.core.wire.codec import Prefixed

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
PROFILE = Profile(
    last="user",
    ids=re.compile(r".{1,40}", re.DOTALL),
    wire=WIRE,
    thinking=True,
    issuers=frozenset({"deepseek"}),
    plain_reasoning=True,
    demands_reasoning=True,
)


TOOLS = ToolRules(parallel=False, described=True)


def render(view: View) -> JsonObject:
    return _chat.render(view, _chat.Dialect(string_content=True))
