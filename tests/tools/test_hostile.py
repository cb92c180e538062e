"""Definitions that nobody should send: always an answer, never a 500, never for long."""

import json
from typing import Any

import pytest

from app.formats.registry import TARGETS
from tests.every import every
from tests.tools.conftest import ToolApi
from tests.tools.shapes import LIMITS, SHAPES, Said, written

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
ODD: list[Any] = [None, True, 0, -1.5, "", "x", [], [None], {}, {"": None}, [[]], {"type": []}]


def both(
    shared: ToolApi, source: str, tools: Any, target: str = "openai", **more: Any
) -> list[Any]:
    """The answers of the two doors that take definitions."""
    return [
        shared.put(source, tools, **more),
        shared.convert("tools", source=source, to=target, tools=tools, **more),
    ]


def many(count: int) -> list[Said]:
    return [Said(f"t{number}", "d", {"type": "object"}) for number in range(count)]


@every("source", SHAPES)
def test_ten_thousand_tools_are_refused_by_the_name_of_the_limit(
    shared: ToolApi, source: str
) -> None:
    answer = shared.put(source, written(source, *many(10_000)))
    told = answer.json()
    assert (answer.status_code, told.get("code")) == (422, "limit_exceeded")
    assert (told["limit"], told["most"]) == ("tools", LIMITS.tools)
    assert told["pointer"].startswith("/tools")


def test_ten_thousand_tools_are_not_converted_either(shared: ToolApi) -> None:
    tools = written("openai", *many(10_000))
    answer = shared.convert("tools", source="openai", to="anthropic", tools=tools)
    assert (answer.status_code, answer.json()["limit"]) == (422, "tools")


def test_ten_thousand_tools_in_the_whole_config_of_bedrock_are_refused(shared: ToolApi) -> None:
    config = {"tools": written("bedrock", *many(10_000))}
    answer = shared.put("bedrock", config)
    assert (answer.status_code, answer.json().get("limit")) == (422, "tools")


def test_as_many_tools_as_the_limit_allows_are_kept(shared: ToolApi) -> None:
    answer = shared.put("anthropic", written("anthropic", *many(LIMITS.tools)))
    assert (answer.status_code, answer.json()["tools"]) == (200, LIMITS.tools)


@pytest.mark.parametrize("depth", [65, 100_000])
def test_a_schema_too_deep_is_refused_by_the_name_of_the_limit(shared: ToolApi, depth: int) -> None:
    schema = '{"items":' * depth + "{}" + "}" * depth
    tools = f'[{{"name": "t", "description": "d", "input_schema": {schema}}}]'
    body = f'{{"provider": "anthropic", "tools": {tools}}}'
    answer = shared.send("PUT", "conversations/c1/tools", body)
    assert (answer.status_code, answer.json()["limit"]) == (422, "depth")


@pytest.mark.parametrize("key", ["items", "not", "additionalProperties", "properties"])
@pytest.mark.parametrize("source", ["anthropic", "bedrock", "openai"])
def test_a_schema_as_deep_as_allowed_is_kept(shared: ToolApi, source: str, key: str) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(26 if key == "properties" else 54):
        schema = {key: {"a": schema} if key == "properties" else schema}
    said = Said("t", "d", {"type": "object", "properties": {"a": schema}})
    for answer in both(shared, source, written(source, said)):
        assert (answer.status_code, answer.json()["dropped"]) == (200, [])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "$ref": "#"},
        {"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"type": "object", "properties": {"child": {"$ref": "#"}}, "required": ["child"]},
        {"type": "object", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"type": "object", "$ref": "#/nowhere"},
        {"type": "object", "$ref": "https://127.0.0.1:1/schema.json"},
        {"type": "object", "$ref": "file:///etc/passwd"},
        {"type": "object", "$id": "x", "$dynamicRef": "#a", "$dynamicAnchor": "a"},
        {"type": "object", "$schema": "https://127.0.0.1:1/schema.json"},
    ],
)
def test_references_are_never_followed(shared: ToolApi, schema: dict[str, Any]) -> None:
    for target in ("openai", "anthropic", "gemini"):
        answers = both(shared, "anthropic", written("anthropic", Said("t", "d", schema)), target)
        assert [answer.status_code for answer in answers] == [200, 200]


