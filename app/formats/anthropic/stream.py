"""Anthropic's events put together: blocks that start, grow by deltas, and stop."""

from dataclasses import dataclass, field
from typing import cast

from ...jsontext.fields import objects, text_in
from ...model.json_values import Json, JsonObject, JsonText
from ..shared.gathering import Pieces, an_error, number, value_of
from ..shared.responses import Gathering

# Events of a message; others stand between or beside them.
_BEGUN = frozenset(
    f"{what}_{when}" for what in ("message", "content_block") for when in ("start", "delta", "stop")
)
# Events that say nothing: pings, and what the SDK's helper adds beside the provider's own events.
_SAID_TWICE = ("ping", "text", "thinking", "signature", "citation", "input_json")


@dataclass
class _Block:
    index: int | None
    start: JsonObject
    texts: dict[str, Pieces] = field(default_factory=dict)
    input: Pieces = field(default_factory=Pieces)
    citations: list[Json] = field(default_factory=list)
    stopped: bool = False
    is_lost: bool = False

    def grow(self, key: str, text: Json) -> None:
        if key not in self.texts:
            self.texts[key] = Pieces(text_in(self.start, key) or "")
        self.texts[key].add(text)

    def json(self) -> JsonObject:
        shown = self.start | {key: pieces.text() for key, pieces in self.texts.items()}
        if self.citations:
            shown["citations"] = self.citations
        if "input" in shown:
            given = self._input()
            if isinstance(given, JsonText) and shown.get("type") != "tool_use":
                given = given.text
            shown["input"] = cast(Json, given)
        return shown

    def _input(self) -> "Json | JsonText":
        text = self.input.text()
        if self.is_lost:
            return JsonText(text)
        if text:
            return value_of(text)
        return self.start.get("input", {}) if self.stopped else JsonText("")


class AnthropicGathering(Gathering):
    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[_Block] = []
        self._newest: dict[int, _Block] = {}
        self._is_lost = False

    def take(self, event: JsonObject) -> bool:
        kind = event.get("type")
        if not isinstance(kind, str):
            return False
        if kind == "message_start":
            said = bool(self._blocks)
            if not self._goes_on(_id_of(event), opens=True, said=said):
                return True
        self.begun = self.begun or kind in _BEGUN
        if kind.startswith("content_block_"):
            self._block_event(kind, number(event.get("index")), event)
        elif kind == "message_start" and isinstance(message := event.get("message"), dict):
            self._start(message)
        elif kind == "message_delta":
            self._end(event)
        elif kind == "message_stop":
            self.whole = "error" not in self._top and not self._is_lost
        elif kind == "error":
            self._top["error"] = an_error(event.get("error"))
        else:
            return kind in _SAID_TWICE or kind.startswith("message_")
        return True

    def _start(self, message: JsonObject) -> None:
        self._top = {**message, **self._top}
        for block in objects(message.get("content")):
            self._begin(_Block(None, block, stopped=True))

    def _block_event(self, kind: str, index: int | None, event: JsonObject) -> None:
        match event:
            case {"type": "content_block_stop"}:
                if block := self._block(index):
                    block.stopped = True
            case {"content_block": dict(start)}:
                self._begin(_Block(index, start))
            case {"delta": dict(delta)}:
                self._delta(index, delta)
            case _:
                self._odd[f"an event {kind} said nothing"] += 1

    def _block(self, index: int | None) -> _Block | None:
        """The block that is meant: the newest under this index, else the last one."""
        if index is not None:
            return self._newest.get(index)
        return self._blocks[-1] if self._blocks else None

    def _begin(self, block: _Block) -> _Block:
        self._blocks.append(block)
        if block.index is not None:
            self._newest[block.index] = block
        return block

    def _delta(self, index: int | None, delta: JsonObject) -> None:
        block = self._block(index)
        kind = delta.get("type")
        if block is None:
            self._odd["a delta came before its block began"] += 1
            block = self._begin(_Block(index, _begun(kind)))
        elif index is None:
            self._odd["a delta came without an index"] += 1
        match delta:
            case {"type": "input_json_delta"}:
                self._left_over(delta, ("type", "partial_json"))
                piece = delta.get("partial_json")
                # Without a piece of it nobody knows what the call was given.
                block.is_lost = block.is_lost or not isinstance(piece, str)
                self._is_lost = self._is_lost or block.is_lost
                block.input.add(piece)
            case {"type": "citations_delta", "citation": citation}:
                block.citations.append(citation)
            case {"type": "text_delta" | "thinking_delta" | "signature_delta" as name}:
                # A piece of the member that both the delta and the block have.
                key = name.removesuffix("_delta")
                self._left_over(delta, ("type", key))
                block.grow(key, delta.get(key))
            case _:
                # A delta of a kind that is newer than this reader: its texts grow by name.
                for key, text in delta.items():
                    if key != "type" and isinstance(text, str):
                        block.grow(key, text)

    def _end(self, event: JsonObject) -> None:
        if isinstance(delta := event.get("delta"), dict):
            self._top |= {key: value for key, value in delta.items() if value is not None}
        if isinstance(usage := event.get("usage"), dict):
            before = self._top.get("usage")
            said = {key: value for key, value in usage.items() if value is not None}
            self._top["usage"] = {**(before if isinstance(before, dict) else {}), **said}

    def response(self) -> JsonObject:
        content: list[Json] = [block.json() for block in self._blocks]
        return {"role": "assistant", **self._top, "content": content}


def _id_of(event: JsonObject) -> Json:
    message = event.get("message")
    return message.get("id") if isinstance(message, dict) else None


def is_message(response: JsonObject) -> bool:
    """Whether this has the shape of a `Message`."""
    is_told = response.get("type") == "message" or "stop_reason" in response
    return is_told and isinstance(response.get("content"), list)


def _begun(kind: Json) -> JsonObject:
    """The start that a delta of this kind must have had."""
    match kind:
        case "input_json_delta":
            return {"type": "tool_use", "id": None, "name": "", "input": {}}
        case "thinking_delta" | "signature_delta":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {"type": "text", "text": ""}
