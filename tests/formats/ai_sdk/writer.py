"""Vercel's AI SDK, version 4 and current: results stand alone in tool messages."""

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
    value,
)


def ai_sdk(said: Said) -> list[WireObject]:
    return _messages(said, v4=False)


def ai_sdk_v4(said: Said) -> list[WireObject]:
    return _messages(said, v4=True)


def _messages(said: Said, *, v4: bool) -> list[WireObject]:
    role = {"ai": "assistant", "system": "system"}.get(said.speaker, "user")
    results = [piece for piece in said.pieces if isinstance(piece, Answer)]
    others = [piece for piece in said.pieces if not isinstance(piece, Answer)]
    messages: list[WireObject] = []
    if results:
        answered: list[Wire] = [_answer(piece, v4=v4) for piece in results]
        messages.append({"role": "tool", "content": answered})
    if others or not results:
        messages.append({"role": role, "content": _content(others, v4=v4)})
    return messages


def _content(pieces: Sequence[Piece], *, v4: bool) -> Wire:
    if len(pieces) == 1 and isinstance(pieces[0], Words):
        return pieces[0].text
    return [part for piece in pieces for part in _part(piece, v4=v4)]


def _part(piece: Piece, *, v4: bool) -> list[Wire]:
    match piece:
        case Words():
            return [{"type": "text", "text": piece.text}]
        case Picture():
            return [{"type": "image", "image": piece.url}]
        case Paper():
            inline = piece.url.startswith("data:")
            media_type = piece.url[5:].partition(";")[0] if inline else "application/pdf"
            key = "mimeType" if v4 else "mediaType"
            return [{"type": "file", "data": piece.url, key: media_type, "filename": piece.name}]
        case Thought():
            return [{"type": "reasoning", "text": piece.text}]
        case Use():
            given: WireObject = {"toolName": piece.name}
            given["args" if v4 else "input"] = value(piece.arguments)
            return [{"type": "tool-call", **identified(piece.id, "toolCallId"), **given}]
        case Odd():
            return [{"type": "source", "title": piece.marker}]
        case _:
            return []


def _answer(answer: Answer, *, v4: bool) -> WireObject:
    said: Wire = Raw(answer.value)
    if answer.parts is not None:
        said = [part.text for part in answer.parts if isinstance(part, Words)]
    named: WireObject = {"toolName": answer.name or "read"}
    given: WireObject = {"type": "tool-result", **identified(answer.id, "toolCallId"), **named}
    if v4:
        flag: WireObject = {"isError": True} if answer.status == "error" else {}
        return given | {"result": said} | flag
    kind = "json" if answer.parts is not None or not answer.value.startswith('"') else "text"
    output: WireObject = {"type": kind, "value": said}
    if answer.status == "error":
        output["type"] = f"error-{kind}"
    elif answer.status == "denied" and kind == "text":
        output = {"type": "execution-denied", "reason": said}
    return given | {"output": output}


WRITER = Writer(ai_sdk, "system")