@every("target", TARGETS)
def test_a_name_of_ten_thousand_characters_is_shortened(shared: ToolApi, target: str) -> None:
    tools = written("anthropic", Said("n" * 10_000, "d", SCHEMA))
    kept, shown = both(shared, "anthropic", tools, target)
    assert (kept.status_code, shown.status_code) == (200, 200)
    assert target == "neutral" or len(shown.text) < 1_000 + 10_000
    assert shared.get("tools", provider=target).status_code == 200


@every("source", SHAPES)
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_definitions_are_refused_or_named(shared: ToolApi, source: str, odd: Any) -> None:
    for tools in (odd, [odd], [{"type": "function", "function": odd}], [{"toolSpec": odd}]):
        for answer in both(shared, source, tools):
            assert answer.status_code in (200, 422), answer.text


@every("source", TARGETS)
def test_odd_members_of_a_definition_are_refused_or_named(shared: ToolApi, source: str) -> None:
    for odd in ODD:
        for said in (Said(odd, "d", SCHEMA), Said("t", odd, SCHEMA), Said("t", "d", odd)):
            if source.startswith("vercel") and not isinstance(said.name, str):
                continue
            answer = shared.convert(
                "tools", source=source, to="openai", tools=written(source, said)
            )
            assert answer.status_code == 200, answer.text
            assert len(answer.json()["tools"]) + len(answer.json()["dropped"]) == 1


@every("source", SHAPES)
@pytest.mark.parametrize("key", ["tool_choice", "parallel_tool_calls", "strict", "required"])
def test_odd_members_beside_the_tools_are_refused(shared: ToolApi, source: str, key: str) -> None:
    for odd in ODD:
        tools = written(source, Said("t", "d", SCHEMA))
        answer = shared.convert("tools", source=source, to="gemini", tools=tools, **{key: odd})
        assert answer.status_code in (200, 422), answer.text
        if answer.status_code == 422:
            assert answer.json()["pointer"] == f"/{key}"


@pytest.mark.parametrize("body", [{}, [], None, "x", {"tools": []}, {"provider": 1}, {"from": 1}])
def test_a_body_that_misses_everything_is_refused(shared: ToolApi, body: Any) -> None:
    assert shared.send("PUT", "conversations/c1/tools", body).status_code in (400, 422)
    for door in ("tools", "messages", "tool-id"):
        assert shared.send("POST", f"convert/{door}", body).status_code in (400, 422)


@pytest.mark.parametrize("word", ["from", "to"])
@pytest.mark.parametrize("door", ["tools", "messages"])
def test_an_unknown_format_is_refused(shared: ToolApi, word: str, door: str) -> None:
    body = {"from": "openai", "to": "openai", "tools": [], "messages": []} | {word: "eliza"}
    if door == "tools":
        del body["messages"]
    answer = shared.http.post(f"/v1/convert/{door}", json=body)
    assert answer.status_code == 422
    assert "openai-responses" in answer.text


