"""The providers' own SDKs as clients of the fake provider, and dumps of what they give.

Each client gives: the events of a stream as they are dumped one by one, those that its helper for
streams gives (None where there is no such helper), the objects that the SDK puts together from a
stream, and the objects of an answer that was not streamed.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import anthropic
import botocore.session
import httpx
import openai
from botocore import UNSIGNED
from botocore.config import Config
from google import genai
from google.genai import types
from mistralai.client import Mistral
from pydantic import BaseModel

from app.formats.registry import CODECS
from tests.formats import family
from tests.streams.fake_provider import bytes_as_text
from tests.streams.recordings import Recording

Dump: TypeAlias = Any
_ASK: Any = [{"role": "user", "content": "?"}]


@dataclass(frozen=True)
class Sdk:
    events: Callable[[str], list[Dump]]
    helped: Callable[[str], list[Dump]] | None
    finals: Callable[[str, Recording], Iterator[Dump]]
    answers: Callable[[str], Iterator[Dump]]


def _dumps(value: BaseModel) -> Iterator[Dump]:
    """As callers dump: with nulls and without, in Python's values and in JSON's."""
    # Mistral's content in parts is more than OpenAI's types expect; the SDK keeps it and warns.
    yield value.model_dump(warnings=False)
    yield value.model_dump(mode="json", exclude_unset=True, warnings=False)
    yield json.loads(value.model_dump_json(warnings=False))


# Making a client takes longer than what is asked through it: they are made once.


@cache
def _openai_client() -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url="http://127.0.0.1", max_retries=0)


def _openai(url: str) -> openai.OpenAI:
    return _openai_client().with_options(base_url=f"{url}/v1")


def _chat_events(url: str) -> list[Dump]:
    client = _openai(url)
    chunks = client.chat.completions.create(model="m", messages=_ASK, stream=True)
    return [chunk.model_dump(warnings=False) for chunk in chunks]


def can_be_helped(one: Recording) -> bool:
    """OpenAI's helper cannot put together parts, which have no index, nor custom tools."""
    is_chat = SDKS[one.provider] is _CHAT
    return not (is_chat and (b'"content":[' in one.stream or b'"custom"' in one.stream))


def _chat_finals(url: str, one: Recording) -> Iterator[Dump]:
    # What stands on every piece of a detail (its format) the helper writes once for each piece.
    if not can_be_helped(one) or b'"reasoning_details"' in one.stream:
        return
    client = _openai(url)
    with suppress(openai.ContentFilterFinishReasonError):
        try:
            with client.chat.completions.stream(model="m", messages=_ASK) as stream:
                final: BaseModel = stream.get_final_completion()
        except openai.LengthFinishReasonError as error:
            final = error.completion
        yield from _dumps(final)


def _chat_helped(url: str) -> list[Dump]:
    dumped: list[Dump] = []
    client = _openai(url)
    with (
        client.chat.completions.stream(model="m", messages=_ASK) as stream,
        suppress(openai.ContentFilterFinishReasonError, openai.LengthFinishReasonError),
    ):
        dumped.extend(event.model_dump(warnings=False) for event in stream)
    return dumped


def _chat_answers(url: str) -> Iterator[Dump]:
    client = _openai(url)
    yield from _dumps(client.chat.completions.create(model="m", messages=_ASK))


def _responses_events(url: str) -> list[Dump]:
    client = _openai(url)
    stream = client.responses.create(model="m", input="?", stream=True)
    return [event.model_dump() for event in stream]


def _responses_finals(url: str, one: Recording) -> Iterator[Dump]:
    with _openai(url).responses.stream(model="m", input="?") as stream:
        events = list(stream)
        last = events[-1]
        assert last.type in ("response.completed", "response.incomplete")
        yield from _dumps(last.response)
        if last.type == "response.completed":
            yield from _dumps(stream.get_final_response())


def _responses_helped(url: str) -> list[Dump]:
    with _openai(url).responses.stream(model="m", input="?") as stream:
        return [event.model_dump(warnings=False) for event in stream]


def _responses_answers(url: str) -> Iterator[Dump]:
    client = _openai(url)
    yield from _dumps(client.responses.create(model="m", input="?"))


@cache
def _anthropic_client() -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="none", base_url="http://127.0.0.1", max_retries=0)


