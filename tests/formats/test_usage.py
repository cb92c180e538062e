"""Usage in one shape: what each provider's own count means. The names are those of the SDKs."""

import pytest
from anthropic.types import Usage as AnthropicUsage
from botocore.session import get_session
from google.genai.types import GenerateContentResponseUsageMetadata
from mistralai.client.models import UsageInfo
from openai.types import CompletionUsage
from openai.types.responses import ResponseUsage

from app.formats.registry import CODECS
from app.model.json_values import JsonObject
from app.model.usage import Usage, tokens

CHAT: JsonObject = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 15},
}
RESPONSES: JsonObject = {
    "input_tokens": 100,
    "output_tokens": 20,
    "total_tokens": 120,
    "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 15},
}
ANTHROPIC: JsonObject = {
    "input_tokens": 30,
    "cache_creation_input_tokens": 10,
    "cache_read_input_tokens": 60,
    "output_tokens": 20,
    "output_tokens_details": {"thinking_tokens": 15},
}
BEDROCK: JsonObject = {
    "inputTokens": 30,
    "cacheWriteInputTokens": 10,
    "cacheReadInputTokens": 60,
    "outputTokens": 20,
    "totalTokens": 120,
}
GEMINI: JsonObject = {
    "prompt_token_count": 95,
    "tool_use_prompt_token_count": 5,
    "cached_content_token_count": 60,
    "candidates_token_count": 5,
    "thoughts_token_count": 15,
    "total_token_count": 120,
}
PLAIN: JsonObject = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
ALL = Usage(100, 20, 60, 15)


@pytest.mark.parametrize(
    ("target", "counted", "meant"),
    [
        ("openai", CHAT, ALL),
        ("qwen", CHAT, ALL),
        ("mistral", CHAT, ALL),
        ("mistral", PLAIN, Usage(100, 20)),
        ("deepseek", PLAIN | {"prompt_cache_hit_tokens": 60}, Usage(100, 20, 60)),
        ("kimi", PLAIN | {"cached_tokens": 60}, Usage(100, 20, 60)),
        ("openai-responses", RESPONSES, ALL),
        ("anthropic", ANTHROPIC, ALL),
        ("bedrock", BEDROCK, Usage(100, 20, 60)),
        ("gemini", GEMINI, ALL),
    ],
)
def test_every_count_is_said_in_one_shape(target: str, counted: JsonObject, meant: Usage) -> None:
    replies = CODECS[target].replies
    assert replies is not None
    assert replies.usage(counted) == meant


def test_the_names_are_those_of_the_sdks() -> None:
    CompletionUsage.model_validate(CHAT)
    ResponseUsage.model_validate(RESPONSES)
    AnthropicUsage.model_validate(ANTHROPIC)
    assert AnthropicUsage.model_fields.keys() >= ANTHROPIC.keys()
    assert GenerateContentResponseUsageMetadata.model_fields.keys() >= GEMINI.keys()
    assert UsageInfo.model_fields.keys() >= PLAIN.keys()
    shape = get_session().get_service_model("bedrock-runtime").shape_for("TokenUsage")
    assert shape.members.keys() >= BEDROCK.keys()


@pytest.mark.parametrize("odd", [None, True, -1, 1.5, "7", [7], {"tokens": 7}, 10**13])
def test_what_is_no_count_is_nothing(odd: object) -> None:
    assert tokens({"n": odd}, "n") == 0  # type: ignore[dict-item]
    assert tokens({"n": odd}, "n", "m") == 0  # type: ignore[dict-item]
    assert tokens([], "n") == 0
