"""Qwen: the chat types with text content only and arguments that must parse (Q1 to Q3)."""

from __future__ import annotations

from dataclasses import replace

from tests.formats.chat import judge as chat
from tests.formats.chat.judge import Dialect, chat_events, chat_faults, chat_texts

events = chat_events
texts = chat_texts

_DIALECT = Dialect(
    rules=replace(chat.RULES, unanswered="Q1", orphan="Q1"),
    id_fault=chat.short_id,
    arguments_rule="Q2",
    text_content="D5",
    content_beside_calls="Q3",
)


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    return chat.shape_faults(request, model) + chat_faults(request, _DIALECT)
