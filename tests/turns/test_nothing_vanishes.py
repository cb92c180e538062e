"""Slips that real callers make: each is read as it is meant, noted by name, or refused."""

from typing import Any

import pytest

from tests.http_api import Api, calling, user


def noted(answer: Any) -> list[str]:
    assert answer.status_code == 201, answer.text
    return [note["detail"] for note in answer.json()["notes"] if note["code"] == "MEMBERS_NOT_READ"]


@pytest.mark.parametrize(
    ("provider", "message", "member", "right"),
    [
        ("gemini", {"role": "user", "content": "Weather?"}, "content", "parts"),
        ("gemini", {"role": "user", "part": [{"text": "Weather?"}]}, "part", "parts"),
        ("openai", {"role": "user", "contents": "Weather?"}, "contents", "content"),
        ("openai", {"role": "user", "parts": [{"text": "Weather?"}]}, "parts", "content"),
        ("anthropic", {"role": "user", "text": "Weather?"}, "text", "content"),
        ("bedrock", {"role": "user", "parts": [{"text": "Weather?"}]}, "parts", "content"),
        ("openai-responses", {"role": "user", "text": "Weather?"}, "text", "content"),
        ("vercel", {"role": "user", "text": "Weather?"}, "text", "content"),
        ("neutral", {"speaker": "human", "content": "Weather?"}, "content", "blocks"),
    ],
)
def test_content_under_a_wrong_name_is_refused_with_the_right_one(
    lite: Api, provider: str, message: Any, member: str, right: str
) -> None:
    refused = lite.post(message, provider=provider)
    assert refused.status_code == 422
    assert refused.json()["pointer"] == f"/messages/0/{member}"
    assert f"`{member}`" in refused.json()["detail"]
    assert f"`{right}`" in refused.json()["detail"]
    assert lite.get("").status_code == 404


def test_calls_of_the_chat_shape_are_read_in_an_anthropic_message(lite: Api) -> None:
    said = {**calling(("call_1", "read", '{"path": "a"}')), "content": "Let me look."}
    turn = lite.post(said, provider="anthropic").json()["turns"][0]
    assert [(call["raw_id"], call["name"]) for call in turn["tool_calls"]] == [("call_1", "read")]
    use = lite.replay("anthropic")["request"]["messages"][1]["content"][1]
    assert (use["name"], use["input"]) == ("read", {"path": "a"})


@pytest.mark.parametrize("provider", ["openai", "mistral", "kimi", "acme"])
def test_tool_use_and_tool_result_blocks_are_read_in_chat_messages(
    lite: Api, provider: str
) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "alpha"}
    posted = lite.post(
        user("Read a."),
        {"role": "assistant", "content": [{"type": "text", "text": "Yes."}, use]},
        {"role": "user", "content": [result]},
        provider=provider,
        format="openai",
    ).json()
    assert posted["turns"][2]["tool_results"][0]["matched_by"] == "raw"
    for target in {"openai", provider} - {"acme"}:
        messages = lite.replay(target)["request"]["messages"]
        assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
        assert [call["function"]["name"] for call in messages[1]["tool_calls"]] == ["read"]
        assert messages[2]["content"] == "alpha"


def test_what_no_block_has_room_for_is_named_in_the_notes(lite: Api) -> None:
    spoken = {"role": "assistant", "content": "Hm.", "mood": "glad", "audio": {"id": "a1"}}
    (detail,) = noted(lite.post(user("Hi."), spoken))
    assert detail.startswith("/messages/1/mood, /messages/1/audio: ")


def test_members_without_content_need_no_note(lite: Api) -> None:
    dumped: dict[str, Any] = {
        "role": "assistant",
        "content": "Hm.",
        "refusal": None,
        "annotations": [],
        "audio": None,
        "function_call": None,
        "tool_calls": None,
    }
    assert noted(lite.post(user("Hi."), dumped)) == []


def test_a_note_names_a_few_members_and_counts_the_rest(lite: Api) -> None:
    many = {f"member{number:03}": "x" for number in range(100)}
    (detail,) = noted(lite.post({**user("Hi."), **many}))
    assert "and 80 more" in detail
    assert len(detail) < 1_000


