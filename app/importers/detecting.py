"""What a file is, told from its first lines, and which wire's shape a list of messages has."""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from app.core.json.text import Json, JsonObject

Kind: TypeAlias = Literal["claude-code", "codex", "messages", "lines", "other"]

LISTS = ("turns", "messages", "input", "contents")
_CLAUDE = frozenset({"user", "assistant", "system", "summary", "file-history-snapshot", "progress"})
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


def kind_of(first: Json) -> Kind:
    """What kind of file begins with this line; `lines`: every line holds whole histories."""
    if not isinstance(first, dict):
        return "lines"
    kind = first.get("type")
    if "record_type" in first or (isinstance(kind, str) and isinstance(first.get("payload"), dict)):
        return "codex"
    if isinstance(first.get("messages"), list) or (kind is None and has_messages(first)):
        return "lines"
    if "role" in first or "speaker" in first or kind in _ITEMS:
        return "messages"
    if kind is None and "timestamp" in first and "id" in first:
        return "codex"
    if isinstance(kind, str) and ({"sessionId", "leafUuid", "snapshot"} & first.keys()):
        return "claude-code"
    if kind in _CLAUDE and isinstance(first.get("message"), dict):
        return "claude-code"
    return "lines" if has_messages(first) else "other"


def has_messages(members: JsonObject) -> bool:
    return "request" in members or any(key in members for key in LISTS)


def wire_of(members: JsonObject, values: Sequence[Json]) -> str:
    """The wire whose shape these messages have. What several share is taken for `openai`."""
    messages = [value for value in values if isinstance(value, dict)]
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
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            yield from (part for part in content if isinstance(part, dict))
