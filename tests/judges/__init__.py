"""Judges of rendered requests, independent of the code that renders them.

`complaints` asks the provider's own package, made strict, and then a rule sheet written from
docs/providers, about a request that is sent as it is. `history_complaints` judges a history that
waits for the user's next message: with that message appended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from app.formats.registry import CODECS
from tests.formats import of
from tests.judges.endings import end_faults, with_next
from tests.judges.pairing import Event, Pair, paired
from tests.judges.wellformed import value_faults


class Judge(Protocol):
    """What is known of a provider's rules: in `judge.py` of its folder in `tests/formats`.

    It may say besides which rule demands that the user speaks last (ENDS), what the list of
    messages is called (MESSAGES), what the user may say next (NEXT), and whether it can be asked
    on this machine (`available`).
    """

    def complaints(self, request: dict[str, object], model: str | None) -> list[str]: ...

    def events(self, request: dict[str, object]) -> Iterable[Event]: ...

    def texts(self, request: dict[str, object]) -> list[str]: ...


def _judge(target: str) -> Judge:
    module = of(target, "judge")
    judge: Judge = getattr(module, "JUDGE", module)
    return judge


# Nobody else reads the neutral form, so it has no judge.
TARGETS = tuple(target for target in CODECS if target != "neutral")
JUDGES = {target: _judge(target) for target in TARGETS}


def available(target: str) -> str | None:
    """Why a test of `target` may be skipped on this machine; None: it must run."""
    asked = getattr(JUDGES.get(target), "available", None)
    return asked() if asked else None


def complaints(target: str, request: dict[str, object], *, model: str | None = None) -> list[str]:
    """Everything wrong with `request` for `target`; empty when it is acceptable.

    Blocks of a kind that no SDK knows go back to their issuer whole (`tests/home/test_home.py` sees
    that nobody else gets them). The packages refuse them, so they are judged without.
    """
    request = _without_unknown(request, target)
    faults = value_faults(request) + JUDGES[target].complaints(request, model)
    return faults + end_faults(JUDGES[target], request)


def _without_unknown(value: Any, target: str, role: object = None) -> Any:
    """The value without blocks of unknown kinds; content of nothing else says something."""
    if isinstance(value, dict):
        role = value.get("role", role)
        return {name: _without_unknown(one, target, role) for name, one in value.items()}
    if not isinstance(value, list):
        return value
    known = [_without_unknown(one, target, role) for one in value if not _is_unknown(one)]
    return [_said(target, role)] if value and not known else known


def _said(target: str, role: object) -> dict[str, object]:
    if target in ("gemini", "bedrock"):
        return {"text": "said"}
    if target == "openai-responses":
        return {"type": "output_text" if role == "assistant" else "input_text", "text": "said"}
    return {"type": "text", "text": "said"}


def _is_unknown(element: object) -> bool:
    unknown = ("hologram", "hologram_call", "row")
    return isinstance(element, dict) and ("hologram" in element or element.get("type") in unknown)


def history_complaints(
    target: str, request: dict[str, object], *, model: str | None = None
) -> list[str]:
    """Everything wrong with `request` once the user has spoken, where it is the user's turn."""
    return complaints(target, with_next(JUDGES[target], request), model=model)


def calls_and_results(target: str, request: dict[str, object]) -> list[Pair]:
    """(call id, name, arguments, result) of each rendered call, in order; None: no result."""
    return paired(JUDGES[target].events(request))


def texts(target: str, request: dict[str, object]) -> list[str]:
    """All texts shown anywhere: system, messages, reasoning, results."""
    return [text for text in JUDGES[target].texts(request) if text]
