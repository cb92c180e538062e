"""OpenAI's chat shape and its dialects: each result is a message of its own."""

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


def chat(said: Said) -> list[WireObject]:
    if said.speaker == "ai":
        return [_assistant(said.pieces)]
    if said.speaker == "system":
        return [{"role": "system", "content": _content(said.pieces)}]
    messages: list[WireObject] = []
    others: list[Piece] = []
    for piece in (*said.pieces, None):
        if others and (piece is None or isinstance(piece, Answer)):
            messages.append({"role": "user", "content": _content(others)})
            others = []
        if isinstance(piece, Answer):
            messages.append(_answer(piece))
        elif piece is not None:
            others.append(piece)
    return messages


def openrouter(said: Said) -> list[WireObject]:
    """The same with OpenRouter's reasoning: details, or words alone where nothing is sealed."""
    messages = chat(said)
    thoughts = [piece for piece in said.pieces if isinstance(piece, Thought)]
    if said.speaker == "ai" and thoughts:
        (message,) = messages
        del message["reasoning_content"]
        if len(thoughts) == 1 and thoughts[0].seal == "unsigned":
            message["reasoning"] = thoughts[0].text
        else:
            details = [_detail(thought, at) for at, thought in enumerate(thoughts)]
            message["reasoning_details"] = list(details)
    return messages


def _detail(thought: Thought, index: int) -> WireObject:
    match thought.seal:
        case "redacted":
            said: WireObject = {"type": "reasoning.encrypted", "data": thought.text}
        case "empty":
            said = {"type": "reasoning.summary", "summary": thought.text}
        case "signed":
            said = {"type": "reasoning.text", "text": thought.text, "signature": "c2ln"}
        case "unsigned":
            said = {"type": "reasoning.text", "text": thought.text, "format": "unknown"}
    return said | {"index": index}


def _assistant(pieces: Sequence[Piece]) -> WireObject:
    message: WireObject = {"role": "assistant", "content": _content(pieces)}
    for piece in pieces:
        if isinstance(piece, Thought):
            message["reasoning_content"] = piece.text
            break
    calls: list[Wire] = [
        identified(piece.id)
        | {"type": "function", "function": {"name": piece.name, "arguments": piece.arguments}}
        for piece in pieces
        if isinstance(piece, Use)
    ]
    return message | {"tool_calls": calls} if calls else message


def _content(pieces: Sequence[Piece]) -> Wire:
    parts = [part for piece in pieces for part in _part(piece)]
    only = parts[0] if len(parts) == 1 else {}
    return only["text"] if "text" in only else list(parts) or None


def _part(piece: Piece) -> list[WireObject]:
    match piece:
        case Words():
            return [{"type": "text", "text": piece.text}]
        case Picture():
            return [{"type": "image_url", "image_url": {"url": piece.url}}]
        case Paper():
            return [{"type": "file", "file": {"filename": piece.name, "file_data": piece.url}}]
        case Odd():
            return [{"type": "hologram", "data": piece.marker}]
        case _:
            return []


def _answer(answer: Answer) -> WireObject:
    content: Wire = Raw(answer.value)
    if answer.parts is not None:
        content = [part for one in answer.parts for part in _part(one)]
    named: WireObject = {"name": answer.name} if answer.name else {}
    return {"role": "tool", **identified(answer.id, "tool_call_id"), **named, "content": content}


WRITER = Writer(chat)
