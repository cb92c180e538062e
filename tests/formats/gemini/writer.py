"""Google Gemini: contents with parts; results are objects and carry the tool's name."""

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
    value,
)


def gemini(said: Said) -> list[WireObject]:
    role = {"ai": "model", "system": "system"}.get(said.speaker, "user")
    parts: list[Wire] = [part for piece in said.pieces for part in _parts(piece)]
    return [{"role": role, "parts": parts}]


def _parts(piece: Piece) -> list[WireObject]:
    match piece:
        case Words():
            return [{"text": piece.text}]
        case Picture() | Paper():
            return [_media(piece.url)]
        case Thought():
            thought: WireObject = {"text": piece.text, "thought": True}
            return [thought | {"thought_signature": "c2ln"} if piece.seal == "signed" else thought]
        case Use():
            given: WireObject = {"name": piece.name, "args": value(piece.arguments)}
            return [{"function_call": identified(piece.id) | given}]
        case Answer():
            return _answer(piece)
        case Odd():
            return [_odd(piece)]


def _media(url: str) -> WireObject:
    head, _, data = url.partition(";base64,")
    if data:
        return {"inline_data": {"mime_type": head.removeprefix("data:"), "data": data}}
    return {"file_data": {"file_uri": url, "mime_type": "image/png"}}


def _odd(piece: Odd) -> WireObject:
    match piece.kind:
        case "use":
            return {"executable_code": {"language": "PYTHON", "code": piece.marker}}
        case "found":
            return {"code_execution_result": {"outcome": "OUTCOME_OK", "output": piece.marker}}
        case "other":
            return {"hologram": {"data": piece.marker}}


def _answer(answer: Answer) -> list[WireObject]:
    response: Wire
    beside: list[WireObject] = []
    if answer.parts is not None:
        said = "\n".join(part.text for part in answer.parts if isinstance(part, Words))
        response = {"result": said}
        beside = [
            part for one in answer.parts if not isinstance(one, Words) for part in _parts(one)
        ]
    elif answer.status == "error":
        response = {"error": Raw(answer.value)}
    else:
        whole = answer.value.startswith("{")
        response = Raw(answer.value) if whole else {"result": Raw(answer.value)}
    named: WireObject = {"name": answer.name} if answer.name else {}
    given = identified(answer.id) | named | {"response": response}
    return [{"function_response": given}, *beside]


WRITER = Writer(gemini, "system_instruction", lambda text: {"parts": [{"text": text}]})
