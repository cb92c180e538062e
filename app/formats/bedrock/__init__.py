"""AWS Bedrock Converse.

Pairing and order as on Anthropic; blocks are objects with one member; a JSON result is an object;
tools must be declared whenever tool blocks stand in the history (the API's error: "The toolConfig
field must be defined …"). Bytes are shown as base64 text, which is how the wire carries them.
"""

import re

from ...model.conversation import Opaque
from ..shared.codec import Codec, Prefixed
from ..shared.profile import BOTH, CacheMarks, Half, Profile
from ..shared.reading import names
from ..shared.responses import Replies
from ..shared.tool_rules import ToolRules
from ..shared.walk import COMBINATIONS
from .messages import FILES, IMAGES, parse, read_reply, used, write, write_system
from .stream import BedrockGathering, is_converse
from .tools import WIRE, read_choice, read_tools, write_tools

# botocore's service model: S3Uri.
_S3 = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?")


def _keeps(block: Opaque) -> bool:
    """Text for guardrails, and media in S3."""
    match block.native:
        case _ if block.kind == "guardContent":
            return True
        case {block.kind: {"source": {"s3Location": {"uri": str(uri)}}}}:
            return _S3.fullmatch(uri) is not None
        case _:
            return False


def _half(block: Opaque) -> Half | None:
    """A tool that the provider runs: its call, or its result."""
    match block.native:
        case {"toolUse": {"toolUseId": str(key), "input": given}}:
            # An input that broke off is a text here, and refused: no result has its key.
            return Half(key if isinstance(given, dict) else "", is_result=False)
        case {"toolResult": {"toolUseId": str(key)}}:
            return Half(key, is_result=True)
        case _:
            return None


CODEC = Codec(
    profile=Profile(
        home=True,
        half=_half,
        # AWS's user guide, "Prompt caching": at most 4 cache checkpoints in a request.
        cache_marks=CacheMarks("cachePoint", 4),
        home_system=True,
        keeps_opaque=_keeps,
        results="user",
        system="beside",
        inner_system="user",
        alternate=BOTH,
        first_user=True,
        last="user",
        trims_end=True,
        calls_last=True,
        pins_blocks=True,
        ids=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
        blank_results=False,
        value_results=True,
        error_flag=True,
        tools_declared=True,
        wire=WIRE,
        thinking=True,
        issuers=frozenset({"bedrock"}),
        model_bound=True,
        foreign_loops=False,
        images=frozenset(IMAGES),
        files=frozenset(FILES),
        # Converse: an image has at most 3.75 MB and 8,000 pixels a side.
        image_bytes=3_932_160,
        image_pixels=8_000,
        result_media=True,
    ),
    tools=ToolRules(
        choice=("toolChoice",),
        config="toolConfig",
        object_type=True,
        # As Anthropic, which answers through Bedrock in the same words.
        refused_top=COMBINATIONS,
        keys=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
        none=False,
        parallel=False,
        strict=True,
    ),
    ids=Prefixed("tooluse_"),
    keys=("system", "messages"),
    nicknames=("aws", "amazon", "converse"),
    # botocore's service model of Converse, without `promptVariables`, which are content.
    settings=names(
        "additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig"
        " inferenceConfig modelId outputConfig performanceConfig requestMetadata serviceTier"
    ),
    replies=Replies(read_reply, BedrockGathering, used, is_converse),
    parse=parse,
    write=write,
    write_system=write_system,
    read_tools=read_tools,
    read_choice=read_choice,
    write_tools=write_tools,
)
