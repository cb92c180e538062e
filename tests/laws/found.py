"""The smallest histories that broke a law once, or hid a planted fault; they are tried first."""

import json
from typing import Any

from tests.laws.strategies import Bodies

HALF = "~1~ half an emoji \ud83d"


def _post(provider: str, *messages: dict[str, Any], **envelope: str) -> str:
    return json.dumps({"provider": provider, **envelope, "messages": list(messages)})


def _user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _ai(content: Any, **members: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **members}


def _turn(speaker: str, *blocks: dict[str, Any], **members: str) -> dict[str, Any]:
    return {"speaker": speaker, "blocks": list(blocks), **members}


def _calling(raw_id: str) -> dict[str, Any]:
    function = {"name": "read", "arguments": '{"q":"~2~"}'}
    return _ai(None, tool_calls=[{"id": raw_id, "type": "function", "function": function}])


def _searched(number: int) -> dict[str, Any]:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    text = {"type": "text", "text": "so it is"}
    return _ai([use | {"input": {"query": f"~{number}~"}}, result, text])


_UPLOAD = {"type": "container_upload", "file_id": "~3~"}
_IMAGE = {"type": "image", "data": "data:image/png;base64,iVBORw0KGgp+M34="}
_CALL = {"type": "tool_call", "id": "a", "name": "read", "parameters": {"q": "~2~"}}
_ASKED = _post("openai", _user("~4~"), _calling("a"))

