"""Anthropic Messages: results are blocks of a user message."""

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


def anthropic(said: Said) -> list[WireObject]:
    role = {"system": "system", "ai": "assistant"}.get(said.speaker, "user")
    blocks: list[Wire] = [_block(piece) for piece in said.pieces]
    if len(blocks) == 1 and isinstance(said.pieces[0], Words):
        return [{"role": role, "content": said.pieces[0].text}]
    return [{"role": role, "content": blocks}]


def _block(piece: Piece) -> WireObject:
    match piece:
        case Words():
            return {"type": "text", "text": piece.text}
        case Picture():
            return {"type": "image", "source": _source(piece.url)}
        case Paper():
            title: WireObject = {"title": piece.name} if piece.name else {}
            return {"type": "document", "source": _source(piece.url), **title}
        case Thought():
            return thinking(piece)
        case Use():
            given = identified(piece.id) | {"name": piece.name, "input": value(piece.arguments)}
            return {"type": "tool_use", **given}
        case Answer():
            return _answer(piece)
        case Odd():
            return odd(piece)


def thinking(thought: Thought) -> WireObject:
    if thought.seal == "redacted":
        return {"type": "redacted_thinking", "data": thought.text}
    seals: dict[str, WireObject] = {"signed": {"signature": "c2ln"}, "empty": {"signature": ""}}
    return {"type": "thinking", "thinking": thought.text, **seals.get(thought.seal, {})}


def odd(piece: Odd) -> WireObject:
    match piece.kind:
        case "use":
            query: WireObject = {"query": piece.marker}
            use: WireObject = {"type": "server_tool_use", "id": piece.id, "name": "web_search"}
            return use | {"input": query}
        case "found":
            page: WireObject = {"type": "web_search_result", "title": piece.marker}
            page |= {"url": "https://example.com", "encrypted_content": "abc"}
            found: WireObject = {"type": "web_search_tool_result", "tool_use_id": piece.id}
            return found | {"content": [page]}
        case "other":
            return {"type": "container_upload", "file_id": piece.marker}


def _source(url: str) -> WireObject:
    head, _, data = url.partition(";base64,")
    if data:
        return {"type": "base64", "media_type": head.removeprefix("data:"), "data": data}
    return {"type": "url", "url": url}


def _answer(answer: Answer) -> WireObject:
    flag: WireObject = {"is_error": True} if answer.status == "error" else {}
    content: Wire
    if answer.parts is not None:
        content = [_block(part) for part in answer.parts]
    else:
        content = answer.value if answer.value[:1] in "[{" else Raw(answer.value)
    given = identified(answer.id, "tool_use_id")
    return {"type": "tool_result", **given, "content": content, **flag}


WRITER = Writer(anthropic, "system")
