"""AWS Bedrock Converse: blocks are objects with one member."""

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

_FORMATS = {"application/pdf": "pdf", "text/plain": "txt"}


def bedrock(said: Said) -> list[WireObject]:
    """System text has no place in the line; where it must stand there it is the user's."""
    role = "assistant" if said.speaker == "ai" else "user"
    blocks: list[Wire] = [_block(piece) for piece in said.pieces]
    return [{"role": role, "content": blocks}]


def _block(piece: Piece) -> WireObject:
    match piece:
        case Words():
            return {"text": piece.text}
        case Picture():
            inline = piece.url.startswith("data:") and ";" in piece.url
            kind = piece.url[11:].partition(";")[0].lower() if inline else "png"
            return {"image": {"format": kind, "source": _source(piece.url)}}
        case Paper():
            kind = _FORMATS.get(piece.url.partition(";")[0].removeprefix("data:"), "zip")
            given: WireObject = {"format": kind, "name": piece.name}
            return {"document": given | {"source": _source(piece.url)}}
        case Thought():
            return {"reasoningContent": _reasoning(piece)}
        case Use():
            used: WireObject = {"name": piece.name, "input": value(piece.arguments)}
            return {"toolUse": identified(piece.id, "toolUseId") | used}
        case Answer():
            return {"toolResult": _answer(piece)}
        case Odd():
            return {"hologram": {"data": piece.marker}}


def _source(url: str) -> WireObject:
    data = url.partition(";base64,")[2]
    return {"bytes": data} if data else {"s3Location": {"uri": url}}


def _reasoning(thought: Thought) -> WireObject:
    if thought.seal == "redacted":
        return {"redactedContent": thought.text}
    text: WireObject = {"text": thought.text}
    return {"reasoningText": text | {"signature": "c2ln"} if thought.seal == "signed" else text}


def _answer(answer: Answer) -> WireObject:
    content: list[Wire]
    if answer.parts is not None:
        content = [_block(part) for part in answer.parts]
    elif answer.value.startswith('"'):
        content = [{"text": Raw(answer.value)}]
    else:
        content = [{"json": Raw(answer.value)}]
    given: WireObject = identified(answer.id, "toolUseId") | {"content": content}
    return given | {"status": "error"} if answer.status == "error" else given


WRITER = Writer(bedrock, "system", lambda text: [{"text": text}])