@pytest.mark.parametrize(
    ("provider", "wrong", "right"),
    [
        ("neutral", "tool_call_id", "call_id"),
        ("neutral", "id", "call_id"),
        ("openai", "id", "tool_call_id"),
        ("openai", "tool_use_id", "tool_call_id"),
        ("anthropic", "id", "tool_use_id"),
        ("anthropic", "tool_call_id", "tool_use_id"),
        ("bedrock", "tool_use_id", "toolUseId"),
        ("gemini", "call_id", "id"),
        ("openai-responses", "id", "call_id"),
        ("vercel", "tool_call_id", "toolCallId"),
        ("mistral", "id", "tool_call_id"),
    ],
)
def test_a_result_whose_id_stands_under_a_wrong_key_is_refused_not_guessed(
    lite: Api, provider: str, wrong: str, right: str
) -> None:
    lite.post(calling(("call_read", "read", "{}"), ("call_drop", "delete_db", "{}")))
    refused = lite.post(_result(provider, wrong, "call_read"), provider=provider)
    assert refused.status_code == 422
    assert refused.json()["pointer"].endswith(f"/{wrong}")
    assert f"`{right}`" in refused.json()["detail"]
    states = {call["name"]: call["state"] for call in lite.get("tool-calls").json()["data"]}
    assert states == {"read": "open", "delete_db": "open"}


def _result(provider: str, key: str, call: str) -> dict[str, Any]:
    match provider:
        case "neutral":
            block = {"type": "tool_result", key: call, "result": "alpha"}
            return {"speaker": "tool", "blocks": [block]}
        case "anthropic":
            return {
                "role": "user",
                "content": [{"type": "tool_result", key: call, "content": "alpha"}],
            }
        case "bedrock":
            held = {key: call, "content": [{"text": "alpha"}]}
            return {"role": "user", "content": [{"toolResult": held}]}
        case "gemini":
            response = {key: call, "name": "read", "response": {"result": "alpha"}}
            return {"role": "user", "parts": [{"functionResponse": response}]}
        case "openai-responses":
            return {"type": "function_call_output", key: call, "output": "alpha"}
        case "vercel":
            part = {"type": "tool-result", key: call, "toolName": "read", "result": "alpha"}
            return {"role": "tool", "content": [part]}
        case _:
            return {"role": "tool", key: call, "content": "alpha"}


def test_a_result_without_any_id_is_still_matched_by_name_and_position(lite: Api) -> None:
    lite.post(calling((None, "read", "{}"), (None, "delete_db", "{}")))
    matched = lite.post(
        {"role": "tool", "name": "delete_db", "content": "no"}, {"role": "tool", "content": "alpha"}
    ).json()["turns"]
    rules = [turn["tool_results"][0]["matched_by"] for turn in matched]
    assert rules == ["name", "position"]


@pytest.mark.parametrize("member", ["messages", "provider"])
def test_a_member_that_is_given_twice_is_refused(lite: Api, member: str) -> None:
    body = (
        '{"provider": "openai", "messages": [{"role": "user", "content": "a"}],'
        ' "provider": "openai", "messages": [{"role": "user", "content": "b"}]}'
    )
    if member == "messages":
        body = body.replace(
            ' "provider": "openai", "messages": [{"role": "user", "content": "b"',
            ' "messages": [{"role": "user", "content": "b"',
        )
    refused = lite.http.post(
        "/v1/conversations/c1/turns", content=body, headers={"content-type": "application/json"}
    )
    assert (refused.status_code, refused.json()["pointer"]) == (422, f"/{member}")
    assert lite.get("").status_code == 404


@pytest.mark.parametrize("name", [".", ".."])
def test_names_that_clients_take_out_of_paths_are_refused(lite: Api, name: str) -> None:
    assert lite.post(user("a"), turn_id=name).status_code == 422
    assert lite.http.post("/v1/conversations", json={"id": name}).status_code == 422
    assert lite.post(user("a"), turn_id="...").status_code == 201


