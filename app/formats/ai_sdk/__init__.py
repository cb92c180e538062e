"""Vercel's AI SDK, in all versions; each is an `ai_sdk_codec` in a file of its own."""

from functools import partial

from ..shared.codec import Codec, Prefixed
from ..shared.profile import Profile
from ..shared.reading import names
from ..shared.tool_rules import ToolRules
from .messages import parse, write, write_system
from .tools import read_choice, read_tools, write_tools

# What generateText and streamText of ai 4 and 5 take and JSON can say, without `prompt`.
SETTINGS = names(
    "activeTools allowSystemInMessages experimental_activeTools experimental_continueSteps"
    " experimental_output experimental_providerMetadata experimental_telemetry frequencyPenalty"
    " headers includeRawChunks maxOutputTokens maxRetries maxSteps maxTokens presencePenalty"
    " providerOptions seed stopSequences temperature toolCallStreaming topK topP"
)


# Parts of messages that become opaque blocks; the SDK refuses every other kind.
_OPAQUE = names("custom file image reasoning-file tool-approval-request tool-approval-response")


def ai_sdk_codec(
    wire: str, issuers: frozenset[str], *, is_v4: bool = False, nicknames: tuple[str, ...] = ()
) -> Codec:
    """One version of the SDK; `is_v4` chooses the older names."""
    profile = Profile(
        results="together",
        # Any maker's model may stand behind it, and some want the user to speak last.
        last="user",
        system="beside",
        inner_system="user",
        value_results=True,
        error_flag=True,
        wire=wire,
        thinking=True,
        issuers=issuers,
        model_bound=True,
        home=True,
        opaque_kinds=names("file image") if is_v4 else _OPAQUE,
        # Version 7 refuses system messages among the others.
        home_system=is_v4,
        images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
        files=frozenset({"application/pdf", "text/plain", "url"}),
    )
    # An SDK, not a provider: its own responses are messages, so it has no replies.
    return Codec(
        profile=profile,
        tools=ToolRules(choice=("toolChoice",), switch=False, object_type=True, parallel=False),
        ids=Prefixed("call_"),
        keys=("system", "messages"),
        settings=SETTINGS,
        nicknames=nicknames,
        parse=partial(parse, wire=wire),
        write=partial(write, is_v4=is_v4),
        write_system=partial(write_system, is_v4=is_v4),
        read_tools=partial(read_tools, wire=wire),
        read_choice=read_choice,
        write_tools=partial(write_tools, key="parameters" if is_v4 else "inputSchema"),
    )
