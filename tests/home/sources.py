"""The input types of each format: where its SDK has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import botocore.session
from anthropic.types.beta import BetaMessageParam, BetaTextBlockParam
from google.genai.types import ContentDict, PartDict
from mistralai.client.models.chatcompletionrequest import ChatCompletionRequestMessageTypedDict
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam

from tests.home.botocore_types import ServiceModelReader
from tests.home.python_types import shape_of, typed_dict
from tests.home.schema_types import FORGOTTEN, SchemaReader
from tests.home.shapes import ANY, Kind, Shape, reachable
from tests.judges.ai_sdk import message_schemas

Roots = dict[str, Shape]
_TEXT = Shape(scalars=frozenset({"string"}))
# google-genai: members of `Part` that say something about its content. All others are content.
_ABOUT_PARTS = frozenset(
    {"media_processing", "media_resolution", "part_metadata", "speech_metadata"}
    | {"thought", "thought_signature", "video_metadata"}
)

# Anthropic's API: "'image' blocks are not permitted within assistant turns". The SDK has one type
# for all roles.
_OF_ANTHROPIC_USERS = ("image", "document", "tool_result")

# botocore: `ContentBlock` is one type for all roles.
_OF_USERS = ("image", "document", "video")


def _openai() -> Roots:
    return {"message": _with_filled_lists(shape_of(ChatCompletionMessageParam))}


def _with_filled_lists(message: Shape) -> Shape:
    """OpenAI's API: "[] is too short - 'messages.0.content'", and the same of `tool_calls`."""
    for kind in message.kinds:
        for name in {"content", "tool_calls"} & kind.members.keys():
            kind.members[name] = replace(kind.members[name], filled=bool(kind.members[name].items))
    return message


def _dialect(texts_only: bool = False, **members: tuple[str, ...]) -> Roots:
    """OpenAI's types, as a provider takes them whose SDK is OpenAI's.

    `members`: those that it adds, by the role of their message.
    """
    kinds = [kind for kind in _kinds() if kind.word("role") != "function"]
    return {"message": Shape(kinds=tuple(map(partial(_of_dialect, texts_only, members), kinds)))}


def _kinds() -> tuple[Kind, ...]:
    return _openai()["message"].kinds


def _of_dialect(texts_only: bool, members: dict[str, tuple[str, ...]], kind: Kind) -> Kind:
    added = dict.fromkeys(members.get(str(kind.word("role")), ()), _TEXT)
    # The older form of calls is OpenAI's own.
    own = {name: shape for name, shape in kind.members.items() if name != "function_call"}
    found = Kind(kind.name, kind.module, own | added, kind.required)
    # `""` beside calls: null is refused by some, and taken by none that refuses `""`.
    content = replace(kind.members["content"], null=False)
    if texts_only:
        content = replace(content, items=None, scalars=_TEXT.scalars)
    found.members["content"] = content
    return found


def _openai_responses() -> Roots:
    return {"message": shape_of(ResponseInputItemParam)}


def _anthropic() -> Roots:
    # The beta's types have all kinds and members of the others (`test_inputs.py`).
    blocks = Shape(items=shape_of(BetaTextBlockParam))
    kinds = tuple(map(_anthropic_message, shape_of(BetaMessageParam).kinds))
    return {"message": Shape(kinds=kinds), "system": _TEXT | blocks}


def _anthropic_message(message: Kind) -> Kind:
    if message.word("role") != "assistant":
        return message
    content = message.members["content"]
    assert content.items
    own = [kind for kind in content.items.kinds if kind.word("type") not in _OF_ANTHROPIC_USERS]
    shown = replace(content, items=replace(content.items, kinds=tuple(own)))
    members = message.members | {"content": shown}
    return Kind(message.name, message.module, members, message.required)


def _gemini() -> Roots:
    contents, parts = shape_of(ContentDict), shape_of(PartDict)
    typed_dict(ContentDict).one_of = frozenset({"parts"})
    part = typed_dict(PartDict)
    part.one_of = frozenset(part.members) - _ABOUT_PARTS
    # The API: "empty text parameter".
    part.members["text"] = replace(part.members["text"], pattern="(?s:.+)")
    for kind in reachable([contents]):
        _without_null(kind)
    return {"message": contents, "system": _TEXT | contents | parts | Shape(items=_TEXT | parts)}


def _without_null(kind: Kind) -> None:
    """The SDK drops what is None; null itself is nothing that the API takes."""
    kind.members = {name: replace(shape, null=False) for name, shape in kind.members.items()}


def _bedrock() -> Roots:
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    members = model.operation_model("Converse").input_shape.members
    reader = ServiceModelReader()
    (message,) = reader.shape(members["messages"].member).kinds
    return {
        "message": Shape(
            kinds=(
                _bedrock_message(message, "user"),
                _bedrock_message(message, "system"),
                _bedrock_assistant(message),
            )
        ),
        "system": reader.shape(members["system"]),
    }


def _bedrock_message(message: Kind, role: str) -> Kind:
    members = message.members | {"role": Shape(literals=(role,))}
    return Kind(f"{role}.{message.name}", message.module, members, message.required)


def _bedrock_assistant(message: Kind) -> Kind:
    """AWS's reference of `Message`: images and documents are in messages of the user only."""
    found = _bedrock_message(message, "assistant")
    content = message.members["content"]
    assert content.items
    (block,) = content.items.kinds
    members = {name: one for name, one in block.members.items() if name not in _OF_USERS}
    kind = Kind(f"assistant.{block.name}", block.module, members, block.required)
    kind.one_of = frozenset(members)
    found.members["content"] = replace(content, items=Shape(kinds=(kind,)))
    return found


def _mistral() -> Roots:
    return {"message": _with_filled_lists(shape_of(ChatCompletionRequestMessageTypedDict))}


def _ai_sdk(target: str) -> Roots:
    schema = message_schemas()[target]
    message = SchemaReader(FORGOTTEN[target]).shape(schema)
    system = tuple(kind for kind in message.kinds if kind.word("role") == "system")
    texts = _TEXT | Shape(kinds=system)
    for kind in reachable([message]) if target == "vercel-v4" else ():
        if kind.word("type") == "tool-result":
            # The SDK takes null, and shows the model nothing then.
            kind.members["result"] = Shape(values=ANY, items=ANY, scalars=_TEXT.scalars)
    return {"message": message, "system": texts | Shape(items=texts)}


SOURCES: dict[str, Callable[[], Roots]] = {
    "openai": _openai,
    # Moonshot's documentation: tool messages name their tool; thinking models want their reasoning.
    "kimi": lambda: _dialect(assistant=("reasoning_content",), tool=("name",)),
    # DeepSeek's API: "invalid type: sequence, expected a string".
    "deepseek": lambda: _dialect(texts_only=True, assistant=("reasoning_content",)),
    "qwen": lambda: _dialect(texts_only=True),
    "openrouter": _dialect,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "mistral": _mistral,
    "vercel": lambda: _ai_sdk("vercel"),
    "vercel-v4": lambda: _ai_sdk("vercel-v4"),
}
