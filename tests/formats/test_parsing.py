"""What wires say in ways of their own, read into the blocks it means."""

import json
from typing import Any

import pytest

from app.jsontext.reading import loads_object
from app.model.conversation import Block, Image, Opaque, Text, Thinking, ToolCall, ToolResult
from app.model.json_values import JsonObject
from app.model.limits import Limits
from app.turns.posting import read_post
from tests.every import every
from tests.histories import posted

PIXEL = "iVBORw0KGgo="


def blocks(provider: str, *messages: dict[str, Any], **beside: Any) -> list[Block]:
    """The blocks of all turns, in order."""
    body = {"provider": provider, "messages": list(messages), **beside}
    turns = posted(body).remembered.turns
    return [block for turn in turns for block in turn.blocks or ()]


def notes(body: dict[str, Any]) -> list[str]:
    """What is said of members that nobody read."""
    read = read_post(*loads_object(json.dumps(body), Limits()), Limits()).drafts
    return [note.detail for one in read for note in one.notes if note.code == "MEMBERS_NOT_READ"]


def assistant(*tool_calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(tool_calls)}


CHAT = ["openai", "kimi", "mistral", "deepseek", "qwen", "openrouter"]


@every("target", CHAT)
@pytest.mark.parametrize(
    ("given", "text"),
    [('{"a": 1}', '{"a": 1}'), ({"a": 1}, '{"a":1}'), (None, ""), ([1], "[1]"), (5, "5")],
)
def test_chat_arguments_come_as_text_or_as_a_value(target: str, given: Any, text: str) -> None:
    (call,) = blocks(target, assistant({"id": "x", "function": {"name": "f", "arguments": given}}))
    assert isinstance(call, ToolCall)
    assert call.arguments == text


@every("target", CHAT)
@pytest.mark.parametrize("content", [None, "", []])
def test_chat_content_may_be_nothing(target: str, content: Any) -> None:
    assert blocks(target, {"role": "user", "content": content}) == []


@every("target", CHAT)
@pytest.mark.parametrize("value", [None, "", "text", 0, False, {"a": 1}, [1], [{"a": 1}]])
def test_chat_results_may_be_any_value(target: str, value: Any) -> None:
    (result,) = blocks(target, {"role": "tool", "tool_call_id": "x", "content": value})
    assert result == ToolResult("x", value)


def test_chat_reasoning_stands_before_the_content() -> None:
    said = {"role": "assistant", "content": "b", "reasoning_content": "a"}
    assert blocks("kimi", said) == [
        Thinking("a", {"reasoning_content": "a"}, "chat"),
        Text("b"),
    ]


@pytest.mark.parametrize(
    ("extra", "raw_id", "signature"),
    [
        ({}, "call_1", None),
        ({}, "call_1__thought__c2ln", "c2ln"),
        ({"extra_content": {"google": {"thought_signature": "c2ln"}}}, "call_1", "c2ln"),
        ({"extra_content": {"google": {}}}, "call_1", None),
    ],
)
def test_a_thought_signature_is_found_where_gateways_put_it(
    extra: dict[str, Any], raw_id: str, signature: str | None
) -> None:
    (call,) = blocks(
        "openai", assistant({"id": raw_id, "function": {"name": "f", "arguments": "{}"}, **extra})
    )
    assert isinstance(call, ToolCall)
    assert (call.raw_id, call.signature) == (raw_id, signature)


def test_mistral_thinking_chunks_are_thinking() -> None:
    chunk = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    first, _ = blocks("mistral", {"role": "assistant", "content": [chunk, _text("a")]})
    assert isinstance(first, Thinking)
    assert first.text == "hm"


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_anthropic_blocks_of_the_future_are_kept_whole() -> None:
    hologram: JsonObject = {"type": "hologram", "depth": 3}
    assert blocks("anthropic", {"role": "user", "content": [hologram]}) == [
        Opaque("hologram", hologram, "anthropic")
    ]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "media", "data": PIXEL, "mediaType": "image/png"},
        {"type": "image-data", "data": PIXEL, "mediaType": "image/png"},
        {"type": "file-data", "data": PIXEL, "mediaType": "image/png"},
    ],
)
def test_an_image_in_a_content_result_of_the_ai_sdk_is_an_image(part: dict[str, Any]) -> None:
    output = {"type": "content", "value": [_text("Here:"), part]}
    result = {"type": "tool-result", "toolCallId": "x", "toolName": "shot", "output": output}
    (read,) = blocks("vercel", {"role": "tool", "content": [result]})
    assert isinstance(read, ToolResult)
    assert read.parts == (Text("Here:"), Image(f"data:image/png;base64,{PIXEL}"))


