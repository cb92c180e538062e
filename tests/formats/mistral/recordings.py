"""Mistral: ids of nine signs, calls whole in one chunk, content as a text or as parts."""

from typing import Any

from tests.streams.recordings.chat import USAGE, Frame, call, choice, texts
from tests.streams.recordings.frames import Event, Recording, sse

MISTRAL = Frame("mistral", "magistral-medium", "cmpl-5e")
ROLE: Event = {"role": "assistant", "content": ""}


def told(name: str, deltas: list[Event], message: Event, finish: str = "stop") -> Recording:
    *before, last = [ROLE, *deltas]
    end = MISTRAL.chunk(choice(last, finish), usage=USAGE, p="abcd")
    events: list[Any] = [*MISTRAL.deltas(*before), end]
    whole = MISTRAL.completion({"content": "", "tool_calls": None, **message}, finish)
    return MISTRAL.recording(name, events, whole)


def text(said: str) -> Event:
    return {"type": "text", "text": said}


def thought(said: str, **more: Any) -> Event:
    return {"type": "thinking", "thinking": [text(said)], **more}


def reference(*numbers: int) -> Event:
    return {"type": "reference", "reference_ids": list(numbers)}


def parts(*one: Event) -> Event:
    return {"content": list(one)}


def calls(*named: Event) -> Event:
    return {"tool_calls": [one | {"index": at} for at, one in enumerate(named)]}


def _failed() -> Recording:
    error = {"object": "error", "message": "Service tier capacity exceeded", "code": "3505"}
    events = [*MISTRAL.deltas(ROLE, *texts("Bon")), {"error": error}]
    return Recording("mistral", "an error in the middle", sse(*events), None, whole=False)


LONG = '{"path": "/srv/œuvre.txt", "modes": ["r", "w"], "n": 12345678901234567890}'
READ, FIND = call("a1B2c3D4e", "read", LONG), call("Zz9Yy8Xx7", "find", '{"q": "orme"}')
RECORDINGS = [
    told("plain text", texts("Bon", "jour", "."), {"content": "Bonjour."}),
    told("one call", [calls(FIND)], {"tool_calls": [FIND]}, "tool_calls"),
    told("parallel calls", [calls(READ, FIND)], {"tool_calls": [READ, FIND]}, "tool_calls"),
    told(
        "text, then a call",
        [*texts("Je ", "cherche."), calls(FIND)],
        {"content": "Je cherche.", "tool_calls": [FIND]},
        "tool_calls",
    ),
    told(
        "thinking, then text",
        [parts(thought("Hm, ")), parts(thought("oui.")), *texts("Voi", "là.")],
        {"content": [thought("Hm, oui."), text("Voilà.")]},
    ),
    told(
        "thinking, then a call",
        [parts(thought("Il faut ")), parts(thought("lire.", closed=True)), calls(READ)],
        {"content": [thought("Il faut lire.")], "tool_calls": [READ]},
        "tool_calls",
    ),
    told(
        "references between texts",
        [
            parts(text("Paris")),
            parts(reference(1, 2)),
            parts(text(", ")),
            parts(text("Lyon"), reference(3)),
        ],
        {"content": [text("Paris"), reference(1, 2), text(", Lyon"), reference(3)]},
    ),
    told(
        "thinking twice",
        [parts(thought("A")), parts(text("a")), parts(thought("B")), parts(text("b"))],
        {"content": [thought("A"), text("a"), thought("B"), text("b")]},
    ),
    told("accents and emoji", texts("Œuf", " 🥚 à ", "la coque"), {"content": "Œuf 🥚 à la coque"}),
    told("stopped by length", texts("Il était u"), {"content": "Il était u"}, "length"),
    told("longer than the model", texts("Trop"), {"content": "Trop"}, "model_length"),
    told(
        "a call without arguments",
        [calls(call("Qq1Ww2Ee3", "now", "{}"))],
        {"tool_calls": [call("Qq1Ww2Ee3", "now", "{}")]},
        "tool_calls",
    ),
    _failed(),
]
