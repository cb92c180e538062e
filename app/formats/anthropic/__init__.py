"""Anthropic Messages.

All results of an assistant message stand first in the next user message; roles alternate; the first
message is the user's; no blank text; the system prompt stands beside the messages. Signed thinking
goes back byte for byte, in place, to the model that issued it.
"""

import re

from ...model.conversation import Opaque
from ...model.json_values import Json
from ..shared.codec import Codec, Prefixed
from ..shared.profile import BOTH, CacheMarks, Half, Profile, keeping
from ..shared.reading import names
from ..shared.responses import Replies
from ..shared.tool_rules import ToolRules
from ..shared.walk import COMBINATIONS
from .messages import parse, read_reply, used, write, write_system
from .stream import AnthropicGathering, is_message
from .tools import WIRE, read_choice, read_tools, write_tools


def _half(block: Opaque) -> Half | None:
    """A tool that the provider runs: its call, or its result."""
    native = block.native
    if not isinstance(native, dict):
        return None
    if block.kind == "server_tool_result":
        return Half(str(native.get("tool_use_id")), is_result=True)
    if block.kind == "server_tool":
        # An input that broke off is a text here, and refused: no result has its key.
        whole = isinstance(native.get("input"), dict)
        return Half(str(native.get("id")) if whole else "", is_result=False)
    return None


def _caller(call: Json) -> str | None:
    """The id of the `server_tool_use` whose code made a call."""
    match call:
        case {"caller": {"tool_id": str(key)}}:
            return key
        case _:
            return None


CODEC = Codec(
    profile=Profile(
        results="user",
        system="beside",
        inner_system="user",
        alternate=BOTH,
        first_user=True,
        last="user",
        trims_end=True,
        calls_last=True,
        pins_blocks=True,
        ids=re.compile(r"[a-zA-Z0-9_-]+"),
        names=re.compile(r"[a-zA-Z0-9_-]{1,128}"),
        blank_results=False,
        error_flag=True,
        wire=WIRE,
        thinking=True,
        issuers=frozenset({"anthropic"}),
        model_bound=True,
        home=True,
        # The API: "A maximum of 4 blocks with cache_control may be provided."
        cache_marks=CacheMarks("cache_control", 4),
        keeps_opaque=keeping("image", "document", "search_result", "container_upload"),
        half=_half,
        caller=_caller,
        foreign_loops=False,
        images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
        # The API: "image exceeds 5 MB maximum … > 5242880 bytes", "… max allowed size: 8000".
        image_bytes=5_242_880,
        image_pixels=8_000,
        files=frozenset({"application/pdf", "text/plain", "url"}),
        result_media=True,
        # anthropic: ToolResultBlockParam, without references to tools, which must be offered.
        result_opaque=frozenset({"image", "document", "search_result"}),
    ),
    # The API: "input_schema does not support oneOf, allOf, or anyOf at the top level"; "Property
    # keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", which only those at the top must.
    tools=ToolRules(
        lenient=True,
        object_type=True,
        refused_top=COMBINATIONS,
        keys=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
        strict=True,
    ),
    ids=Prefixed("toolu_"),
    keys=("system", "messages"),
    nicknames=("claude",),
    # The anthropic SDK's MessageCreateParams, the beta ones too; the last three until 0.125.
    settings=names(
        "betas billing_policy cache_control compaction container context_management diagnostics"
        " fallback_credit_token fallbacks inference_geo max_tokens mcp_servers output_config"
        " service_tier speed stop_sequences stream thinking thread user_profile_id workspace_id"
        " temperature top_k top_p"
    ),
    replies=Replies(read_reply, AnthropicGathering, used, is_message),
    parse=parse,
    write=write,
    write_system=write_system,
    read_tools=read_tools,
    read_choice=read_choice,
    write_tools=write_tools,
)