@pytest.mark.parametrize(
    "pattern",
    ["(", "a{99999999999999999999}", "(" * 5_000 + ")" * 5_000, "(?P<a>)" * 200, "\ud800", "[\x00"],
    ids=["open", "overflow", "deep", "groups", "surrogate", "null"],
)
def test_a_strange_pattern_is_no_failure(shared: ToolApi, pattern: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    for answer in both(shared, "anthropic", written("anthropic", Said("t", "d", schema))):
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("number", ["1e400", "-0", "1" * 4_300, "0.1" + "0" * 400, "1E-400"])
def test_a_strange_number_is_no_failure(shared: ToolApi, number: str) -> None:
    for key in ("minimum", "maxLength", "multipleOf", "default"):
        schema = f'{{"type": "object", "properties": {{"a": {{"{key}": {number}}}}}}}'
        tools = f'[{{"name": "t", "description": "d", "input_schema": {schema}}}]'
        body = f'{{"from": "anthropic", "to": "openai", "tools": {tools}}}'
        answer = shared.send("POST", "convert/tools", body)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("key", ["type", "required", "enum"])
def test_a_long_list_in_a_schema_is_checked_in_no_time(shared: ToolApi, key: str) -> None:
    odd = {key: [{"x": number} for number in range(4_000)]}
    said = Said("t", "d", {"type": "object", "properties": {"a": odd}})
    answer = shared.convert(
        "tools", source="anthropic", to="openai", tools=written("anthropic", said)
    )
    assert answer.status_code in (200, 422)


@pytest.mark.parametrize(("width", "status"), [(6_000, 200), (20_000, 422)])
def test_a_wide_schema_is_checked_or_refused(shared: ToolApi, width: int, status: int) -> None:
    properties = {f"p{number}": {"type": "string"} for number in range(width)}
    said = Said("t", "d", {"type": "object", "properties": properties})
    for answer in both(shared, "anthropic", written("anthropic", said)):
        assert answer.status_code == status
        assert status == 200 or answer.json()["limit"] == "schema_nodes"


BAD = {"type": "strung"}


@every("source", TARGETS)
def test_what_is_dropped_is_named_by_index_name_and_reason(shared: ToolApi, source: str) -> None:
    tools = written(source, Said("good", "d", SCHEMA), Said("bad", "d", BAD))
    for answer in both(shared, source, tools):
        assert answer.status_code == 200
        [dropped] = answer.json()["dropped"]
        assert (dropped["index"], dropped["name"]) == (1, "bad")
        assert "object" in dropped["reason"] or "JSON Schema" in dropped["reason"]


@every("source", TARGETS)
def test_strict_refuses_and_its_pointer_leads_to_the_tool(shared: ToolApi, source: str) -> None:
    tools = written(source, Said("good", "d", SCHEMA), Said("bad", "d", BAD))
    for answer in both(shared, source, tools, strict=True):
        assert answer.status_code == 422
        assert "strung" in json.dumps(at(tools, answer.json()["pointer"]))
        assert "good" not in json.dumps(at(tools, answer.json()["pointer"]))


@pytest.mark.parametrize("odd", [0, 1, "true", [], {}])
def test_strict_is_true_or_false(shared: ToolApi, odd: Any) -> None:
    tools = written("anthropic", Said("good", "d", SCHEMA))
    for answer in both(shared, "anthropic", tools, strict=odd):
        assert (answer.status_code, answer.json()["pointer"]) == (422, "/strict")


def test_what_strict_refuses_is_not_kept(lite: ToolApi) -> None:
    lite.put("anthropic", written("anthropic", Said("bad", "d", BAD)), strict=True)
    assert lite.get("tools", provider="openai").status_code == 404


def at(tools: Any, pointer: str) -> Any:
    found: Any = {"tools": tools}
    for step in pointer.removeprefix("/").split("/"):
        found = found[int(step)] if isinstance(found, list) else found[step]
    return found


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
@pytest.mark.parametrize("rest", [True, False, None], ids=["open", "closed", "different"])
def test_thousands_of_branches_give_no_more_than_they_hold(
    shared: ToolApi, word: str, rest: bool | None
) -> None:
    branches = [
        {
            "properties": {f"p{number}": {"type": "string"}},
            "additionalProperties": {"const": number} if rest is None else rest,
        }
        for number in range(2_500)
    ]
    said = Said("t", "d", {word: branches})
    tools = written("neutral", said)
    answer = shared.convert("tools", source="neutral", to="anthropic", tools=tools)
    [shown] = answer.json()["tools"]
    assert len(shown["input_schema"]["properties"]) == 2_500
    assert len(json.dumps(shown)) < 2 * len(json.dumps(tools))
