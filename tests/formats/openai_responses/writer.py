"""OpenAI Responses: a flat list of items."""

from collections.abc import Sequence

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
)

_ROLES = {"ai": "assistant", "system": "developer"}


def responses(said: Said) -> list[WireObject]:
    role = _ROLES.get(said.speaker, "user")
    items: list[WireObject] = []
    parts: list[Wire] = []
    for piece in said.pieces:
        item = _item(piece)
        if item is None:
            parts += _part(piece, role)
            continue
        items += _message(role, parts)
        parts = []
        items.append(item)
    return items + _message(role, parts) or [{"role": role, "content": ""}]


def _message(role: str, parts: Sequence[Wire]) -> list[WireObject]:
    return [{"type": "message", "role": role, "content": list(parts)}] if parts else []


def _item(piece: Piece) -> "WireObject | None":
    match piece:
        case Thought():
            summary: Wire = [{"type": "summary_text", "text": piece.text}]
            item: WireObject = {"type": "reasoning", "id": "rs_1", "summary": summary}
            return item | {"encrypted_content": "gAAA"} if piece.seal == "signed" else item
        case Use():
            given: WireObject = {"name": piece.name, "arguments": piece.arguments}
            return {"type": "function_call", **identified(piece.id, "call_id"), **given}
        case Answer():
            return _answer(piece)
        case Odd(kind="use"):
            action: WireObject = {"type": "search", "query": piece.marker}
            return {"type": "web_search_call", "id": f"ws_{piece.id}", "status": "completed"} | {
                "action": action
            }
        case Odd(kind="found"):
            return {"type": "hologram_call", "data": piece.marker}
        case _:
            return None


def _part(piece: Piece, role: str) -> list[Wire]:
    match piece:
        case Words():
            kind = "output_text" if role == "assistant" else "input_text"
            return [{"type": kind, "text": piece.text}]
        case Picture():
            return [{"type": "input_image", "image_url": piece.url}]
        case Paper():
            key = "file_url" if piece.url.startswith("http") else "file_data"
            return [{"type": "input_file", "filename": piece.name, key: piece.url}]
        case Odd():
            return [{"type": "hologram", "data": piece.marker}]
        case _:
            return []


def _answer(answer: Answer) -> WireObject:
    output: Wire = Raw(answer.value)
    if answer.parts is not None:
        output = [part for one in answer.parts for part in _part(one, "user")]
    elif answer.value.startswith("[{"):
        # A list of objects would be read as content parts.
        output = answer.value
    given = identified(answer.id, "call_id")
    return {"type": "function_call_output", **given, "output": output}


WRITER = Writer(responses, "instructions")
