"""The codecs without storage: tools, messages, tool ids."""

from typing import Any

import pytest

from app.formats.registry import TARGETS
from tests import judges
from tests.http_api import answering, calling, user
from tests.tools.conftest import ToolApi
from tests.tools.shapes import RICH, Said, convert, read, written

READ = Said("read", "Reads a file.", RICH)


@pytest.mark.parametrize("target", TARGETS)
def test_tools_over_http_are_those_of_the_codec(shared: ToolApi, target: str) -> None:
    tools = written("anthropic", READ)
    answer = shared.convert("tools", source="anthropic", to=target, tools=tools)
    assert answer.json() == convert("anthropic", target, tools)


def test_the_answer_has_the_members_of_the_contract(shared: ToolApi) -> None:
    answer = shared.convert("tools", source="anthropic", to="openai", tools=[]).json()
    assert {"tools", "tool_choice", "dropped", "notes"} <= answer.keys()


def test_an_unknown_member_is_refused_by_name(shared: ToolApi) -> None:
    answer = shared.convert("tools", source="anthropic", to="openai", tools=[], toolz=[])
    assert (answer.status_code, answer.json()["pointer"]) == (422, "/toolz")


def test_nothing_is_stored(shared: ToolApi) -> None:
    shared.convert("tools", source="anthropic", to="openai", tools=written("anthropic", READ))
    shared.convert("messages", source="openai", to="anthropic", messages=[user("hi")])
    assert shared.http.get("/v1/conversations").json()["data"] == []


HISTORY = [
    user("look"),
    calling(("call_1", "read", '{"path": "x"}'), ("call_2", "read", '{"path": "y"}')),
    answering("call_2", "two"),
    answering("call_1", "one"),
    {"role": "assistant", "content": "done"},
    user("thanks"),
]


@pytest.mark.parametrize("target", TARGETS)
def test_messages_are_converted_for_every_target(shared: ToolApi, target: str) -> None:
    answer = shared.convert("messages", source="openai", to=target, messages=HISTORY).json()
    if target != "neutral":
        assert judges.complaints(target, answer["request"]) == []
        pairs = judges.calls_and_results(target, answer["request"])
        assert [pair[1] for pair in pairs] == ["read", "read"]


def test_messages_are_converted_to_the_same_bytes_twice(shared: ToolApi) -> None:
    first, second = (
        shared.convert("messages", source="openai", to="mistral", messages=HISTORY).content
        for _ in "12"
    )
    assert first == second


def test_converted_messages_can_be_had_ready_to_be_sent(shared: ToolApi) -> None:
    way = {"source": "openai", "to": "mistral", "messages": HISTORY[:-1]}
    shown = shared.convert("messages", **way).json()["request"]["messages"][-1]
    ready = shared.convert("messages", **way, ready=True).json()["request"]["messages"][-1]
    assert ready == shown | {"prefix": True}


@pytest.mark.parametrize(("target", "ready"), [("openai", "yes"), ("neutral", True)])
def test_what_cannot_be_made_ready_is_refused(shared: ToolApi, target: str, ready: object) -> None:
    refused = shared.convert("messages", source="openai", to=target, messages=HISTORY, ready=ready)
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/ready")


def test_a_missing_result_is_a_reported_placeholder(shared: ToolApi) -> None:
    answer = shared.convert(
        "messages", source="openai", to="anthropic", messages=[*HISTORY[:2], user("well?")]
    ).json()
    assert "SYNTH_RESULT" in [repair["code"] for repair in answer["repairs"]]


def test_seed_003_a_chat_call_becomes_a_block_of_anthropic(shared: ToolApi) -> None:
    call = calling(("call_abc123", "get_weather", '{"location":"San Francisco"}'))
    messages = [user("?"), call, answering("call_abc123", "72°F, sunny")]
    request = shared.convert("messages", source="openai", to="anthropic", messages=messages).json()
    use = request["request"]["messages"][1]["content"][0]
    assert (use["type"], use["name"]) == ("tool_use", "get_weather")
    assert use["input"] == {"location": "San Francisco"}
    result = request["request"]["messages"][2]["content"][0]
    assert result["tool_use_id"] == use["id"]
    assert use["id"].startswith("toolu_")
    assert "72°F, sunny" in str(result["content"])


def test_seed_003_an_item_of_responses_becomes_a_block_of_anthropic(shared: ToolApi) -> None:
    item = {
        "type": "function_call",
        "id": "fc_abc123",
        "call_id": "fc_abc123",
        "name": "get_weather",
        "arguments": '{"location":"San Francisco"}',
    }
    result = {"type": "function_call_output", "call_id": "fc_abc123", "output": "72°F, sunny"}
    items = [{"role": "user", "content": "?"}, item, result]
    answer = shared.convert(
        "messages", source="openai-responses", to="anthropic", messages=items
    ).json()
    [(call_id, name, arguments, said)] = judges.calls_and_results("anthropic", answer["request"])
    assert (name, arguments, said) == (
        "get_weather",
        {"location": "San Francisco"},
        "72°F, sunny",
    )
    assert str(call_id).startswith("toolu_")


