"""Gemini's chunks: each a response with the next parts; lines end with CRLF."""

from typing import Any

from tests.streams.recordings.frames import Event, Recording, sse

MODEL = "gemini-3-pro-preview"
# Bytes on this wire are base64 in the usual alphabet.
SIGNATURE = "Cpo+/wFk"
USAGE: Event = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}


def response(*parts: Event, finish: str | None = None, **more: Any) -> Event:
    candidate: Event = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if not parts:
        candidate["content"] = {"role": "model"}
    if finish:
        candidate["finishReason"] = finish
    return chunk(candidate | more)


def chunk(*candidates: Event, **more: Any) -> Event:
    said = {"candidates": list(candidates)} if candidates else {}
    return {**said, "usageMetadata": USAGE, "modelVersion": MODEL, "responseId": "r-1", **more}


def told(
    name: str,
    chunks: list[Event],
    parts: list[Event],
    finish: str = "STOP",
    **more: Any,
) -> Recording:
    finished = response(*parts, finish=finish, **more)
    return Recording("gemini", name, sse(*chunks, end="\r\n"), finished)


def text(said: str, **more: Any) -> Event:
    return {"text": said, **more}


def thought(said: str, **more: Any) -> Event:
    return {"text": said, "thought": True, **more}


def call(name: str, args: Event | None, *, signed: bool = False, **more: Any) -> Event:
    given: Event = {"name": name, **({} if args is None else {"args": args}), **more}
    return {"functionCall": given, **({"thoughtSignature": SIGNATURE} if signed else {})}


def piece(
    *partial: Event, name: str | None = None, more: bool = True, signed: bool = False
) -> Event:
    """A call whose arguments come in pieces."""
    given: Event = {"name": name} if name else {}
    if partial:
        given["partialArgs"] = list(partial)
    if more:
        given["willContinue"] = True
    return {"functionCall": given, **({"thoughtSignature": SIGNATURE} if signed else {})}


def at(path: str, **value: Any) -> Event:
    return {"jsonPath": path, **value}


def _two_candidates() -> Recording:
    def other(*parts: Event, **more: Any) -> Event:
        return {"content": {"role": "model", "parts": list(parts)}, "index": 1, **more}

    chunks = [
        response(text("Ye")),
        chunk(other(text("N"))),
        response(text("s"), finish="STOP"),
        chunk(other(text("o"), finishReason="STOP")),
    ]
    finished = response(text("Yes"), finish="STOP")
    finished["candidates"].append(other(text("No"), finishReason="STOP"))
    return Recording("gemini", "two candidates", sse(*chunks, end="\r\n"), finished)


def _blocked() -> Recording:
    blocked = chunk(promptFeedback={"blockReason": "SAFETY"})
    return Recording("gemini", "a blocked prompt", sse(blocked, end="\r\n"), blocked)


def _failed() -> Recording:
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    stream = sse(response(thought("Hm")), response(text("Wel")), error, end="\r\n")
    return Recording("gemini", "an error in the middle", stream, None, whole=False)


def _image() -> Recording:
    # The smallest GIF; its base64 has both signs that the URL's alphabet writes differently.
    data = "R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw+/"
    image = {"inlineData": {"mimeType": "image/gif", "data": data}, "thoughtSignature": SIGNATURE}
    chunks = [response(text("Here:")), response(image), response(finish="STOP")]
    return told("an image", chunks, [text("Here:"), image])


CODE = {"executableCode": {"language": "PYTHON", "code": "print(1+1)"}}
OUTCOME = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2\n"}}
GROUNDS: Event = {"groundingChunks": [{"web": {"uri": "https://e.org", "title": "E"}}]}
STREAMED = call("book", {"city": "Bonn am Rhein", "days": ["Mo", "Tu"], "ok": True}, signed=True)
RECORDINGS = [
    told(
        "plain text",
        [response(text("Hel")), response(text("lo")), response(text("."), finish="STOP")],
        [text("Hello.")],
    ),
    told(
        "a signed call",
        [response(call("find", {"q": "elm", "n": 2}, signed=True)), response(finish="STOP")],
        [call("find", {"q": "elm", "n": 2}, signed=True)],
    ),
    told(
        "parallel calls, the first one signed",
        [
            response(call("weather", {"city": "Bonn"}, signed=True, id="x1")),
            response(call("weather", {"city": "Köln"}, id="x2"), finish="STOP"),
        ],
        [
            call("weather", {"city": "Bonn"}, signed=True, id="x1"),
            call("weather", {"city": "Köln"}, id="x2"),
        ],
    ),
    told(
        "thoughts, then text with a signature at the end",
        [
            response(thought("**Hm**")),
            response(thought(" So.")),
            response(text("It is ")),
            response(text("an elm.")),
            response(text("", thoughtSignature=SIGNATURE), finish="STOP"),
        ],
        [
            thought("**Hm** So."),
            text("It is an elm.", thoughtSignature=SIGNATURE),
        ],
    ),
    told(
        "a signed text",
        [response(text("Yes.", thoughtSignature=SIGNATURE), finish="STOP")],
        [text("Yes.", thoughtSignature=SIGNATURE)],
    ),
    told(
        "signed thoughts",
        [
            response(thought("One.")),
            response(thought("", thoughtSignature=SIGNATURE)),
            response(text("1"), finish="STOP"),
        ],
        [thought("One.", thoughtSignature=SIGNATURE), text("1")],
    ),
    told(
        "many scripts",
        [response(text("žluť 🐎")), response(text(" 日本語\u00a0"), finish="STOP")],
        [text("žluť 🐎 日本語\u00a0")],
    ),
    told(
        "text, then calls without arguments",
        [
            response(text("Well, ")),
            response(text("now.")),
            response(call("now", {}), call("who", None), finish="STOP"),
        ],
        [text("Well, now."), call("now", {}), call("who", None)],
    ),
    told(
        "arguments in pieces",
        [
            response(piece(name="book", signed=True)),
            response(piece(at("$.city", stringValue="Bonn", willContinue=True))),
            response(piece(at("$.city", stringValue=" am Rhein"))),
            response(piece(at("$.days[0]", stringValue="Mo"), at("$.days[1]", stringValue="Tu"))),
            response(piece(at("$.ok", boolValue=True))),
            response(piece(more=False)),
            response(finish="STOP"),
        ],
        [STREAMED],
    ),
    told(
        "code that the provider runs",
        [response(CODE), response(OUTCOME), response(text("Two."), finish="STOP")],
        [CODE, OUTCOME, text("Two.")],
    ),
    told(
        "citations",
        [
            response(text("An ")),
            response(text("elm."), finish="STOP", groundingMetadata=GROUNDS),
        ],
        [text("An elm.")],
        groundingMetadata=GROUNDS,
    ),
    told(
        "stopped by length",
        [response(text("On and o")), response(finish="MAX_TOKENS"), chunk()],
        [text("On and o")],
        "MAX_TOKENS",
    ),
    told(
        "stopped for safety",
        [response(text("It")), response(finish="SAFETY")],
        [text("It")],
        "SAFETY",
    ),
    told(
        "a call that cannot be read",
        [response(finish="MALFORMED_FUNCTION_CALL")],
        [],
        "MALFORMED_FUNCTION_CALL",
    ),
    _two_candidates(),
    _blocked(),
    _image(),
    _failed(),
]
