"""DeepSeek: the chat shape with plain texts.

Content is a string, never a list (the API's error: "invalid type: sequence, expected a string").
Its own reasoning comes back as `reasoning_content`; its thinking mode, on by default since V4,
demands the field on every assistant message and takes an empty one (hermes-agent PR#15228). Of who
speaks last its reasoning model says: "must be a user message, or an assistant message with prefix
mode on" (litellm#8090), and that mode is to be had at another address only.
"""

import re

from .chat import chat_codec
from .chat.messages import WIRE, Dialect
from .shared.profile import Profile
from .shared.tool_rules import ToolRules

CODEC = chat_codec(
    Profile(
        last="user",
        ids=re.compile(r".{1,40}", re.DOTALL),
        wire=WIRE,
        thinking=True,
        issuers=frozenset({"deepseek"}),
        home=True,
        plain_reasoning=True,
        demands_reasoning=True,
    ),
    ToolRules(parallel=False, described=True),
    dialect=Dialect(string_content=True),
)
