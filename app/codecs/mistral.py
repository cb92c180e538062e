"""Mistral: the chat shape with ids of nine letters and digits.

mistral-common: the validators up to v11 take nothing else; `name` stands on tool messages; no user
message directly behind a tool message (the hosted API's code 3230); the last message is not the
assistant's unless it says `prefix`.
"""

from collections.abc import Iterator

from app.codecs import _chat
from app.codecs._chat import KEYS, LIST, REPLIES, SETTINGS, parse
from app.codecs._chat_tools import read_choice, read_tools, write_tools
from app.core.conversation import ToolCall
from app.core.identity.ids import mistral_ids
from app.core.json.text import JsonObject
from app.core.render.profile import BOTH, Profile
from app.core.render.view import View
from app.core.tools.rules import ToolRules
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
    alternate=BOTH,
    first_user=True,
    user_after_results=False,
    last="prefix",
    trims_end=True,
    inner_system="user",
    images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
)


def _candidates(call: ToolCall, highest: int) -> Iterator[tuple[str, int | None]]:
    return ((one, None) for one in mistral_ids(call.id, call.raw_id))


IDS = Assigned(_candidates)


# mistral-common: Function.strict.
TOOLS = ToolRules(strict=True, described=True)


def render(view: View) -> JsonObject:
    request = _chat.render(view, _chat.Dialect(string_content=True, names_results=True))
    messages = request["messages"]
    assert isinstance(messages, list)
    if view.is_prefix and isinstance(last := messages[-1], dict):
        last["prefix"] = True
    return request
