"""OpenAI Chat Completions: the SDK's own parameter types made strict, then rules C1 to C9."""

from __future__ import annotations

from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from tests.judges.chat import Dialect, chat_events, chat_faults, chat_texts
from tests.judges.pairing import Rules
from tests.judges.strict_types import misfits

events = chat_events
texts = chat_texts

RULES = Rules(unanswered="C2", orphan="C3, C4")


def short_id(call_id: object, name: object) -> str | None:
    """C1: one to forty characters."""
    if isinstance(call_id, str) and 1 <= len(call_id) <= 40:
        return None
    return f"id {call_id!r} must have 1 to 40 characters (C1)"


_DIALECT = Dialect(
    rules=RULES,
    id_fault=short_id,
    roles=frozenset({"system", "developer", "user", "assistant", "tool"}),
    refusal_is_content=True,
    # The error text of Z41 names this limit.
    longest_text=1_048_576,
)


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    return shape_faults(request, model) + chat_faults(request, _DIALECT)


def shape_faults(request: dict[str, object], model: str | None) -> list[str]:
    """What `client.chat.completions.create(model=…, **request)` does not allow."""
    whole = {"model": model or "any", **request}
    return misfits(CompletionCreateParamsNonStreaming, whole, "request")
