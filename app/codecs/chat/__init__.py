"""The chat shape that many providers speak; each is a `ChatCodec` in a file of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from app.codecs.chat.messages import Dialect, parse, read_reply, render, used
from app.codecs.chat.stream import ChatGathering, is_completion
from app.codecs.chat.tools import read_choice, read_tools, write_tools
from app.codecs.shared.reading import names
from app.core.conversation import Draft
from app.core.json.text import Json, JsonObject
from app.core.render.profile import Profile
from app.core.render.view import View
from app.core.tools.definitions import Choice, Definition, HostedTool, Tool
from app.core.tools.rules import ToolRules
from app.core.wire.codec import IdRule, Posted, Prefixed
from app.core.wire.responses import Replies

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


@dataclass(frozen=True, slots=True)
class ChatCodec:
    """A wire of the chat shape: what it demands, and in what its words differ from OpenAI's."""

    profile: Profile = Profile()
    tools: ToolRules = ToolRules(described=True)
    ids: IdRule = Prefixed("call_")
    dialect: Dialect = Dialect()
    settings: frozenset[str] = SETTINGS
    keys: tuple[str, ...] = ("messages",)
    messages: str = "messages"
    nicknames: tuple[str, ...] = ()

    @property
    def replies(self) -> Replies:
        read = partial(read_reply, wire=self.dialect.wire)
        return Replies(read, ChatGathering, used, is_completion)

    def parse(self, posted: Posted) -> list[Draft]:
        return parse(posted, self.dialect.wire)

    def render(self, view: View) -> JsonObject:
        return render(view, self.dialect)

    def read_tools(self, definitions: Json) -> list[Definition]:
        return read_tools(definitions)

    def read_choice(self, choice: Json, parallel: bool | None) -> Choice | None:
        return read_choice(choice, parallel)

    def write_tools(self, tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
        return write_tools(tools, choice, says_strict=self.dialect.says_strict)
