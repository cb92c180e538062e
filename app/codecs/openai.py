"""OpenAI Chat Completions.

Ids have at most 40 characters (shared rule: the API's error "string too long. Expected … maximum
length 40"); images stand in user messages only; `content` beside calls is `""`, which every dialect
of this shape takes.
"""

import re

from app.codecs import _chat
from app.codecs._chat import KEYS, LIST, parse
from app.core.jsontext import JsonObject
from app.core.profile import Profile
from app.core.view import View
from app.core.wire import Prefixed

__all__ = ["IDS", "KEYS", "LIST", "PROFILE", "parse", "render"]

IDS = Prefixed("call_")
PROFILE = Profile(
    ids=re.compile(r".{1,40}", re.DOTALL),
    images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
    files=frozenset({"application/pdf"}),
)


def render(view: View) -> JsonObject:
    return _chat.render(view, _chat.Dialect())
