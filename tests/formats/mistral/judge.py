"""Mistral: mistral-common's own validator in serving mode, then the rules it no longer holds.

Its version 11 is the last that demands nine-character ids and the first that pairs by id; later
ones take any id (M1b), and since 1.11 none refuses a user after a tool (M2). Earlier ones refuse
content beside calls, which the hosted API takes.
"""

from __future__ import annotations

import re

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from pydantic import ValidationError

from tests.formats.chat.judge import Dialect, chat_events, chat_faults, chat_texts
from tests.judges.pairing import Rules
from tests.judges.wellformed import objects

events = chat_events
texts = chat_texts

_VALIDATOR = get_validator(TokenizerVersion.v11, ValidationMode.serving)
_NINE = re.compile(r"[a-zA-Z0-9]{9}")


def _id_fault(call_id: object, name: object) -> str | None:
    # mistral-common's `^…$` also lets nine characters and a line feed pass.
    if isinstance(call_id, str) and _NINE.fullmatch(call_id):
        return None
    return f"id {call_id!r} must be a-z, A-Z, 0-9, with a length of 9 (M1)"


_DIALECT = Dialect(
    rules=Rules(unanswered="M4", orphan="M5", twice="M5", reused="M5"),
    id_fault=_id_fault,
    name_rule="M7",
    object_arguments=True,
    media_anywhere=True,
    roles_rule="M6",
)


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """The package first, then the rule sheet."""
    return _package_faults(request, model) + chat_faults(request, _DIALECT) + _own_faults(request)


def _inlined(request: dict[str, object]) -> dict[str, object]:
    """The request as the server gives it to the model: what mistral-common does not know is text.

    mistral-common has no chunks of files and documents, and takes images and audio from users only;
    mistralai's own types say what they look like, and take them in every message. There a thinking
    chunk holds a list of chunks, here a text.
    """
    messages = request.get("messages")
    if not isinstance(messages, list):
        return request
    return request | {"messages": [_with_text(message) for message in messages]}


def _with_text(message: object) -> object:
    match message:
        case {"role": str(role), "content": list(content)} if isinstance(message, dict):
            return message | {"content": [_as_text(part, role) for part in content]}
        case {"role": "tool", "content": None} if isinstance(message, dict):
            # mistralai: ToolMessage.content may be null.
            return message | {"content": ""}
        case _:
            return message


def _as_text(part: object, role: str) -> object:
    text: object = {"type": "text", "text": "a chunk"}
    match part:
        case {"type": "file", "file_id": str(name), **others} if not others and name:
            return text
        case {"type": "document_url", "document_url": str(address)} if address:
            return text
        case {"type": "reference", "reference_ids": list()}:
            return text
        case {"type": "image_url" | "input_audio"} if role != "user":
            return text
        case {"type": "thinking", "thinking": list(chunks)} if isinstance(part, dict):
            said = [str(chunk.get("text", "")) for chunk in objects(chunks)]
            return part | {"thinking": "".join(said)}
        case _:
            return part


def _package_faults(request: dict[str, object], model: str | None) -> list[str]:
    unknown = sorted(request.keys() - ChatCompletionRequest.model_fields.keys())
    if unknown:
        return [f"request: extra inputs are not permitted: {unknown} (M6)"]
    try:
        _VALIDATOR.validate_request(
            ChatCompletionRequest.model_validate({"model": model or "any", **_inlined(request)})
        )
    except ValidationError as error:
        return [f"{'.'.join(map(str, e['loc']))}: {e['msg']} (M6)" for e in error.errors()]
    except (MistralCommonException, ValueError) as error:
        return [f"request: {error} (mistral-common)"]
    return []


def _own_faults(request: dict[str, object]) -> list[str]:
    faults: list[str] = []
    before: object = None
    for at, message in enumerate(objects(request.get("messages"))):
        if (before, message.get("role")) == ("tool", "user"):
            faults.append(f"messages[{at}]: unexpected role 'user' after role 'tool' (M2)")
        before = message.get("role")
        if before == "tool":
            if not message.get("name"):
                faults.append(f"messages[{at}]: tool message without name (M7)")
            if fault := _id_fault(message.get("tool_call_id"), None):
                faults.append(f"messages[{at}]: {fault}")
    return faults