def _anthropic(url: str) -> anthropic.Anthropic:
    return _anthropic_client().with_options(base_url=url)


def _anthropic_events(url: str) -> list[Dump]:
    client = _anthropic(url)
    stream = client.messages.create(model="m", max_tokens=9, messages=_ASK, stream=True)
    return [event.model_dump() for event in stream]


def _anthropic_finals(url: str, one: Recording) -> Iterator[Dump]:
    client = _anthropic(url)
    with client.messages.stream(model="m", max_tokens=9, messages=_ASK) as stream:
        yield from _dumps(stream.get_final_message())


def _anthropic_helped(url: str) -> list[Dump]:
    client = _anthropic(url)
    with client.messages.stream(model="m", max_tokens=9, messages=_ASK) as stream:
        return [event.model_dump(warnings=False) for event in stream]


def _anthropic_answers(url: str) -> Iterator[Dump]:
    client = _anthropic(url)
    yield from _dumps(client.messages.create(model="m", max_tokens=9, messages=_ASK))


@cache
def _connections() -> httpx.Client:
    return httpx.Client()


def _gemini(url: str) -> genai.Client:
    options = types.HttpOptions(base_url=url, httpx_client=_connections())
    return genai.Client(api_key="none", http_options=options)


def _gemini_dumps(value: types.GenerateContentResponse) -> Iterator[Dump]:
    yield value.to_json_dict()
    yield value.model_dump(mode="json")
    yield value.model_dump(mode="json", by_alias=True, exclude_none=True)


def _gemini_events(url: str) -> list[Dump]:
    client = _gemini(url)
    chunks = client.models.generate_content_stream(model="m", contents="?")
    return [chunk.model_dump(mode="json") for chunk in chunks]


def _nothing(url: str, one: Recording) -> Iterator[Dump]:
    """For SDKs that put nothing together."""
    yield from ()


def _gemini_answers(url: str) -> Iterator[Dump]:
    client = _gemini(url)
    yield from _gemini_dumps(client.models.generate_content(model="m", contents="?"))


@cache
def _session() -> Any:
    """Reads the description of the service once."""
    return botocore.session.get_session()


def _bedrock(url: str) -> Any:
    config = Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1})
    return _session().create_client("bedrock-runtime", "eu-west-1", endpoint_url=url, config=config)


_ASK_BEDROCK = [{"role": "user", "content": [{"text": "?"}]}]


def _as_text(value: object) -> Dump:
    return json.loads(json.dumps(value, default=bytes_as_text))


def _bedrock_events(url: str) -> list[Dump]:
    answer = _bedrock(url).converse_stream(modelId="m", messages=_ASK_BEDROCK)
    return [_as_text(event) for event in answer["stream"]]


def _bedrock_answers(url: str) -> Iterator[Dump]:
    yield _as_text(_bedrock(url).converse(modelId="m", messages=_ASK_BEDROCK))


@cache
def _mistral(url: str) -> Mistral:
    return Mistral(api_key="none", server_url=url)


def _mistral_events(url: str) -> list[Dump]:
    """Each holds its chunk under `data`."""
    with _mistral(url).chat.stream(model="m", messages=_ASK) as stream:
        return [event.model_dump(mode="json", warnings=False) for event in stream]


def _mistral_answers(url: str) -> Iterator[Dump]:
    answer = _mistral(url).chat.complete(model="m", messages=_ASK)
    yield from _dumps(answer)


_CHAT = Sdk(_chat_events, _chat_helped, _chat_finals, _chat_answers)
_BY_FAMILY: dict[str, Sdk] = {
    # All of these speak the chat shape; their own pages show OpenAI's SDK.
    "chat": _CHAT,
    "openai_responses": Sdk(
        _responses_events, _responses_helped, _responses_finals, _responses_answers
    ),
    "anthropic": Sdk(_anthropic_events, _anthropic_helped, _anthropic_finals, _anthropic_answers),
    "gemini": Sdk(_gemini_events, None, _nothing, _gemini_answers),
    "bedrock": Sdk(_bedrock_events, None, _nothing, _bedrock_answers),
}
SDKS = {target: _BY_FAMILY[family(target)] for target, codec in CODECS.items() if codec.replies}
# The second SDK that people ask Mistral with: its own.
MISTRALAI = Sdk(_mistral_events, None, _nothing, _mistral_answers)
