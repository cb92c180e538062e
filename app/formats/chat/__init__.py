"""The chat shape that many providers speak; each is a `chat_codec` in a file of its own."""

from functools import partial

from ..shared.codec import Codec, IdRule, Prefixed
from ..shared.profile import Profile
from ..shared.reading import names
from ..shared.responses import Replies
from ..shared.tool_rules import ToolRules
from .messages import Dialect, parse, read_reply, used, write
from .stream import ChatGathering, is_completion
from .tools import read_choice, read_tools, write_tools

# The openai SDK's CompletionCreateParams and the mistralai SDK's ChatCompletionRequest, without
# what is content (`functions`); then what hosts of this shape add: `thinking` of DeepSeek and
# Moonshot, Alibaba's for Qwen.
SETTINGS = names(
    "audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens modalities"
    " moderation n prediction presence_penalty prompt_cache_key prompt_cache_options"
    " prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier"
    " stop store stream stream_options temperature top_logprobs top_p user verbosity"
    " web_search_options"
    " guardrails min_tokens prompt_logprobs prompt_mode random_seed repetition_penalty safe_prompt"
    " top_k top_prompt_logprobs"
    " thinking enable_thinking thinking_budget enable_search search_options"
)


def chat_codec(
    profile: Profile = Profile(),
    tools: ToolRules = ToolRules(described=True),
    ids: IdRule = Prefixed("call_"),
    dialect: Dialect = Dialect(),
    settings: frozenset[str] = SETTINGS,
    nicknames: tuple[str, ...] = (),
) -> Codec:
    """A wire of the chat shape: what it demands, and in what its words differ from OpenAI's."""
    read = partial(read_reply, wire=dialect.wire)
    return Codec(
        profile=profile,
        tools=tools,
        ids=ids,
        settings=settings,
        nicknames=nicknames,
        replies=Replies(read, ChatGathering, used, is_completion),
        parse=partial(parse, wire=dialect.wire),
        write=partial(write, dialect=dialect),
        read_tools=read_tools,
        read_choice=read_choice,
        write_tools=partial(write_tools, says_strict=dialect.says_strict),
    )