def test_a_tool_part_of_the_ai_sdk_with_an_odd_state_is_refused(lite: Api) -> None:
    part = {"type": "tool-b", "state": {}, "toolCallId": "a", "input": {}}
    refused = lite.post({"role": "assistant", "parts": [part]}, provider="vercel")
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/messages/0/parts/0/state")


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        (
            "anthropic",
            {
                "role": "user",
                "tool_use_id": "call_read",
                "content": [{"type": "tool_result", "content": "x"}],
            },
        ),
        (
            "bedrock",
            {
                "role": "user",
                "content": [{"toolUseId": "call_read", "toolResult": {"content": [{"text": "x"}]}}],
            },
        ),
        (
            "neutral",
            {
                "speaker": "tool",
                "tool_call_id": "call_read",
                "blocks": [{"type": "tool_result", "result": "x"}],
            },
        ),
        (
            "openai",
            {
                "role": "tool",
                "content": [{"type": "text", "text": "x", "tool_call_id": "call_read"}],
            },
        ),
        (
            "gemini",
            {
                "role": "user",
                "parts": [
                    {"id": "call_read", "functionResponse": {"name": "read", "response": {"r": 1}}}
                ],
            },
        ),
    ],
)
def test_an_id_one_level_too_high_or_too_deep_is_not_passed_over(
    lite: Api, provider: str, message: Any
) -> None:
    lite.post(calling(("call_drop", "delete_db", "{}"), ("call_read", "read", "{}")))
    refused = lite.post(message, provider=provider)
    assert refused.status_code == 422
    assert refused.json()["pointer"].endswith(("tool_use_id", "toolUseId", "tool_call_id", "/id"))
    states = {call["state"] for call in lite.get("tool-calls").json()["data"]}
    assert states == {"open"}


def test_a_response_that_failed_without_a_word_is_an_error_response(lite: Api) -> None:
    failed = {
        "id": "resp_1",
        "object": "response",
        "status": "failed",
        "error": {"code": "server_error", "message": "m"},
        "output": [],
    }
    body = {"provider": "openai-responses", "response": failed}
    refused = lite.http.post("/v1/conversations/c1/turns", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "error_response")


def test_a_candidate_of_gemini_whose_content_stands_elsewhere_is_refused(lite: Api) -> None:
    candidate = {"contents": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}
    body = {"provider": "gemini", "response": {"candidates": [candidate]}}
    refused = lite.http.post("/v1/conversations/c1/turns", json=body)
    assert refused.status_code == 422
    assert refused.json()["pointer"] == "/response/candidates/0/contents"


def sent(api: Api, method: str, path: str, body: str) -> Any:
    kind = {"Content-Type": "application/json"}
    return api.http.request(method, f"/v1/{path}", content=body, headers=kind)


TWICE = '{"b": [0, {"c": 1, "c": 2}]}'
TOOLS = '[{"name": "t", "input_schema": {"type": "object", "type": "object"}}]'
SAID = '"provider": "anthropic", "messages": [{"role": "user", "content": "h"}]'


@pytest.mark.parametrize(
    ("method", "path", "body", "pointer"),
    [
        ("POST", "conversations/c1/turns", f'{{{SAID}, "metadata": {TWICE}}}', "/metadata/b/1/c"),
        (
            "POST",
            "conversations/c1/turns?mode=sync",
            f'{{{SAID}, "metadata": {TWICE}}}',
            "/metadata/b/1/c",
        ),
        (
            "POST",
            "conversations/c1/turns",
            f'{{{SAID}, "tools": {TOOLS}}}',
            "/tools/0/input_schema/type",
        ),
        (
            "PUT",
            "conversations/c1/tools",
            f'{{"provider": "anthropic", "tools": {TOOLS}}}',
            "/tools/0/input_schema/type",
        ),
        ("POST", "conversations", f'{{"metadata": {TWICE}}}', "/metadata/b/1/c"),
        ("PATCH", "conversations/c0", f'{{"metadata": {TWICE}}}', "/metadata/b/1/c"),
        (
            "POST",
            "convert/tools",
            f'{{"from": "anthropic", "to": "openai", "tools": {TOOLS}}}',
            "/tools/0/input_schema/type",
        ),
        (
            "POST",
            "convert/messages",
            f'{{"from": "anthropic", "to": "openai", {SAID[25:]}, "metadata": {TWICE}}}',
            "/metadata/b/1/c",
        ),
    ],
)
def test_a_member_that_is_given_twice_is_refused_where_nothing_keeps_the_first(
    lite: Api, method: str, path: str, body: str, pointer: str
) -> None:
    lite.post(user("h"), cid="c0")
    refused = sent(lite, method, path, body)
    assert (refused.status_code, refused.json()["pointer"]) == (422, pointer)
    assert refused.json()["detail"].endswith(" is given twice.")
    assert lite.get("").status_code == 404


