from tests.mistakes.mistake import CONTENT, STREAM, Mistake, answered, posted

TITLE = "Responses and streams"
CHOICE = {"index": 0, "message": {"role": "assistant", "content": CONTENT}}
COMPLETION = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [CHOICE]}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": CONTENT}],
}
EVENTS = {"content-type": "text/event-stream"}
CHUNK = f'data: {{"choices": [{{"delta": {{"content": "{CONTENT}"}}}}]}}\n\n'
PRETTY = f'{{\n  "choices": [{{"delta": {{"content": "{CONTENT}"}}}}]\n}}\n' * 2


def streamed(title: str, query: str, body: str, content_type: str = "text/event-stream") -> Mistake:
    return Mistake(title, "POST", f"{STREAM}{query}", body, {"content-type": content_type})


MISTAKES = [
    posted("A response among the messages", "openai", COMPLETION),
    posted("A choice among the messages", "openai", CHOICE),
    answered("A message as response", "openai", CHOICE["message"]),
    answered("A response as a list", "openai", [COMPLETION]),
    answered("A response as a text", "openai", "Hello!"),
    answered("A response of Anthropic's as OpenAI's", "openai", MESSAGE),
    answered("A response of OpenAI's as Anthropic's", "anthropic", COMPLETION),
    answered("A response of OpenAI's as Gemini's", "gemini", COMPLETION),
    answered("A response of OpenAI's as one of the Responses API", "openai-responses", COMPLETION),
    answered("An empty response", "openai", {}),
    answered(
        "An error of OpenAI's",
        "openai",
        {"error": {"message": CONTENT, "type": "insufficient_quota", "code": None}},
    ),
    answered(
        "An error of Anthropic's",
        "anthropic",
        {"type": "error", "error": {"type": "overloaded_error", "message": CONTENT}},
    ),
    answered(
        "An error of Gemini's",
        "gemini",
        {"error": {"code": 429, "message": CONTENT, "status": "RESOURCE_EXHAUSTED"}},
    ),
    answered("A response in the neutral form", "neutral", {"speaker": "ai"}),
    streamed("A stream without a provider", "", CHUNK),
    streamed("A stream with a misspelt provider", "?provider=opnai", CHUNK),
    streamed("A stream with a wrong content type", "?provider=openai", CHUNK, "application/json"),
    streamed("A stream without a content type", "?provider=openai", CHUNK, ""),
    streamed("An empty stream", "?provider=openai", ""),
    streamed("A page of a proxy as a stream", "?provider=openai", "<html>502 Bad Gateway</html>"),
    streamed("Events over several lines", "?provider=openai", PRETTY, "application/x-ndjson"),
    streamed("A stream of OpenAI's as Anthropic's", "?provider=anthropic", CHUNK),
    streamed("A stream with a bad turn id", "?provider=openai&turn_id=a%20b", CHUNK),
    streamed("A stream with an unknown parameter", "?provider=openai&turnId=a", CHUNK),
    streamed("A stream in the neutral form", "?provider=neutral", CHUNK),
]
