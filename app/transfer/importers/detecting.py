"""What a file is, told from its first lines, and which wire's shape a list of messages has."""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from ...jsontext.fields import objects
from ...model.json_values import Json, JsonObject

Kind: TypeAlias = Literal["messages", "lines", "other"]

LISTS = ("turns", "messages", "input", "contents")
_ITEMS = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "item_reference",
    }
)
_CHAT_ROLES = frozenset({"system", "developer", "tool", "function"})
_CHAT_PARTS = frozenset({"image_url", "input_audio", "refusal", "file"})
_ANTHROPIC_PARTS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "server_tool_use"}
)
_VERCEL_PARTS = frozenset({"tool-call", "tool-result", "reasoning"})
_BEDROCK_PARTS = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "image"})


def plain_kind(first: Json) -> Kind:
    """What kind of file begins with this line; `lines`: every line holds whole histories."""
    if not isinstance(first, dict) or _holds_messages(first):
        return "lines"
    if _is_message(first):
        return "messages"
    return "lines" if has_messages(first) else "other"


def is_plain(members: JsonObject) -> bool:
    """Whether a line is a message, or holds messages, whatever else stands beside them."""
    return _holds_messages(members) or _is_message(members)


def _is_message(members: JsonObject) -> bool:
    return "role" in members or "speaker" in members or members.get("type") in _ITEMS


def _holds_messages(members: JsonObject) -> bool:
    untyped = members.get("type") is None
    return isinstance(members.get("messages"), list) or (untyped and has_messages(members))


def has_messages(members: JsonObject) -> bool:
    return "request" in members or any(key in members for key in LISTS)


def wire_of(members: JsonObject, messages: Sequence[JsonObject]) -> str:
    """The wire whose shape these messages have. What several share is taken for `openai`."""
    if any("speaker" in message for message in messages):
        return "neutral"
    if "input" in members or any(message.get("type") in _ITEMS for message in messages):
        return "openai-responses"
    if "contents" in members or any(_is_gemini(message) for message in messages):
        return "gemini"
    if any(message.get("role") in _CHAT_ROLES or "tool_calls" in message for message in messages):
        kinds = {part.get("type") for part in _parts(messages)}
        return "vercel" if kinds & _VERCEL_PARTS else "openai"
    return _by_content(members, list(_parts(messages)))


def _by_content(members: JsonObject, parts: Sequence[JsonObject]) -> str:
    kinds = {part.get("type") for part in parts}
    if kinds & _ANTHROPIC_PARTS or any("source" in part for part in parts):
        return "anthropic"
    if kinds & _VERCEL_PARTS:
        return "vercel"
    if parts and all("type" not in part and part.keys() & _BEDROCK_PARTS for part in parts):
        return "bedrock"
    return "anthropic" if "system" in members and not kinds & _CHAT_PARTS else "openai"


def _is_gemini(message: JsonObject) -> bool:
    parts = message.get("parts")
    return isinstance(parts, list) and all(
        isinstance(part, dict) and "type" not in part for part in parts
    )


def _parts(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    return (part for message in messages for part in objects(message.get("content")))