def test_seed_003_a_result_of_anthropic_answers_on_both_wires_of_openai(shared: ToolApi) -> None:
    use = {"type": "tool_use", "id": "toolu_abc123", "name": "get_weather", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_abc123", "content": "72°F, sunny"}
    messages = [
        user("?"),
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    for target in ("openai", "openai-responses"):
        answer = shared.convert("messages", source="anthropic", to=target, messages=messages).json()
        [(call_id, name, _, said)] = judges.calls_and_results(target, answer["request"])
        assert str(call_id).startswith("call_")
        assert (name, said) == ("get_weather", "72°F, sunny")


@pytest.mark.parametrize(
    "arguments", ['{"a": 1}', '"{\\"a\\": 1}"', {"a": 1}], ids=["text", "twice encoded", "object"]
)
def test_seed_003_arguments_are_an_object_however_they_were_encoded(
    shared: ToolApi, arguments: Any
) -> None:
    call = calling(("c", "t", arguments))
    messages = [user("?"), call, answering("c", "ok")]
    answer = shared.convert("messages", source="openai", to="anthropic", messages=messages).json()
    assert answer["request"]["messages"][1]["content"][0]["input"] == {"a": 1}


def test_tools_beside_converted_messages_are_converted_or_refused(shared: ToolApi) -> None:
    answer = shared.convert(
        "messages",
        source="openai",
        to="anthropic",
        messages=HISTORY,
        tools=written("openai", READ),
    )
    if answer.status_code == 200:
        assert [one.name for one in read("anthropic", answer.json()["request"])] == ["read"]
    else:
        assert (answer.status_code, answer.json()["pointer"]) == (422, "/tools")


@pytest.mark.parametrize(
    ("given", "openai", "history", "anthropic"),
    [
        ("", "call_", "hist_tool_", "toolu_"),
        ("hist_tool_", "call_", "hist_tool_", "toolu_"),
        ("call_", "call_", "hist_tool_", "toolu_"),
        ("toolu_", "call_", "hist_tool_", "toolu_"),
        (
            "hist_tool_abc_123_def",
            "call_abc_123_def",
            "hist_tool_abc_123_def",
            "toolu_abc_123_def",
        ),
        ("call_abc_123_def", "call_abc_123_def", "hist_tool_abc_123_def", "toolu_abc_123_def"),
        ("toolu_x", "call_x", "hist_tool_x", "toolu_x"),
        ("x", "call_x", "hist_tool_x", "toolu_x"),
        (" call_x ", "call_ call_x ", "hist_tool_ call_x ", "toolu_ call_x "),
        ("CALL_x", "call_CALL_x", "hist_tool_CALL_x", "toolu_CALL_x"),
    ],
)
def test_seed_000_tool_ids_swap_their_prefix(
    shared: ToolApi, given: str, openai: str, history: str, anthropic: str
) -> None:
    for target, wanted in (("openai", openai), ("history", history), ("anthropic", anthropic)):
        assert shared.convert("tool-id", id=given, to=target).json() == {"id": wanted}


@pytest.mark.parametrize("given", ["hist_tool_a", "hist_tool_", "hist_tool_call"])
def test_seed_000_history_ids_survive_the_round_trip(shared: ToolApi, given: str) -> None:
    there = shared.convert("tool-id", id=given, to="openai").json()["id"]
    assert shared.convert("tool-id", id=there, to="history").json()["id"] == given


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"to": "openai"}, "/id"),
        ({"id": 1, "to": "openai"}, "/id"),
        ({"id": "x"}, "/to"),
        ({"id": "x", "to": "openai", "from": "kimi"}, "/from"),
    ],
)
def test_a_tool_id_needs_an_id_and_a_target(shared: ToolApi, body: Any, pointer: str) -> None:
    answer = shared.convert("tool-id", **body)
    assert (answer.status_code, answer.json()["pointer"]) == (422, pointer)


OWN_NAMES: list[tuple[str, dict[str, Any], str]] = [
    ("bedrock", {"toolConfig": {"toolChoice": {"x": {}}}}, "/toolConfig/toolChoice"),
    ("bedrock", {"tools": {"tools": [], "toolChoice": {"x": {}}}}, "/tools/toolChoice"),
    ("bedrock", {"toolConfig": {"tools": [{"toolSpec": {}}]}}, "/toolConfig/tools/0"),
    ("bedrock", {"toolConfig": []}, "/toolConfig"),
    ("bedrock", {"toolConfig": {"toolz": []}}, "/toolConfig/toolz"),
    ("gemini", {"tools": [], "toolConfig": {}}, "/toolConfig"),
    ("gemini", {"tools": [], "toolConfig": {"a": 1}, "tool_config": {"a": 1}}, "/toolConfig"),
    ("gemini", {"tools": [{"name": "a"}, {"function_declarations": [7]}]},
     "/tools/1/function_declarations/0"),
    ("vercel", {"tools": {"a/b~": 7}}, "/tools/a~1b~0"),
    ("vercel", {"tools": {}, "toolChoice": 7}, "/toolChoice"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "said", "pointer"), OWN_NAMES)
def test_pointers_lead_to_the_names_of_the_wire(
    shared: ToolApi, source: str, said: dict[str, Any], pointer: str
) -> None:
    for answer in (
        shared.send("PUT", "conversations/c1/tools", {"provider": source, "strict": True, **said}),
        shared.convert("tools", source=source, to="openai", strict=True, **said),
    ):
        assert (answer.status_code, answer.json().get("pointer")) == (422, pointer), answer.text


def test_a_whole_tool_config_of_bedrock_is_read_with_its_choice(shared: ToolApi) -> None:
    config = {"tools": written("bedrock", READ), "toolChoice": {"any": {}}}
    for said in ({"toolConfig": config}, {"tools": config}):
        answer = shared.convert("tools", source="bedrock", to="openai", **said).json()
        assert answer["tool_choice"] == "required"
        assert [one["function"]["name"] for one in answer["tools"]] == ["read"]