@pytest.mark.parametrize("beside", [{}, {"mediaType": "image"}, {"filename": "a.png"}])
def test_an_image_in_a_result_of_the_ai_sdk_may_be_an_address(beside: dict[str, Any]) -> None:
    part = {"type": "image-url", "url": "https://example.org/a.png", **beside}
    output = {"type": "content", "value": [part]}
    result = {"type": "tool-result", "toolCallId": "x", "toolName": "shot", "output": output}
    (read,) = blocks("vercel", {"role": "tool", "content": [result]})
    assert isinstance(read, ToolResult)
    assert read.parts == (Image("https://example.org/a.png"),)


APPROVALS = [
    {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "x"},
    {"type": "tool-approval-response", "approvalId": "a", "approved": False, "reason": "No."},
]


@every("target", ["vercel", "vercel-v4"])
@pytest.mark.parametrize("part", APPROVALS)
@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_an_approval_of_the_ai_sdk_is_no_call(target: str, part: JsonObject, role: str) -> None:
    kind = str(part["type"])
    assert blocks(target, {"role": role, "content": [part]}) == [Opaque(kind, part, target)]


def test_a_tool_of_a_user_interface_may_be_called_as_an_approval_is() -> None:
    part = {"type": "tool-approval-request", "toolCallId": "x", "state": "input-available"}
    (call,) = blocks("vercel", {"role": "assistant", "parts": [part | {"input": {}}]})
    assert isinstance(call, ToolCall)
    assert (call.name, call.raw_id) == ("approval-request", "x")


def _delete(state: str, **members: Any) -> dict[str, Any]:
    part = {"type": "tool-delete", "toolCallId": "x", "state": state, "input": {}}
    return {"role": "assistant", "parts": [part | members]}


def test_a_call_that_a_person_has_approved_waits_for_its_result() -> None:
    approved = {"id": "a", "approved": True, "reason": "Go on."}
    (call,) = blocks("vercel", _delete("approval-responded", approval=approved))
    assert isinstance(call, ToolCall)


def test_a_call_that_a_person_has_denied_waits_for_nothing() -> None:
    denied = {"id": "a", "approved": False, "reason": "No."}
    _, result = blocks("vercel", _delete("approval-responded", approval=denied))
    assert result == ToolResult("x", status="denied", error="No.")


GOOGLE: JsonObject = {"google": {"thoughtSignature": "c2ln"}}
TOLD: JsonObject = {"openai": {"itemId": "msg_1", "logprobs": [1], "annotations": []}, "x": {}}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool-call", "toolCallId": "x", "toolName": "f", "providerOptions": GOOGLE},
        {"type": "tool-f", "toolCallId": "x", "state": "call", "callProviderMetadata": GOOGLE},
        {"type": "dynamic-tool", "toolCallId": "x", "toolName": "f", "providerMetadata": GOOGLE},
    ],
)
def test_a_call_of_the_ai_sdk_keeps_the_signature_of_gemini(part: JsonObject) -> None:
    message = {"role": "assistant", "content": [part]}
    (call,) = blocks("vercel", message)
    assert isinstance(call, ToolCall)
    assert (call.name, call.signature) == ("f", "c2ln")
    assert notes({"provider": "vercel", "messages": [message]}) == []


@pytest.mark.parametrize("key", ["providerOptions", "providerMetadata"])
def test_what_the_ai_sdk_says_for_one_provider_is_named(key: str) -> None:
    """Ids, settings and what is empty are no content; a signature is kept."""
    signed = {"type": "text", "text": "a", key: {**TOLD, **GOOGLE, "y": {"cacheControl": {}}}}
    message = {"role": "assistant", "content": [signed], key: {"z": {"w": 1}}}
    assert blocks("vercel", message) == [Text("a", "c2ln")]
    (note,) = notes({"provider": "vercel", "messages": [message]})
    named = f"/messages/0/{key}/z/w, /messages/0/content/0/{key}/openai/logprobs"
    assert sorted(note.partition(":")[0].split(", ")) == sorted(named.split(", "))


