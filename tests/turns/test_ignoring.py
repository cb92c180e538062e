"""Settings of a whole request: ignored with one note, told from content and from mistakes."""

import json
from typing import Any

import botocore.session
import pytest
from anthropic.types.beta import message_create_params as beta_messages
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google.genai import types as gemini
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

from app.convert.queries import convert_messages, convert_tools
from app.formats.registry import CODECS
from app.jsontext.reading import loads_object
from app.model.errors import RuleBroken
from app.model.limits import Limits
from app.turns.posting import Post, read_post

HELLO = {"role": "user", "content": "hello"}
PARTS = {"role": "user", "parts": [{"text": "hello"}]}
TEXTS = {"role": "user", "content": [{"text": "hello"}]}
ENVELOPE = ("provider", "format", "model", "turn_id", "metadata", "response")
# Members of the SDKs' requests that hold something of the conversation and are not read.
CONTENT = {"functions", "function_call", "prompt", "promptVariables"}


def read(body: dict[str, Any]) -> Post:
    return read_post(*loads_object(json.dumps(body), Limits()), Limits())


def converse() -> set[str]:
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    return set(model.operation_model("Converse").input_shape.members)


SDKS: dict[str, set[str]] = {
    "openai": set(CompletionCreateParamsStreaming.__annotations__),
    "openai-responses": set(ResponseCreateParamsStreaming.__annotations__),
    "anthropic": set(MessageCreateParamsStreaming.__annotations__)
    | set(beta_messages.MessageCreateParamsStreaming.__annotations__),
    "bedrock": converse(),
}


@pytest.mark.parametrize("provider", SDKS)
def test_every_member_of_the_sdks_request_is_read_or_ignored_or_content(provider: str) -> None:
    codec = CODECS[provider]
    known = {*ENVELOPE, *codec.keys, *codec.tools.members}
    assert SDKS[provider] - known - codec.settings == SDKS[provider] & CONTENT


@pytest.mark.parametrize("provider", CODECS)
def test_no_setting_is_something_that_is_read(provider: str) -> None:
    codec = CODECS[provider]
    assert not codec.settings & {*ENVELOPE, *codec.keys, *codec.tools.members, *CONTENT}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (
            {"provider": "openai", "messages": [HELLO], "max_tokens": 9, "stream": True, "n": 1},
            "max_tokens, stream, n",
        ),
        (
            {"provider": "kimi", "messages": [HELLO], "thinking": {"type": "disabled"}},
            "thinking",
        ),
        (
            {"provider": "mistral", "messages": [HELLO], "random_seed": 1, "safe_prompt": False},
            "random_seed, safe_prompt",
        ),
        ({"provider": "qwen", "messages": [HELLO], "enable_thinking": False}, "enable_thinking"),
        (
            {"provider": "openrouter", "messages": [HELLO], "reasoning": {}, "transforms": []},
            "reasoning, transforms",
        ),
        (
            {"provider": "acme", "format": "openai", "messages": [HELLO], "top_k": 5, "stop": "x"},
            "top_k, stop",
        ),
        (
            {"provider": "anthropic", "messages": [HELLO], "temperature": 0, "thinking": {}},
            "temperature, thinking",
        ),
        (
            {"provider": "openai-responses", "input": [HELLO], "store": False, "reasoning": {}},
            "store, reasoning",
        ),
        (
            {"provider": "gemini", "contents": [PARTS], "generationConfig": {"topP": 1}},
            "generationConfig",
        ),
        ({"provider": "gemini", "contents": [PARTS], "safety_settings": []}, "safety_settings"),
        (
            {"provider": "bedrock", "messages": [TEXTS], "modelId": "m", "inferenceConfig": {}},
            "modelId, inferenceConfig",
        ),
        ({"provider": "vercel", "messages": [HELLO], "maxOutputTokens": 5}, "maxOutputTokens"),
    ],
    ids=lambda given: given["provider"] if isinstance(given, dict) else given,
)
def test_settings_are_ignored_with_one_note_that_names_them(
    body: dict[str, Any], named: str
) -> None:
    post = read(body)
    plain = read({key: body[key] for key in body if key not in named.split(", ")})
    assert post.drafts == plain.drafts
    assert [note.code for note in post.notes] == ["SETTINGS_IGNORED"]
    assert post.notes[0].detail.endswith(f": {named}")
    assert plain.notes == ()


def test_a_setting_that_says_nothing_needs_no_note() -> None:
    assert read({"provider": "openai", "messages": [HELLO], "temperature": None}).notes == ()


def test_the_settings_of_another_provider_are_mistakes() -> None:
    with pytest.raises(RuleBroken) as caught:
        read({"provider": "anthropic", "messages": [HELLO], "inferenceConfig": {}})
    assert caught.value.pointer == "/inferenceConfig"


@pytest.mark.parametrize("key", sorted(CONTENT))
def test_what_holds_content_is_no_setting(key: str) -> None:
    for provider in CODECS:
        with pytest.raises(RuleBroken):
            read({"provider": provider, CODECS[provider].messages: [HELLO], key: [{"name": "f"}]})


def test_model_and_metadata_of_a_request_are_kept_with_the_turns() -> None:
    whole = {"provider": "anthropic", "model": "claude-x", "metadata": {"user_id": "u"}}
    [draft] = read({**whole, "max_tokens": 5, "messages": [HELLO]}).drafts
    assert (draft.model, draft.metadata) == ("claude-x", {"user_id": "u"})


def test_what_google_genai_writes_beside_the_contents_is_known() -> None:
    # The SDK's own names for what the codec's list says in the names of the wire.
    fields = gemini.GenerateContentConfig.model_fields
    for name in ("safety_settings", "cached_content", "labels", "service_tier", "store"):
        assert name in fields
        assert name in CODECS["gemini"].settings


def converted(**members: Any) -> Any:
    body = {"from": "openai-responses", "to": "anthropic", "input": [HELLO], **members}
    return convert_messages(*loads_object(json.dumps(body), Limits()), Limits())


def test_conversions_ignore_settings_too() -> None:
    [note] = converted(store=False, reasoning={"effort": "high"})["notes"]
    assert note["code"] == "SETTINGS_IGNORED"
    assert note["detail"].endswith(": store, reasoning")


def test_reasoning_as_a_word_is_the_option_of_the_conversion() -> None:
    assert converted(reasoning="drop")["notes"] == []
    with pytest.raises(RuleBroken) as caught:
        converted(reasoning="much")
    assert caught.value.pointer == "/reasoning"


def test_an_object_is_no_option_where_the_source_has_no_such_setting() -> None:
    with pytest.raises(RuleBroken) as caught:
        convert_messages(
            *loads_object(
                json.dumps(
                    {"from": "gemini", "to": "openai", "contents": [PARTS], "reasoning": {}}
                ),
                Limits(),
            ),
            Limits(),
        )
    assert caught.value.pointer == "/reasoning"


def test_conversions_of_tools_ignore_settings_too() -> None:
    body: Any = {"from": "anthropic", "to": "openai", "max_tokens": 5}
    done: Any = convert_tools(body | {"tools": [{"name": "f", "input_schema": {}}]}, Limits())
    assert [note["code"] for note in done["notes"]] == ["SETTINGS_IGNORED"]
    assert len(done["tools"]) == 1
