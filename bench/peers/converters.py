"""Conversion alone, from the shape of OpenAI to that of Anthropic: litellm and pydantic-ai.

Both have it as an inner function; pydantic-ai starts from messages of its own, which are made
beforehand.
"""

import asyncio
import os
from typing import Any

from bench.turns import Message

MODEL = "claude-sonnet-4-5"


class Litellm:
    def __init__(self) -> None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        from litellm.litellm_core_utils.prompt_templates.factory import (  # noqa: PLC0415
            anthropic_messages_pt,
        )

        self._convert = anthropic_messages_pt

    def prepared(self, messages: list[Message]) -> object:
        return messages

    def convert(self, prepared: Any) -> object:
        # It changes what it is given, but for the list itself.
        return self._convert(
            messages=[dict(one) for one in prepared], model=MODEL, llm_provider="anthropic"
        )


class PydanticAi:
    def __init__(self) -> None:
        from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

        self._model = AnthropicModel(MODEL, provider=AnthropicProvider(api_key="none"))
        self._parameters = ModelRequestParameters()

    def prepared(self, messages: list[Message]) -> object:
        return [_model_message(message) for message in messages]

    def convert(self, prepared: Any) -> object:
        return asyncio.run(self._model._map_message(prepared, self._parameters, {}))


def _model_message(message: Any) -> object:
    from pydantic_ai import messages as own  # noqa: PLC0415

    match message["role"]:
        case "user":
            return own.ModelRequest(parts=[own.UserPromptPart(message["content"])])
        case "tool":
            part = own.ToolReturnPart("write_file", message["content"], message["tool_call_id"])
            return own.ModelRequest(parts=[part])
        case _:
            calls = [
                own.ToolCallPart(one["function"]["name"], one["function"]["arguments"], one["id"])
                for one in message.get("tool_calls", ())
            ]
            return own.ModelResponse(parts=[own.TextPart(message["content"]), *calls])
