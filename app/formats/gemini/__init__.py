"""Google Gemini: contents with parts, roles `user` and `model`.

A call turn comes right behind a user or response turn, all responses of it stand in one turn of
their own, in the same number and order and under the same names. Thought signatures stay on their
parts; a call of another model carries the bypass value that Google documents, where Gemini 3 and
later would refuse it otherwise.
"""

import re

from ...model.conversation import Opaque
from ..shared.codec import Codec, Prefixed
from ..shared.profile import BOTH, Half, Profile
from ..shared.reading import names
from ..shared.responses import Replies
from ..shared.tool_rules import ToolRules
from .messages import parse, read_reply, used, write, write_system
from .stream import GeminiGathering, is_generated
from .tools import WIRE, read_choice, read_tools, write_tools


def _half(block: Opaque) -> Half | None:
    """Code that Gemini ran, or what came of it, which follows."""
    if block.kind in ("server_tool", "server_tool_result"):
        return Half("code", is_result=block.kind == "server_tool_result")
    return None


CODEC = Codec(
    profile=Profile(
        results="together",
        results_alone=True,
        system="beside",
        inner_system="user",
        alternate=BOTH,
        first_user=True,
        last="user",
        trims_end=True,
        names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
        value_results=True,
        object_results=True,
        error_flag=True,
        wire=WIRE,
        thinking=True,
        issuers=frozenset({"gemini", "google", "vertex"}),
        model_bound=True,
        home=True,
        half=_half,
        signature="skip_thought_signature_validator",
        # Up to 2.5 nothing is checked, and an unknown signature might be.
        signed_models=re.compile(r"(?!.*gemini-[12]\b).*", re.DOTALL),
        images=frozenset({"image/png", "image/jpeg", "image/webp"}),
        files=frozenset({"application/pdf", "text/plain", "url"}),
        # google-genai, `Blob.display_name`: "used in the Gemini calls only when server-side tools
        # (…) are enabled".
        named_files=frozenset(),
    ),
    tools=ToolRules(
        choice=("tool_config", "toolConfig"),
        switch=False,
        object_type=True,
        # Google's documentation of JSON Schema for Gemini: only what begins with $ beside a $ref.
        lone_refs=True,
        parallel=False,
        allowed=True,
        # The mode of function calling says nothing of google_search and its like.
        chooses_hosted=False,
    ),
    ids=Prefixed("hist_tool_"),
    keys=("system_instruction", "systemInstruction", "messages", "contents"),
    messages="contents",
    nicknames=("google", "genai", "vertex"),
    # What google-genai writes beside the contents of a request; proto3's JSON takes both spellings.
    settings=names(
        "cachedContent continuationToken generationConfig labels modelArmorConfig outputConfig"
        " safetySettings serviceTier store"
        " cached_content continuation_token generation_config model_armor_config output_config"
        " safety_settings service_tier"
    ),
    replies=Replies(read_reply, GeminiGathering, used, is_generated, arrays=True),
    parse=parse,
    write=write,
    write_system=write_system,
    read_tools=read_tools,
    read_choice=read_choice,
    write_tools=write_tools,
)
