"""Qwen: the chat shape with plain texts; arguments must be JSON (the API refuses anything else)."""

import re

from app.codecs import _chat
from app.codecs._chat import KEYS, LIST, REPLIES, SETTINGS, parse
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
PROFILE = Profile(ids=re.compile(r".{1,40}", re.DOTALL))


TOOLS = ToolRules(described=True)


def render(view: View) -> JsonObject:
    return _chat.render(view, _chat.Dialect(string_content=True))
