"""DeepSeek: the chat types with text content only, and reasoning that must come back (D1 to D6)."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.formats.chat import judge as chat
from tests.formats.chat.judge import Dialect, chat_events, chat_faults, chat_texts, without
from tests.judges.wellformed import objects

ENDS = "D7"

events = chat_events
texts = chat_texts

# D3, D4: these models think; the reasoner by its name, version 4 by default.
_THINKS = re.compile(r"reasoner|thinking|deepseek-v[4-9]", re.IGNORECASE)
_OWN_KEYS = {"assistant": {"reasoning_content"}}
_DIALECT = Dialect(
    rules=replace(chat.RULES, unanswered="D1", orphan="D2"),
    id_fault=chat.short_id,
    text_content="D5",
    content_beside_calls="D5",
)


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    faults = chat.shape_faults(without(_OWN_KEYS, request), model)
    faults += chat_faults(request, _DIALECT)
    if model and _THINKS.search(model):
        faults += [
            f"messages[{at}]: reasoning_content is missing beside tool_calls (D3, D4)"
            for at, message in enumerate(objects(request.get("messages")))
            if "tool_calls" in message and not isinstance(message.get("reasoning_content"), str)
        ]
    return faults
