"""Neutral turns in few words, and the steps that pairing makes of them."""

from typing import Any, TypeAlias

from app.ledger.pairing import Step, steps
from tests.histories import said

Steps: TypeAlias = list[Step]


def human(text: str) -> dict[str, Any]:
    return {"speaker": "human", "blocks": [{"type": "text", "text": text}]}


def system(text: str) -> dict[str, Any]:
    return {"speaker": "system", "blocks": [{"type": "text", "text": text}]}


def ai(*raw_ids: str, text: str = "") -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    call = {"type": "tool_call", "name": "read", "parameters": {}}
    return {"speaker": "ai", "blocks": blocks + [{**call, "id": raw_id} for raw_id in raw_ids]}


def tool(raw_id: str | None, result: Any = "done", **members: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "call_id": raw_id, "result": result, **members}
    return {"speaker": "tool", "blocks": [block]}


def steps_of(*turns: dict[str, Any]) -> Steps:
    remembered = said(*turns).remembered
    return steps(remembered.turns, remembered.links())
