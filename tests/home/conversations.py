"""A conversation around an instance: what its provider demands before and after it.

A call has its result, a result its call, reasoning what it led to. Everything else of the
conversation is as plain as it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.home.instances import CALL_ID, TOOL, Builder
from tests.home.shapes import Shape

Message = dict[str, Any]
_QUESTION = "What is the weather?"
_ANSWER = "It is sunny."


def around(target: str, message: Message, root: Shape) -> list[Message]:
    """The messages of a conversation that holds this one."""
    return [dict(one) for one in _AROUND[target](message, root)]


def _chat(message: Message, root: Shape) -> list[Message]:
    question, answer = _user(_QUESTION), {"role": "assistant", "content": _ANSWER}
    match message["role"]:
        case "assistant":
            calls = [
                {**call, "id": CALL_ID if not place else f"{CALL_ID[:8]}{place}"}
                for place, call in enumerate(message.get("tool_calls") or ())
            ]
            # The older form of calls stands alone.
            said = {name: value for name, value in message.items() if name != "function_call"}
            said |= {"tool_calls": calls} if calls else {}
            return [question, said, *(_chat_result(call["id"]) for call in calls)]
        case "tool":
            function = {"name": message.get("name") or TOOL, "arguments": "{}"}
            call = {"id": CALL_ID, "type": "function", "function": function}
            asked = {"role": "assistant", "content": "", "tool_calls": [call]}
            return [question, asked, message | {"tool_call_id": CALL_ID}]
        case "function":
            call = {"name": message["name"], "arguments": "{}"}
            return [
                question,
                {"role": "assistant", "content": None, "function_call": call},
                message,
            ]
        case "user":
            return [message]
    return [message, question, answer]


def _mistral(message: Message, root: Shape) -> list[Message]:
    # mistral-common: only the last message may be marked as a prefix.
    found = _chat({name: value for name, value in message.items() if name != "prefix"}, root)
    for one in found:
        if one["role"] == "tool":
            # mistral-common: the name of a tool message is that of the call.
            called = [call for other in found for call in other.get("tool_calls") or ()]
            name = called[0]["function"]["name"]
            if "name" not in one:
                one["name"] = name
    return found


def _chat_result(call_id: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": "sunny"}


def _user(content: object) -> Message:
    return {"role": "user", "content": content}


# openai: ResponseInputItemParam. Which item answers which.
_OUTPUTS = {
    "computer_call": "computer_call_output",
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "tool_search_call": "tool_search_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "mcp_approval_request": "mcp_approval_response",
    "program": "program_output",
}


def _responses(item: Message, root: Shape) -> list[Message]:
    kind = str(item.get("type", "message"))
    question = {"role": "user", "content": _QUESTION}
    answer = {"role": "assistant", "content": _ANSWER}
    for call, output in _OUTPUTS.items():
        if kind == call:
            return [question, item, _answering(item, _item_of(output, root))]
        if kind == output:
            asked = _item_of(call, root)
            if kind == "tool_search_output":
                asked = asked | {"call_id": item["call_id"]}
            return [question, asked, _answering(asked, item)]
    if kind == "reasoning":
        return [question, item, answer]
    if kind == "message" and item.get("role") in ("system", "developer"):
        return [item, question]
    if kind == "message" and item.get("role") == "user":
        return [item]
    return [question, item]


def _item_of(kind: str, root: Shape) -> Message:
    found = next(one for one in root.kinds if one.word("type") == kind)
    return Builder().default(found)


def _answering(call: Message, output: Message) -> Message:
    if output["type"] == "mcp_approval_response":
        return output | {"approval_request_id": call["id"]}
    if output["type"] == "local_shell_call_output":
        return output | {"id": call["call_id"]}
    if output["type"] == "tool_search_output" and call["call_id"] is None:
        return output | {"call_id": None}
    return output


def _anthropic(message: Message, root: Shape) -> list[Message]:
    if message["role"] == "system":
        return [_user(_QUESTION), message, _user("Go on.")]
    content = message["content"]
    block = content[0] if isinstance(content, list) else {}
    kind = block.get("type")
    asking: Message = {"role": "assistant"}
    result: Message
    if kind == "tool_result":
        call = {"type": "tool_use", "id": CALL_ID, "name": TOOL, "input": {}}
        held = block.get("content")
        if isinstance(held, list) and held[0]["type"] != "text":
            # The API: "all content must be type 'text' if 'is_error' is true".
            message = message | {"content": [block | {"is_error": False}]}
        return [_user(_QUESTION), asking | {"content": [call]}, message]
    if kind in _RESULTS_OF:
        call = _RESULTS_OF[kind]
        said = asking | {"content": [call, block, {"type": "text", "text": _ANSWER}]}
        return [_user(_QUESTION), said]
    if kind == "tool_use":
        result = {"type": "tool_result", "tool_use_id": CALL_ID, "content": "sunny"}
        said = asking | {"content": [block | {"id": CALL_ID}]}
        return [_user(_QUESTION), said, _user([result])]
    if kind == "server_tool_use":
        result = {
            "type": "web_search_tool_result",
            "tool_use_id": CALL_ID,
            "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
        }
        return [_user(_QUESTION), asking | {"content": [block | {"id": CALL_ID}, result]}]
    if kind == "mcp_tool_use":
        result = {"type": "mcp_tool_result", "tool_use_id": CALL_ID, "content": "sunny"}
        return [_user(_QUESTION), asking | {"content": [block | {"id": CALL_ID}, result]}]
    if kind in ("thinking", "redacted_thinking"):
        said = asking | {"content": [block, {"type": "text", "text": _ANSWER}]}
        return [_user(_QUESTION), said]
    if kind in _OF_MODELS or message["role"] == "assistant":
        return [_user(_QUESTION), message | {"role": "assistant"}]
    return [message]


_SERVER_CALL = {"type": "server_tool_use", "id": CALL_ID, "name": "web_search", "input": {}}
_RESULTS_OF: dict[str, Message] = {
    **{
        f"{name}_tool_result": _SERVER_CALL | {"name": name}
        for name in (
            *("web_search", "web_fetch", "code_execution", "bash_code_execution", "advisor"),
            "text_editor_code_execution",
        )
    },
    "tool_search_tool_result": _SERVER_CALL | {"name": "tool_search_tool_regex"},
    "mcp_tool_result": {
        "type": "mcp_tool_use",
        "id": CALL_ID,
        "name": TOOL,
        "server_name": "weather-server",
        "input": {},
    },
}
_OF_MODELS = ("compaction", "fallback")


def _gemini(message: Message, root: Shape) -> list[Message]:
    question = {"role": "user", "parts": [{"text": _QUESTION}]}
    (part,) = message["parts"]
    answer = {"text": _ANSWER}
    if "function_call" in part:
        part = part | {"thought": False}
        response = {"id": part["function_call"]["id"], "name": part["function_call"]["name"]}
        result = {"function_response": response | {"response": {"output": "sunny"}}}
        return [question, {"role": "model", "parts": [part]}, {"role": "user", "parts": [result]}]
    if "function_response" in part:
        call = {"id": part["function_response"]["id"], "name": part["function_response"]["name"]}
        signed = {"thought_signature": "c2lnbmVk"}
        asked = {"role": "model", "parts": [{"function_call": call | {"args": {}}} | signed]}
        return [question, asked, {"role": "user", "parts": [part | {"thought": False}]}]
    if "code_execution_result" in part:
        code = {"executable_code": {"code": "1", "language": "PYTHON"}}
        said = [code, part, answer]
        return [question, {"role": "model", "parts": said}]
    if "executable_code" in part:
        result = {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}}
        return [question, {"role": "model", "parts": [part, result, answer]}]
    if "tool_call" in part or "tool_response" in part:
        call = part.get("tool_call") or part["tool_response"]
        pair = {key: call[key] for key in ("id", "tool_type")}
        first = part if "tool_call" in part else {"tool_call": pair | {"args": {}}}
        second = part if "tool_response" in part else {"tool_response": pair | {"response": {}}}
        return [question, {"role": "model", "parts": [first, second, answer]}]
    if "thought" in part and "text" in part:
        return [question, {"role": "model", "parts": [part, answer]}]
    return [{"role": "user", "parts": [part]}]


def _bedrock(message: Message, root: Shape) -> list[Message]:
    question = {"role": "user", "content": [{"text": _QUESTION}]}
    (block,) = message["content"]
    (kind,) = block
    text: Message = {"text": _ANSWER}
    result: Message
    if message["role"] == "system":
        return [question, message, question]
    if message["role"] == "assistant":
        use: Message = {"toolUse": {"toolUseId": CALL_ID, "name": TOOL, "input": {}}}
        use["toolUse"]["type"] = "server_tool_use"
        result = {"toolResult": {"toolUseId": CALL_ID, "content": [text], "type": "web_search"}}
        parts = {
            "cachePoint": [text, block],
            "reasoningContent": [block, text],
            # Tools that the provider runs: call and result are in one message.
            "toolUse": [block, result, text],
            "toolResult": [use, block, text],
        }
        said = parts.get(kind, [block])
        return [question, message | {"content": said}]
    match kind:
        case "toolUse" if block[kind].get("type"):
            result = {"toolUseId": CALL_ID, "content": [text], "type": "web_search"}
            return [
                question,
                {"role": "assistant", "content": [block, {"toolResult": result}, text]},
            ]
        case "toolUse":
            result = {"toolResult": {"toolUseId": CALL_ID, "content": [{"text": "sunny"}]}}
            asked = {"role": "assistant", "content": [block]}
            return [question, asked, {"role": "user", "content": [result]}]
        case "toolResult":
            call = {"toolUse": {"toolUseId": CALL_ID, "name": TOOL, "input": {}}}
            return [question, {"role": "assistant", "content": [call]}, message]
        case "reasoningContent" | "citationsContent":
            return [question, {"role": "assistant", "content": [block, text]}]
    if kind == "cachePoint":
        return [{"role": "user", "content": [text, block]}]
    return [message]


def _ai_sdk(message: Message, root: Shape, *, is_v4: bool) -> list[Message]:
    question = {"role": "user", "content": _QUESTION}
    content = message["content"]
    part = content[0] if isinstance(content, list) else {}
    arguments, output = ("args", "result") if is_v4 else ("input", "output")
    value: Any = "sunny" if is_v4 else {"type": "text", "value": "sunny"}
    named = {"toolCallId": CALL_ID, "toolName": TOOL}
    call = {"type": "tool-call", **named, arguments: {}}
    result = {"type": "tool-result", **named, output: value}
    answer = {"type": "text", "text": _ANSWER}
    request = {"type": "tool-approval-request", "approvalId": "approval", "toolCallId": CALL_ID}
    match message["role"], part.get("type"):
        case "assistant", "tool-call" if not part.get("providerExecuted"):
            return [question, message, {"role": "tool", "content": [result]}]
        case "assistant", "tool-call":
            return [question, message | {"content": [part, result]}]
        case "assistant", "tool-result":
            executed = call | {"providerExecuted": True}
            return [question, message | {"content": [executed, part]}]
        case "assistant", "tool-approval-request":
            tool = {"role": "tool", "content": [result]}
            return [question, message | {"content": [call, part]}, tool]
        case "assistant", "reasoning" | "redacted-reasoning" | "reasoning-file":
            return [question, message | {"content": [part, answer]}]
        case "assistant", _:
            return [question, message]
        case "tool", "tool-approval-response":
            approval = part | {"approvalId": "approval"}
            asked = {"role": "assistant", "content": [call, request]}
            return [question, asked, message | {"content": [approval, result]}]
        case "tool", _:
            return [question, {"role": "assistant", "content": [call]}, message]
        case "system", _:
            return [message, question]
    return [message]


def _v4(message: Message, root: Shape) -> list[Message]:
    return _ai_sdk(message, root, is_v4=True)


def _v5(message: Message, root: Shape) -> list[Message]:
    return _ai_sdk(message, root, is_v4=False)


_AROUND: dict[str, Callable[[Message, Shape], Sequence[Message]]] = {
    **dict.fromkeys(("openai", "kimi", "deepseek", "qwen", "openrouter"), _chat),
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "mistral": _mistral,
    "vercel": _v5,
    "vercel-v4": _v4,
}
