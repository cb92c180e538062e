"""Turns as people read them: who spoke, what was said, which calls were made and what they gave."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from .asking import Asking, Told, all_of
from .looks import Look, excerpt, moment, value_text
from .text import printable

INDENT = " " * 15
# How a result found its call (`matched_by`).
MATCHED = {
    "canonical": "by the canonical id",
    "raw": "by the raw id",
    "provider_id": "by the id that a provider was shown",
    "normalized": "by an id that is written a little differently",
    "name": "by the name of the tool alone",
    "position": "by its place alone",
    "none": "to no call",
}


class Timeline:
    """`calls`: those of the turns, by canonical id."""

    def __init__(self, look: Look, calls: dict[str, Told]) -> None:
        self._look = look
        self._calls = calls

    def lines(self, turn: Told) -> Iterator[str]:
        """A turn in a few lines, with the results of its calls."""
        yield self.heading(turn)
        for block in turn["blocks"]:
            yield from (f"{INDENT}{line}" for line in self._block(block))

    def heading(self, turn: Told) -> str:
        """Who spoke, and when."""
        look = self._look
        by = turn["provider"] + (f"/{turn['model']}" if turn.get("model") else "")
        speaker = turn["speaker"].ljust(6)
        parts = [f"{turn['seq']:>5}", look.paint(speaker, "bold"), look.paint(by, "cyan")]
        parts.append(look.paint(moment(turn["created_at"]), "dim"))
        if turn.get("status"):
            parts.append(look.state(turn["status"]))
        if turn.get("quarantined"):
            parts.append(look.paint("cannot be read", "red"))
        return "  ".join(parts)

    def _block(self, block: Told) -> Iterator[str]:
        match block["type"]:
            case "text":
                yield from excerpt(block["text"], lines=2)
            case "tool_call":
                yield from self._call(block)
            case "tool_result":
                yield from self._result(block)
            case kind:
                yield self._look.paint(f"({told_briefly(kind, block)})", "dim")

    def _call(self, block: Told) -> Iterator[str]:
        look, call = self._look, self._calls.get(block["id"])
        name = look.paint(block["name"], "bold")
        yield f"→ {name} {given(block)}"
        state = look.state(call["state"]) if call else ""
        names = f"{value_text(block['raw_id'])} → {block['id']}"
        yield f"  {look.paint(names, 'dim')}  {state}".rstrip()
        if call and (result := call["result"]):
            how = "" if result["matched_by"] in ("raw", "canonical") else _how(result)
            said = " ".join(excerpt(result_text(result), 72))
            status = "" if result["status"] == "ok" else f" {look.state(result['status'])}"
            yield f"  ← turn {result['seq']}{how}{status}: {said}"

    def _result(self, block: Told) -> Iterator[str]:
        call = self._calls.get(block["call_id"] or "")
        if call:
            yield f"← of {printable(call['name'])} in turn {call['seq']}"
        elif block["call_id"] != block["raw_id"]:
            yield f"← of {printable(block['call_id'])}"
        else:
            named = value_text(block["raw_id"])
            yield f"← {self._look.paint('without a call', 'red')} {printable(named)}"
            yield from (f"  {line}" for line in excerpt(result_text(block), 72))


def calls_of(ask: Asking, cid: str) -> dict[str, Told]:
    """The calls of a conversation by canonical id."""
    found = all_of(partial(ask.tool_calls, cid))
    return {call["id"]: call for call in found}


def given(call: Told) -> str:
    """What a call was given."""
    value = call["parameters"] if "parameters" in call else call.get("arguments", "")
    return " ".join(excerpt(value_text(value), 72))


def result_text(result: Told) -> str:
    """What a result says."""
    if result.get("error"):
        return str(result["error"])
    if "content" in result:
        parts = [part.get("text") or f"({part['type']})" for part in result["content"]]
        return "\n".join(map(str, parts))
    return value_text(result.get("text", result.get("result", "")))


def told_briefly(kind: str, block: Told) -> str:
    """A block that is no text, call or result."""
    what: Any = block.get("kind") or block.get("name") or ""
    size = f"{len(block['text'])} characters" if "text" in block else ""
    return ", ".join(filter(None, (kind, str(what), size)))


def _how(result: Told) -> str:
    return f", matched {MATCHED[result['matched_by']]}"
