"""Histories told in few words: turns and blocks in each wire's shape, and bodies to post them.

Nothing of the code under test is used here; these are plain JSON values.
"""

import json
from typing import Any, TypeAlias

Json: TypeAlias = Any
Block: TypeAlias = dict[str, Json]
Turn: TypeAlias = dict[str, Json]
Body: TypeAlias = dict[str, Json] | str

# Whole pictures of one pixel each, in three colours, so that they can be told apart.
RED = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
GREEN = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNg+M8AAAICAQBF9FLUAAAAAElFTkSuQmCC"
)
BLUE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNgYPgPAAEDAQA2dBFAAAAAAElFTkSuQmCC"
)


def png(data: str = RED) -> str:
    return f"data:image/png;base64,{data}"


# The neutral form.


def human(*said: str | Block, **more: Json) -> Turn:
    return _turn("human", said, more)


def ai(*said: str | Block, **more: Json) -> Turn:
    return _turn("ai", said, more)


def tool(*said: str | Block, **more: Json) -> Turn:
    return _turn("tool", said, more)


def system(*said: str | Block, **more: Json) -> Turn:
    return _turn("system", said, more)


def _turn(speaker: str, said: tuple[str | Block, ...], more: dict[str, Json]) -> Turn:
    blocks = [text(one) if isinstance(one, str) else one for one in said]
    return {"speaker": speaker, "blocks": blocks, **more}


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def call(raw_id: str | None, name: str, parameters: Json = None, **more: Json) -> Block:
    asked = {} if parameters is None else parameters
    return {"type": "tool_call", "id": raw_id, "name": name, "parameters": asked, **more}


def result(call_id: str | None, value: Json, **more: Json) -> Block:
    return {"type": "tool_result", "call_id": call_id, "result": value, **more}


def image(data: str = RED) -> Block:
    return {"type": "image", "data": png(data)}


def thinking(said: str, **more: Json) -> Block:
    return {"type": "thinking", "text": said, **more}


def rounds(count: int, name: str = "look_up") -> list[Turn]:
    """A healthy history: the human asks, the model calls, the tool answers, the model concludes."""
    told: list[Turn] = []
    for at in range(count):
        told += [
            human(f"question number <{at}>"),
            ai(call(f"healthy_{at}", name, {"entry": at})),
            tool(result(f"healthy_{at}", f"entry of <{at}>")),
            ai(f"conclusion <{at}>"),
        ]
    return told


def neutral(*turns: Turn, provider: str = "neutral", **envelope: Json) -> dict[str, Json]:
    return {"provider": provider, "format": "neutral", "messages": list(turns), **envelope}


# The chat shape of OpenAI and many others.


def user(said: Json) -> Turn:
    return {"role": "user", "content": said}


def assistant(said: Json, *calls: Block, **more: Json) -> Turn:
    shown: Turn = {"role": "assistant", "content": said, **more}
    return shown | {"tool_calls": list(calls)} if calls else shown


def function(call_id: str | None, name: str, arguments: Json = "{}") -> Block:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def answer(call_id: str | None, said: Json, **more: Json) -> Turn:
    return {"role": "tool", "tool_call_id": call_id, "content": said, **more}


def chat(*messages: Turn, provider: str = "openai", **envelope: Json) -> dict[str, Json]:
    return {"provider": provider, "format": "openai", "messages": list(messages), **envelope}


# Anthropic's shape.


def tool_use(call_id: str | None, name: str, given: Json = None) -> Block:
    asked = {} if given is None else given
    return {"type": "tool_use", "id": call_id, "name": name, "input": asked}


def tool_result(call_id: str | None, said: Json, **more: Json) -> Block:
    return {"type": "tool_result", "tool_use_id": call_id, "content": said, **more}


def signed(said: str, signature: str) -> Block:
    return {"type": "thinking", "thinking": said, "signature": signature}


def claude(*messages: tuple[str, Json], **envelope: Json) -> dict[str, Json]:
    """Messages as pairs of role and content; a content that is one block may stand alone."""
    told = []
    for role, content in messages:
        one = isinstance(content, dict)
        told.append({"role": role, "content": [content] if one else content})
    return {"provider": "anthropic", "messages": told, **envelope}


# The others, whose items are written out where they are used.


def items(wire: str, *told: Turn, **envelope: Json) -> dict[str, Json]:
    return {"provider": wire, "messages": list(told), **envelope}


def verbatim(body: str) -> str:
    """A body whose every byte matters; it has to be JSON all the same."""
    assert json.loads(body)
    return body
