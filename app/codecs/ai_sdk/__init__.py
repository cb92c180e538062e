"""Vercel's AI SDK, in all versions; each is an `AiSdkCodec` in a file of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.codecs.ai_sdk.messages import Version, parse, render
from app.codecs.ai_sdk.tools import read_choice, read_tools, write_tools
from app.codecs.shared.reading import names
from app.core.conversation import Draft
from app.core.json.text import Json, JsonObject
from app.core.render.profile import Profile
from app.core.render.view import View
from app.core.tools.definitions import Choice, Definition, HostedTool, Tool
from app.core.tools.rules import ToolRules
from app.core.wire.codec import Posted, Prefixed

# What generateText and streamText of ai 4 and 5 take and JSON can say, without `prompt`.
SETTINGS = names(
    "activeTools allowSystemInMessages experimental_activeTools experimental_continueSteps"
    " experimental_output experimental_providerMetadata experimental_telemetry frequencyPenalty"
    " headers includeRawChunks maxOutputTokens maxRetries maxSteps maxTokens presencePenalty"
    " providerOptions seed stopSequences temperature toolCallStreaming topK topP"
)
PROFILE = Profile(
    results="together",
    # Any maker's model may stand behind it, and some want the user to speak last.
    last="user",
    system="beside",
    inner_system="user",
    value_results=True,
    error_flag=True,
    thinking=True,
    images=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "url"}),
    files=frozenset({"application/pdf", "text/plain", "url"}),
)


@dataclass(frozen=True, slots=True)
class AiSdkCodec:
    """One version of the SDK; `is_v4` chooses the older names."""

    profile: Profile
    is_v4: bool = False
    tools: ToolRules = ToolRules(
        choice=("toolChoice",), switch=False, object_type=True, parallel=False
    )
    ids: Prefixed = Prefixed("call_")
    settings: frozenset[str] = SETTINGS
    keys: tuple[str, ...] = ("system", "messages")
    messages: str = "messages"
    nicknames: tuple[str, ...] = ()
    # An SDK, not a provider: its own responses are messages.
    replies: None = None

    @property
    def version(self) -> Version:
        return Version(self.profile.wire, self.is_v4)

    def parse(self, posted: Posted) -> list[Draft]:
        return parse(posted, self.version)

    def render(self, view: View) -> JsonObject:
        return render(view, self.version)

    def read_tools(self, definitions: Json) -> list[Definition]:
        return read_tools(definitions, self.profile.wire)

    def read_choice(self, choice: Json, parallel: bool | None) -> Choice | None:
        return read_choice(choice, parallel)

    def write_tools(self, tools: Sequence[Tool | HostedTool], choice: Choice | None) -> JsonObject:
        return write_tools(tools, choice, key="parameters" if self.is_v4 else "inputSchema")
