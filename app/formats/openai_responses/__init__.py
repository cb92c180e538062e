"""OpenAI Responses: a flat list of items instead of messages.

Calls and outputs pair by `call_id` alone. Item ids are left out: a wrong prefix, a duplicate or an
id that the server has forgotten is refused, a missing one never is. A reasoning item goes back to
its issuer only, with its encrypted content, and only in front of the item it belongs to.
"""

import re

from ...model.conversation import Opaque
from ...model.json_values import Json
from ..shared.codec import Codec, Prefixed
from ..shared.profile import ASSISTANT, Half, Profile, keeping
from ..shared.reading import names
from ..shared.responses import Replies
from ..shared.tool_rules import ToolRules
from ..shared.walk import COMBINATIONS
from .messages import parse, read_reply, used, write, write_system
from .stream import ResponsesGathering, is_response
from .tools import WIRE, read_choice, read_tools, write_tools

# openai: ResponseInputItemParam. The caller runs these; each has an output of the same `call_id`.
_CLIENT_RUN = names(
    "computer_call local_shell_call shell_call apply_patch_call tool_search_call program"
)


def _half(block: Opaque) -> Half | None:
    """A call that the caller runs, a question to it, or what it answered."""
    match block.native:
        case {"type": "mcp_approval_request", "id": str(key)}:
            return Half(key, is_result=False, by_client=True)
        case {"type": "mcp_approval_response", "approval_request_id": str(key)}:
            return Half(key, is_result=True, by_client=True)
        # The id of this output is that of its call.
        case {"type": "local_shell_call_output", "id": str(key)}:
            return Half(key, is_result=True, by_client=True)
        case {"type": str(kind), "call_id": str(key)} if kind.endswith("_output"):
            return Half(key, is_result=True, by_client=True)
        case {"type": str(kind), "call_id": str(key)} if kind in _CLIENT_RUN:
            return Half(key, is_result=False, by_client=True)
        # A search that the provider ran has no call id.
        case {"type": "tool_search_call" | "tool_search_output" as kind}:
            return Half("tool_search", is_result=kind == "tool_search_output")
        case _:
            return None


def _caller(call: Json) -> str | None:
    """The `call_id` of the `program` that made a call."""
    match call:
        case {"caller": {"caller_id": str(key)}}:
            return key
        case _:
            return None


CODEC = Codec(
    profile=Profile(
        system="beside",
        alternate=ASSISTANT,
        calls_last=True,
        splits_rounds=True,
        leads_on=True,
        ids=re.compile(r".{1,64}", re.DOTALL),
        wire=WIRE,
        thinking=True,
        issuers=frozenset({"openai", "openai-responses"}),
        model_bound=True,
        # Items that the provider answered itself, and files by id in user messages.
        keeps_opaque=keeping("server_tool", "input_image", "input_file"),
        home=True,
        home_system=True,
        # The API: "Item with id 'rs_…' not found. Items are not persisted when `store` is false."
        server_state=frozenset({"item_reference"}),
        half=_half,
        caller=_caller,
        images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
        files=frozenset({"application/pdf", "url"}),
        named_files=frozenset({"data"}),
    ),
    # The API: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at
    # the top level" (langchain-ai/langchainjs#9804).
    tools=ToolRules(
        exacting=True,
        described=True,
        object_type=True,
        refused_top=(*COMBINATIONS, "enum", "not"),
        allowed=True,
        strict=True,
    ),
    ids=Prefixed("call_"),
    keys=("instructions", "messages", "input"),
    messages="input",
    nicknames=("responses",),
    # The openai SDK's ResponseCreateParams, without `prompt`, whose variables are content.
    settings=names(
        "access_programs background context_management conversation image include max_output_tokens"
        " max_tool_calls moderation previous_response_id prompt_cache_key prompt_cache_options"
        " prompt_cache_retention reasoning safety_identifier service_tier store stream"
        " stream_options temperature text top_logprobs top_p truncation user"
    ),
    replies=Replies(read_reply, ResponsesGathering, used, is_response),
    parse=parse,
    write=write,
    write_system=write_system,
    read_tools=read_tools,
    read_choice=read_choice,
    write_tools=write_tools,
)
