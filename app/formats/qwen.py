"""Qwen: the chat shape with plain texts; arguments must be JSON (the API refuses anything else)."""

import re

from .chat import chat_codec
from .chat.messages import WIRE, Dialect
from .shared.profile import Profile

CODEC = chat_codec(
    Profile(
        ids=re.compile(r".{1,40}", re.DOTALL),
        wire=WIRE,
        issuers=frozenset({"qwen"}),
        home=True,
    ),
    dialect=Dialect(string_content=True),
    nicknames=("dashscope", "alibaba"),
)
