"""Judges of rendered requests, independent of the code that renders them.

`complaints` asks the provider's own package, made strict, and then a rule sheet written from
docs/providers, about a request that is sent as it is. `history_complaints` judges a history that
waits for the user's next message: with that message appended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from tests.judges import (
    anthropic,
    bedrock,
    deepseek,
    gemini,
    kimi,
    mistral,
    openai,
    openai_responses,
    openrouter,
    qwen,
    vercel,
)
from tests.judges.endings import end_faults, with_next
from tests.judges.pairing import Event, Pair, paired
from tests.judges.wellformed import value_faults


class Judge(Protocol):
    """What a provider's module offers, or one of the two versions of Vercel's."""

    def complaints(self, request: dict[str, object], model: str | None) -> list[str]: ...

    def events(self, request: dict[str, object]) -> Iterable[Event]: ...

    def texts(self, request: dict[str, object]) -> list[str]: ...


JUDGES: dict[str, Judge] = {
    "openai": openai,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "kimi": kimi,
    "mistral": mistral,
    "vercel": vercel.CURRENT,
    "vercel-v4": vercel.V4,
    "gemini": gemini,
    "bedrock": bedrock,
    "deepseek": deepseek,
    "qwen": qwen,
    "openrouter": openrouter,
}

TARGETS = tuple(JUDGES)


def available(target: str) -> str | None:
    """Why a test of `target` may be skipped on this machine; None: it must run."""
    return vercel.available() if target.startswith("vercel") else None


def complaints(target: str, request: dict[str, object], *, model: str | None = None) -> list[str]:
    """Everything wrong with `request` for `target`; empty when it is acceptable."""
    faults = value_faults(request) + JUDGES[target].complaints(request, model)
    return faults + end_faults(target, request)


def history_complaints(
    target: str, request: dict[str, object], *, model: str | None = None
) -> list[str]:
    """Everything wrong with `request` once the user has spoken, where it is the user's turn."""
    return complaints(target, with_next(target, request), model=model)


def calls_and_results(target: str, request: dict[str, object]) -> list[Pair]:
    """(call id, name, arguments, result) of each rendered call, in order; None: no result."""
    return paired(JUDGES[target].events(request))


def texts(target: str, request: dict[str, object]) -> list[str]:
    """All texts shown anywhere: system, messages, reasoning, results."""
    return [text for text in JUDGES[target].texts(request) if text]