@pytest.mark.parametrize("signature", ["not base64!", 5, ["c2ln"]])
def test_what_is_no_signature_of_gemini_is_named(signature: Any) -> None:
    options = {"google": {"thoughtSignature": signature}}
    part = {"type": "text", "text": "a", "providerOptions": options}
    message = {"role": "assistant", "content": [part]}
    assert blocks("vercel", message) == [Text("a")]
    (note,) = notes({"provider": "vercel", "messages": [message]})
    assert "/content/0/providerOptions/google/thoughtSignature" in note


def test_options_beside_no_content_are_no_content() -> None:
    message = {"role": "user", "content": "", "providerOptions": {"z": {"w": 1}}}
    assert blocks("vercel", message) == []


SIGNED: JsonObject = {"type": "reasoning", "text": "R", "signature": "S"}
REDACTED: JsonObject = {"type": "redacted-reasoning", "data": "D"}


@every("target", ["vercel", "vercel-v4"])
def test_reasoning_that_only_version_4_of_the_ai_sdk_has_goes_back_to_it_alone(target: str) -> None:
    details = [{"type": "text", "text": "R", "signature": "S"}, {"type": "redacted", "data": "D"}]
    stored = {"type": "reasoning", "reasoning": "R", "details": details}
    kept = [Thinking("R", SIGNED, "vercel-v4"), Thinking("", REDACTED, "vercel-v4")]
    assert blocks(target, {"role": "assistant", "content": "", "parts": [stored]}) == kept
    assert blocks(target, {"role": "assistant", "content": [SIGNED, REDACTED]}) == kept


def test_reasoning_of_a_ui_message_without_details_is_its_text() -> None:
    part = {"type": "reasoning", "reasoning": "R"}
    assert blocks("vercel", {"role": "assistant", "parts": [part]}) == [
        Thinking("R", {"type": "reasoning", "text": "R"}, "vercel")
    ]


def test_reasoning_that_its_details_do_not_say_again_is_noted() -> None:
    detail = {"type": "text", "text": "R"}
    part = {"type": "reasoning", "reasoning": "Another.", "details": [detail]}
    body = {"provider": "vercel-v4", "messages": [{"role": "assistant", "parts": [part]}]}
    assert notes(body) == [
        "/messages/0/parts/0/reasoning: kept in the payload, shown to no other provider"
    ]


def test_a_later_step_of_a_ui_message_stands_behind_the_results_of_the_former() -> None:
    part = {"type": "tool-clock", "toolCallId": "x", "state": "output-available", "output": "14:05"}
    step = {"type": "step-start"}
    said = {"role": "assistant", "parts": [step, _text("a"), part, step, _text("Five past two.")]}
    body = {"provider": "vercel", "messages": [{"role": "user", "content": "?"}, said]}
    shown = posted(body).render("openai").request["messages"]
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("key", ["contents", "messages"])
def test_gemini_messages_have_two_names(key: str) -> None:
    body = {"provider": "gemini", key: [{"role": "user", "parts": [{"text": "a"}]}]}
    assert posted(body).remembered.turns[0].blocks == (Text("a"),)


def test_neighbouring_items_of_the_model_are_one_turn_on_responses() -> None:
    body = {
        "provider": "openai-responses",
        "input": [
            {"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "y", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "x", "output": "1"},
        ],
    }
    history = posted(body)
    assert [turn.speaker for turn in history.remembered.turns] == ["ai", "tool"]
    assert [call.call_index for call in history.remembered.ledger.calls.values()] == [0, 1]


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        {"type": "tool_result", "tool_use_id": "t", "content": "x"},
    ],
)
def test_chunks_that_have_no_place_in_a_result_are_kept_and_named(chunk: JsonObject) -> None:
    call = {"id": "A1b2C3d4e", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    seen = {"type": "text", "text": "visible"}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "A1b2C3d4e", "name": "f", "content": [seen, chunk]},
    ]
    history = posted({"provider": "mistral", "messages": messages})
    (result,) = history.remembered.turns[2].blocks or ()
    assert isinstance(result, ToolResult)
    assert result.parts == (Text("visible"), Opaque(str(chunk["type"]), chunk, "chat"))
    assert "BLOCK_OMITTED" in history.render("anthropic").codes
    assert history.render("mistral").request["messages"][2]["content"] == [seen, chunk]