USE = '{"type": "tool_use", "id": "i", "name": "f", "input": {"x": 1, "x": 2}}'
MAKES_IT = f'{{"role": "assistant", "content": [{USE}]}}'
STRANGE = '{"role": "user", "content": [{"type": "hologram", "x": {"y": 1, "y": 2}}]}'
SAYS_TWICE = '{"role": "assistant", "content": "1", "content": "2"}'
SAYS_MORE = '{"role": "assistant", "content": "h"}'
TEXTS = '{"text": "1", "text": "2"}'
ASKED = '{"role": "user", "content": [{"text": "h"}]}'
HUMAN = '{"role": "user", "parts": [{"text": "h"}]}'
MARKED = '{"speaker": "human", "text": "h", "metadata": {"a": 1, "a": 2}}'


@pytest.mark.parametrize(
    ("provider", "members", "place"),
    [
        ("openai", f'"messages": [{SAYS_TWICE}]', "/messages/0/content"),
        ("openai", f'"messages": [{SAYS_MORE}, {SAYS_TWICE}]', "/messages/1/content"),
        ("anthropic", f'"messages": [{MAKES_IT}]', "/messages/0/content/0/input/x"),
        ("anthropic", f'"messages": [{STRANGE}]', "/messages/0/content/0/x/y"),
        ("openai-responses", f'"input": [{SAYS_TWICE}, {SAYS_MORE}]', "/input/0/content"),
        (
            "gemini",
            f'"system_instruction": {{"parts": [{TEXTS}]}}, "contents": [{HUMAN}]',
            "/system_instruction/parts/0/text",
        ),
        ("bedrock", f'"system": [{TEXTS}], "messages": [{ASKED}]', "/system/0/text"),
        (
            "openai",
            f'"response": {{"choices": [{{"message": {SAYS_TWICE}}}]}}',
            "/response/choices/0/message/content",
        ),
        ("neutral", f'"messages": [{MARKED}]', "/messages/0/metadata/a"),
    ],
)
def test_a_member_of_a_message_that_is_given_twice_is_named(
    lite: Api, provider: str, members: str, place: str
) -> None:
    """The last one is read, as everybody reads it; the payload has both."""
    body = f'{{"provider": "{provider}", {members}}}'
    notes = noted(sent(lite, "POST", "conversations/c1/turns", body))
    assert notes == [f"{place}: given twice; only the last one is read"]
    assert lite.get("verify").json()["ok"]
    assert ('"2"' in body) is ('"2"' in lite.get("replay", provider="openai").text)


def test_many_members_that_are_given_twice_are_named_in_part(lite: Api) -> None:
    block = '{"type": "text", "text": "1", "text": "2"}'
    message = f'{{"role": "user", "content": [{", ".join([block] * 30)}]}}'
    body = f'{{"provider": "openai", "messages": [{{"role": "user", "content": "h"}}, {message}]}}'
    [note] = noted(sent(lite, "POST", "conversations/c1/turns?mode=sync", body))
    assert note.startswith("/messages/1/content/0/text, /messages/1/content/1/text, ")
    assert note.endswith(" and 10 more: given twice; only the last one is read")
