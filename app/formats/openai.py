"""OpenAI Chat Completions.

Ids have at most 40 characters (shared rule: the API's error "string too long. Expected … maximum
length 40"); images stand in user messages only; `content` beside calls is `""`, which every dialect
of this shape takes.
"""

import re

from .chat import chat_codec
from .chat.messages import WIRE, Dialect
from .shared.profile import Profile, keeping
from .shared.tool_rules import ToolRules
from .shared.walk import COMBINATIONS

CODEC = chat_codec(
    Profile(
        # The API: "Expected a string with maximum length 1048576".
        result_text=1_048_576,
        wire=WIRE,
        issuers=frozenset({"openai"}),
        home=True,
        # Files by id and audio: parts of user messages that only OpenAI reads.
        keeps_opaque=keeping("file", "input_audio"),
        ids=re.compile(r".{1,40}", re.DOTALL),
        images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
        files=frozenset({"application/pdf"}),
    ),
    # The API: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at
    # the top level" (langchain-ai/langchainjs#9804); "Invalid 'tools': array too long. Expected an
    # array with maximum length 128".
    ToolRules(
        exacting=True,
        described=True,
        most=128,
        object_type=True,
        refused_top=(*COMBINATIONS, "enum", "not"),
        allowed=True,
        strict=True,
    ),
    dialect=Dialect(says_strict=True),
    nicknames=("gpt", "chatgpt", "azure", "chatcompletion"),
)
