from typing import Any

from tests.mistakes.mistake import CONTENT, posted, user

TITLE = "Messages in the shape of another provider, or in none"
CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}


def assistant(**members: Any) -> dict[str, Any]:
    return {"role": "assistant", **members}


MISTAKES = [
    posted("openai: the role is forgotten", "openai", {"content": CONTENT}),
    posted("openai: the role is Gemini's", "openai", {"role": "model", "content": CONTENT}),
    posted("openai: the role is that of people", "openai", {"role": "human", "content": CONTENT}),
    posted("openai: the content is called text", "openai", {"role": "user", "text": CONTENT}),
    posted(
        "openai: the content is called contents", "openai", {"role": "user", "contents": CONTENT}
    ),
    posted("openai: the content is a number", "openai", user(42)),
    posted("openai: a part has no type", "openai", user([{"text": CONTENT}])),
    posted("openai: a message without content", "openai", {"role": "user"}),
    posted("openai: the calls are no list", "openai", assistant(tool_calls=CALL)),
    posted("openai: a call without a function", "openai", assistant(tool_calls=[{"id": "call_1"}])),
    posted(
        "openai: the arguments are an object (which is taken)",
        "openai",
        assistant(tool_calls=[{**CALL, "function": {"name": "read", "arguments": {"a": 1}}}]),
    ),
    posted("openai: a block of Anthropic's", "openai", assistant(content=[TOOL_USE])),
    posted(
        "openai: the id of a result under the wrong key",
        "openai",
        {"role": "tool", "id": "call_1", "content": CONTENT},
    ),
    posted(
        "openai: the id of a result in camelCase",
        "openai",
        {"role": "tool", "toolCallId": "call_1", "content": CONTENT},
    ),
    posted("openai-responses: messages instead of input", "openai-responses", user()),
    posted("anthropic: the role is OpenAI's", "anthropic", {"role": "tool", "content": CONTENT}),
    posted("anthropic: the calls are OpenAI's", "anthropic", assistant(tool_calls=[CALL])),
    posted("anthropic: a part is a text", "anthropic", user([CONTENT])),
    posted(
        "anthropic: the id of a result under the wrong key",
        "anthropic",
        user([{"type": "tool_result", "tool_call_id": "toolu_1", "content": CONTENT}]),
    ),
    posted(
        "anthropic: the input of a call is called arguments",
        "anthropic",
        assistant(content=[{"type": "tool_use", "id": "a", "name": "read", "arguments": {}}]),
    ),
    posted("gemini: content instead of parts", "gemini", user()),
    posted("gemini: the role is OpenAI's", "gemini", assistant(parts=[{"text": CONTENT}])),
    posted("gemini: the parts are a text", "gemini", {"role": "user", "parts": CONTENT}),
    posted("bedrock: the content is a text", "bedrock", user()),
    posted("bedrock: a part of OpenAI's", "bedrock", user([{"type": "text", "text": CONTENT}])),
    posted("mistral: the role is misspelt", "mistral", {"role": "asistant", "content": CONTENT}),
    posted("kimi: a call without a name", "kimi", assistant(tool_calls=[{"function": {}}])),
    posted("vercel: content instead of parts", "vercel", {"role": "tool", "content": CONTENT}),
    posted("neutral: a message of OpenAI's", "neutral", user()),
    posted("neutral: the speaker is unknown", "neutral", {"speaker": "user", "blocks": []}),
    posted("neutral: the blocks are a text", "neutral", {"speaker": "human", "blocks": CONTENT}),
    posted(
        "neutral: text and blocks",
        "neutral",
        {"speaker": "human", "text": CONTENT, "blocks": [{"type": "text", "text": CONTENT}]},
    ),
    posted("neutral: the text is a list", "neutral", {"speaker": "human", "text": [CONTENT]}),
    posted(
        "neutral: a note gives a result",
        "neutral",
        {"speaker": "note", "blocks": [{"type": "tool_result", "call_id": "a", "result": "x"}]},
    ),
    posted("openai: a note", "openai", {"role": "note", "content": CONTENT}),
    posted(
        "neutral: a block without a type",
        "neutral",
        {"speaker": "human", "blocks": [{"text": "x"}]},
    ),
    posted(
        "neutral: the id of a result under the wrong key",
        "neutral",
        {
            "speaker": "tool",
            "blocks": [{"type": "tool_result", "tool_call_id": "call_1", "result": CONTENT}],
        },
    ),
    posted("neutral: a short form without a text", "neutral", {"speaker": "human"}),
    posted(
        "neutral: a short form and blocks",
        "neutral",
        {"speaker": "human", "text": CONTENT, "blocks": []},
    ),
    posted(
        "neutral: people call tools",
        "neutral",
        {"speaker": "human", "blocks": [{"type": "tool_call", "id": "a", "name": "read"}]},
    ),
]
