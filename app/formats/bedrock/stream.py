"""Events of ConverseStream put together: blocks that start, grow by deltas, and stop."""

import base64
from dataclasses import dataclass, field
from typing import cast

from ...model.json_values import Json, JsonObject, JsonText
from ..shared.gathering import Pieces, an_error, number, value_of
from ..shared.responses import Gathering

BROKEN_OFF = "brokenOff"
# What is read of a delta. A citation is not: it belongs to a text that comes by itself.
_DELTA = ("text", "toolUse", "reasoningContent", "image", "toolResult")
_ERROR = "Exception"


@dataclass
class _Block:
    """A block; `start` is what it said at its start that it is."""

    index: int | None
    start: JsonObject = field(default_factory=dict)
    text: Pieces = field(default_factory=Pieces)
    input: Pieces = field(default_factory=Pieces)
    thought: Pieces | None = None
    signature: Pieces = field(default_factory=Pieces)
    redacted: list[str] = field(default_factory=list)
    image: list[str] = field(default_factory=list)
    result: list[Json] = field(default_factory=list)
    citations: list[Json] = field(default_factory=list)
    stopped: bool = False

    def json(self) -> JsonObject:
        if isinstance(tool := self.start.get("toolUse"), dict):
            text = self.input.text()
            nothing: Json | JsonText = {} if self.stopped else JsonText("")
            given = value_of(text) if text else nothing
            if isinstance(given, JsonText) and tool.get("type") is not None:
                # The provider's own tool is kept as it stands, as far as it came.
                given = given.text
            return {"toolUse": tool | {"input": cast(Json, given)}}
        if self.redacted or self.thought is not None:
            return {"reasoningContent": self._reasoning()}
        if self.citations:
            content: list[Json] = [{"text": self.text.text()}]
            return {"citationsContent": {"content": content, "citations": self.citations}}
        if self.text or not self.start:
            return {"text": self.text.text()}
        match self.start:
            case {"toolResult": dict(result)}:
                return {"toolResult": {**result, "content": self.result}}
            case {"image": dict(image)} if self.image:
                return {"image": {**image, "source": {"bytes": _joined(self.image)}}}
            case _:
                return self.start

    def _reasoning(self) -> JsonObject:
        if self.redacted or self.thought is None:
            return {"redactedContent": _joined(self.redacted)}
        said: JsonObject = {"text": self.thought.text()}
        if signature := self.signature.text():
            said["signature"] = signature
        elif not self.stopped:
            # Its signature had yet to come, perhaps: nothing that may go back.
            return {BROKEN_OFF: said["text"]}
        return {"reasoningText": said}


class BedrockGathering(Gathering):
    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[_Block] = []
        # Blocks that have not stopped, by their index.
        self._open: dict[int | None, _Block] = {}

    def take(self, event: JsonObject) -> bool:
        match event:
            case {"messageStart": dict()}:
                if not self._goes_on(None, opens=True):
                    return True
            case {"contentBlockStart": dict(begun)}:
                start = begun.get("start")
                index = number(begun.get("contentBlockIndex"))
                self._begin(_Block(index, start if isinstance(start, dict) else {}))
            case {"contentBlockDelta": dict(piece)}:
                self._delta(number(piece.get("contentBlockIndex")), piece.get("delta"))
            case {"contentBlockStop": dict(stop)}:
                self._stop(number(stop.get("contentBlockIndex")))
            case {"messageStop": dict(stop)}:
                self._top["stopReason"] = stop.get("stopReason")
                self._stop(None)
                self.whole = True
            case {"metadata": dict(metadata)}:
                self._top |= {key: metadata[key] for key in ("usage", "metrics") if key in metadata}
            case _:
                return self._failed(event)
        self.begun = True
        return True

    def _begin(self, block: _Block) -> _Block:
        self._blocks.append(block)
        self._open.pop(block.index, None)
        self._open[block.index] = block
        return block

    def _stop(self, index: int | None) -> None:
        for one in [index] if index is not None else [*self._open]:
            if block := self._open.pop(one, None):
                block.stopped = True

    def _failed(self, event: JsonObject) -> bool:
        for name, value in event.items():
            if name.endswith(_ERROR) or name == "error":
                self._top["error"] = {"type": name, **an_error(value)}
                return True
        return False

    def _delta(self, index: int | None, delta: Json) -> None:
        if not isinstance(delta, dict):
            return
        block = self._block(index, delta)
        self._left_over(delta, _DELTA)
        block.text.add(delta.get("text"))
        if isinstance(use := delta.get("toolUse"), dict):
            self._left_over(use, ("input",))
            block.input.add(use.get("input"))
        match delta:
            case {"reasoningContent": dict(reasoning)}:
                self._left_over(reasoning, ("text", "signature", "redactedContent"))
                if isinstance(data := reasoning.get("redactedContent"), str):
                    block.redacted.append(data)
                    return
                block.thought = block.thought or Pieces()
                block.thought.add(reasoning.get("text"))
                block.signature.add(reasoning.get("signature"))
            case {"image": {"source": {"bytes": str(data)}}}:
                block.image.append(data)
            case {"toolResult": list(result)}:
                block.result += result
            case {"citation": dict(citation)}:
                block.citations.append(citation)
            case _:
                pass

    def _block(self, index: int | None, delta: JsonObject) -> _Block:
        """The block that grows. Only tool blocks announce themselves, others begin with a delta."""
        found = self._open.get(index)
        if found is None and index is None:
            found = next(reversed(self._open.values()), None)
        if found is not None:
            return found
        if "toolUse" not in delta:
            return self._begin(_Block(index))
        self._odd["a delta came before its block began"] += 1
        return self._begin(_Block(index, {"toolUse": {"name": ""}}))

    def response(self) -> JsonObject:
        content: list[Json] = [block.json() for block in self._blocks]
        return {"output": {"message": {"role": "assistant", "content": content}}, **self._top}


def is_converse(response: JsonObject) -> bool:
    """Whether this has the shape of a `ConverseResponse`."""
    output = response.get("output")
    return isinstance(output, dict) and isinstance(output.get("message"), dict)


def _joined(data: list[str]) -> str:
    """Base64 that came in pieces, each with an end of its own."""
    try:
        content = b"".join(base64.b64decode(piece, validate=True) for piece in data)
    except ValueError:
        return "".join(data)
    return base64.b64encode(content).decode()
