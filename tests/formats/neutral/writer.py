"""The neutral form: everything can be said, and each turn may name its own provider."""

from tests.formats.anthropic.writer import odd, thinking
from tests.laws.said import (
    Answer,
    Odd,
    Paper,
    Picture,
    Piece,
    Raw,
    Said,
    Thought,
    Use,
    Wire,
    WireObject,
    Words,
    Writer,
    identified,
    is_json,
)

_KINDS = {"use": "server_tool", "found": "server_tool_result", "other": "container_upload"}


def neutral(said: Said) -> list[WireObject]:
    blocks: list[Wire] = [_block(piece) for piece in said.pieces]
    turn: WireObject = {"speaker": said.speaker, "blocks": blocks}
    if said.turn_id:
        turn["turn_id"] = said.turn_id
    if said.issuer:
        turn["provider"] = said.issuer
    if said.broken_off:
        turn["status"] = "interrupted"
    return [turn]


def _block(piece: Piece) -> WireObject:
    match piece:
        case Words():
            return {"type": "text", "text": piece.text}
        case Picture():
            return {"type": "image", "data": piece.url}
        case Paper():
            named: WireObject = {"name": piece.name} if piece.name else {}
            return {"type": "file", "data": piece.url, **named}
        case Thought():
            return _thinking(piece)
        case Use():
            return {"type": "tool_call", **identified(piece.id), **_call(piece)}
        case Answer():
            return _answer(piece)
        case Odd():
            native: WireObject = {"native": odd(piece), "wire": "anthropic"}
            return {"type": "opaque", "kind": _KINDS[piece.kind], **native}


def _thinking(thought: Thought) -> WireObject:
    if thought.seal == "redacted":
        native: WireObject = {"native": thinking(thought), "wire": "anthropic"}
        return {"type": "thinking", "text": "", **native}
    seals: dict[str, WireObject] = {"signed": {"signature": "c2ln"}, "empty": {"signature": ""}}
    return {"type": "thinking", "text": thought.text, **seals.get(thought.seal, {})}


def _call(use: Use) -> WireObject:
    if is_json(use.arguments):
        return {"name": use.name, "parameters": Raw(use.arguments)}
    return {"name": use.name, "arguments": use.arguments}


def _answer(answer: Answer) -> WireObject:
    block: WireObject = {"type": "tool_result", **identified(answer.id, "call_id")}
    if answer.parts is None:
        block["result"] = Raw(answer.value)
    else:
        block["content"] = [_block(part) for part in answer.parts]
    if answer.status != "ok" or answer.error:
        block["status"] = answer.status
    if answer.error:
        block["error"] = answer.error
    return block | {"name": answer.name} if answer.name else block


WRITER = Writer(neutral)