OPAQUE_IN_A_SYSTEM_TURN: Bodies = (
    _post("openai", _user("~1~")),
    _post("anthropic", {"role": "system", "content": [_UPLOAD]}),
)
OPAQUE_IN_THE_FIRST_SYSTEM_TURN: Bodies = (
    _post("anthropic", {"role": "system", "content": [_UPLOAD]}, _user("~1~")),
)
UNSIGNED_THINKING: Bodies = (
    _post(
        "anthropic",
        _ai([{"type": "thinking", "thinking": "~1~"}, {"type": "text", "text": "~2~"}]),
        _ai([{"type": "thinking", "thinking": "~3~", "signature": ""}, *_searched(4)["content"]]),
    ),
)
HALF_AN_EMOJI_IN_REASONING: Bodies = (
    _post("deepseek", _user("~3~"), _calling("a") | {"reasoning_content": HALF}),
    _post("kimi", _calling("b") | {"reasoning_content": HALF.replace("1", "4")}),
)
HALF_AN_EMOJI_IN_SIGNED_THINKING: Bodies = (
    _post(
        "anthropic",
        _ai(
            [
                {"type": "thinking", "thinking": HALF, "signature": "c2ln"},
                _searched(2)["content"][2],
            ]
        ),
    ),
    _post(
        "openai-responses",
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": HALF.replace("1", "3")}],
            "encrypted_content": "gAAA",
        },
        {"role": "assistant", "content": "~4~"},
    ),
)
REDACTED_THINKING_OF_A_PLAIN_THINKER: Bodies = (
    _post(
        "neutral",
        _turn(
            "ai",
            {
                "type": "thinking",
                "text": "",
                "native": {"type": "redacted_thinking", "data": "~1~"},
                "wire": "anthropic",
            },
            {"type": "text", "text": "~2~"},
            provider="kimi",
        ),
    ),
)
THINKING_ALONE: Bodies = (_post("deepseek", _ai(None, reasoning_content="~1~")),)
UNREADABLE_ADDRESSES: Bodies = (
    _post(
        "openai",
        _user(
            [
                {"type": "image_url", "image_url": {"url": "https://example.com/~1~ two.png"}},
                {"type": "image_url", "image_url": {"url": "https://example.com/~2~\ud83d.png"}},
            ]
        ),
    ),
)
HALF_AN_EMOJI_IN_A_FILE_NAME: Bodies = (
    _post(
        "neutral",
        _turn(
            "human",
            {"type": "file", "data": "data:application/pdf;base64,JVBERn4xfg==", "name": "a\ud83d"},
        ),
    ),
)
SIGNATURE_THAT_IS_NO_BASE64: Bodies = (_post("openai", _calling("call_0__thought__1")),)
SIGNATURE_WITH_BITS_TO_SPARE: Bodies = (_post("openai", _calling("call_0__thought__10")),)
TEXT_BEHIND_A_CALL: Bodies = (
    _post("anthropic", _ai([{"type": "tool_use", "id": "a", "name": "read", "input": {}}])),
    _post(
        "anthropic",
        _ai(
            [
                {"type": "tool_use", "id": "b", "name": "read", "input": {}},
                {"type": "text", "text": "~1~"},
            ]
        ),
    ),
)
EMPTY_SIGNATURE: Bodies = (
    _post(
        "neutral",
        {
            "speaker": "ai",
            "provider": "anthropic",
            "blocks": [
                {"type": "thinking", "text": "~1~", "signature": ""},
                {"type": "text", "text": "~2~"},
            ],
        },
    ),
)
THINKING_BEHIND_EVERYTHING: Bodies = (
    _post(
        "bedrock",
        _ai(
            [
                {"toolUse": {"toolUseId": "a", "name": "read", "input": {}}},
                {"text": "~1~"},
                {"reasoningContent": {"reasoningText": {"text": "~2~", "signature": "c2ln"}}},
            ]
        ),
    ),
)
MEDIA_THAT_CONVERSE_REFUSES: Bodies = (
    _post(
        "bedrock",
        _user(
            [
                {"image": {"format": "tiff", "source": {"bytes": "SUkqfjF+"}}},
                {
                    "image": {
                        "format": "png",
                        "source": {"s3Location": {"uri": "s3://a-bucket/~2~"}},
                    }
                },
            ]
        ),
    ),
)
PROVIDERS_TOOL_UNDER_ONE_ID_TWICE: Bodies = (
    _post("anthropic", _user("~3~"), _searched(1), _user("~4~"), _searched(2)),
)
FAILED_RESULT_OF_ONE_IMAGE: Bodies = (
    _ASKED,
    _post(
        "neutral",
        _turn(
            "tool", {"type": "tool_result", "call_id": "a", "status": "error", "content": [_IMAGE]}
        ),
    ),
)
RESULT_OF_ONE_IMAGE: Bodies = (
    _ASKED,
    _post("neutral", _turn("tool", {"type": "tool_result", "call_id": "a", "content": [_IMAGE]})),
)
ERROR_THAT_IS_OK: Bodies = (
    _post(
        "neutral",
        _turn("ai", _CALL),
        _turn(
            "tool",
            {
                "type": "tool_result",
                "call_id": "a",
                "result": "~1~",
                "status": "ok",
                "error": "~3~",
            },
        ),
    ),
)
IMAGE_BEHIND_A_RESULT: Bodies = (
    _ASKED,
    _post(
        "gemini",
        {
            "role": "user",
            "parts": [
                {"function_response": {"id": "a", "name": "read", "response": {"result": "~1~"}}},
                {"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgp+M34="}},
            ],
        },
    ),
)
RAW_ID_OF_A_RESULT: Bodies = (
    _ASKED,
    _post("openai", {"role": "tool", "tool_call_id": "a", "content": "~1~"}),
)
SYSTEM_BEHIND_AN_EMPTY_TURN: Bodies = (
    _post("openai", _ai(None), {"role": "system", "content": "~1~"}),
)
ADDRESS_OF_AN_IMAGE_AS_A_FILE: Bodies = (
    _post(
        "gemini",
        {
            "role": "user",
            "parts": [
                {"file_data": {"file_uri": "https://example.com/~1~", "mime_type": "image/png"}}
            ],
        },
    ),
)
RAW_ID_OPEN_IN_TWO_TURNS: Bodies = (
    _post("openai", _user("~3~"), _calling("a"), _user("~4~"), _calling("a")),
    _post("openai", {"role": "tool", "tool_call_id": "a", "content": "~1~"}),
)
RESULT_BEFORE_ITS_INTERRUPTION: Bodies = (
    _ASKED,
    _post(
        "neutral",
        _turn("tool", {"type": "tool_result", "call_id": "a", "result": "~1~"}),
        _turn(
            "tool",
            {"type": "tool_result", "call_id": "a", "result": "~3~", "status": "interrupted"},
        ),
    ),
)
ERROR_BESIDE_A_VALUE: Bodies = (
    _ASKED,
    _post(
        "neutral",
        _turn(
            "tool",
            {
                "type": "tool_result",
                "call_id": "a",
                "status": "ok",
                "error": "~1~",
                "result": {"k": "~3~"},
            },
        ),
    ),
)
ERROR_BESIDE_PARTS: Bodies = (
    _ASKED,
    _post(
        "neutral",
        _turn(
            "tool",
            {
                "type": "tool_result",
                "call_id": "a",
                "status": "ok",
                "error": "~1~",
                "content": [_IMAGE],
            },
        ),
    ),
)
