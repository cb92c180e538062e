"""OpenAI Chat Completions: the SDK's own parameter types made strict, then rules C1 to C9."""

from __future__ import annotations

from tests.formats.chat.judge import (
    RULES,
    Dialect,
    chat_events,
    chat_faults,
    chat_texts,
    shape_faults,
    short_id,
)

events = chat_events
texts = chat_texts

_DIALECT = Dialect(
    rules=RULES,
    id_fault=short_id,
    roles=frozenset({"system", "developer", "user", "assistant", "tool", "function"}),
    refusal_is_content=True,
    custom_tools=True,
    # The error text of Z41 names this limit.
    longest_text=1_048_576,
)


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    return shape_faults(request, model) + chat_faults(request, _DIALECT)
