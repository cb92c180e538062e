"""OpenRouter: the chat shape, and reasoning that goes back as it came.

Models of many makers stand behind it. `reasoning_details` carry their signatures and encrypted
thoughts and must come back unmodified (@openrouter/sdk: ChatAssistantMessage), so they are kept as
they are, returned to the model that they came from, and shown to nobody else.
"""

import re

from .chat import SETTINGS, chat_codec
from .chat.messages import DETAILED, Dialect
from .shared.profile import Profile
from .shared.reading import names
from .shared.tool_rules import ToolRules
from .shared.walk import COMBINATIONS

CODEC = chat_codec(
    Profile(
        # Some of the makers want the user to speak last.
        last="user",
        # What all of them take.
        ids=re.compile(r"[a-zA-Z0-9_-]{1,40}"),
        wire=DETAILED,
        thinking=True,
        issuers=frozenset({"openrouter"}),
        model_bound=True,
        home=True,
        images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
        files=frozenset({"application/pdf"}),
    ),
    # The strictest of the makers, as on their own wires.
    ToolRules(
        object_type=True,
        refused_top=COMBINATIONS,
        most=128,
        strict=True,
        strict_closed=True,
        described=True,
    ),
    dialect=Dialect(detailed=True, says_strict=True),
    # @openrouter/sdk: ChatRequest; then what its documentation has beside. Its `provider` is not
    # here: that name is the envelope's.
    settings=SETTINGS
    | names(
        "cache_control debug image_config min_p models plugins reasoning session_id"
        " stop_server_tools_when top_a trace"
        " include_reasoning route transforms usage"
    ),
)
