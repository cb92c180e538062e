"""Every shape of definitions for every target: accepted, whole, and always the same."""

import json
from itertools import product
from typing import Any

import pytest

from app.formats.registry import TARGETS
from tests.every import every
from tests.tools.shapes import (
    CHAT,
    RICH,
    SHAPES,
    Said,
    codes,
    convert,
    faults,
    property_paths,
    read,
    written,
)

ALL = list(product(TARGETS, TARGETS))
PAIRS = list(product(SHAPES, TARGETS))
READ = Said("read_file", "Reads a file, “as it is”.", RICH)
BARE = Said("stop", "Stops.", {"type": "object", "properties": {}})


@every(("source", "target"), ALL)
def test_a_rich_definition_is_accepted_and_whole(source: str, target: str) -> None:
    answer = convert(source, target, written(source, READ, BARE))
    assert answer["dropped"] == []
    assert faults(target, answer["request"]) == []
    shown = read(target, answer["request"])
    assert [(one.name, one.description) for one in shown] == [READ[:2], BARE[:2]]
    assert property_paths(shown[0].schema) == property_paths(RICH)


@every(("source", "target"), PAIRS)
def test_only_anthropic_to_openai_changes_the_schema(source: str, target: str) -> None:
    answer = convert(source, target, written(source, READ))
    filtered = source == "anthropic" and target in ("openai", "openai-responses")
    assert codes(answer) == (["REQUIRED_FILTERED"] if filtered else [])
    assert (read(target, answer["request"])[0].schema == RICH) is not filtered


@pytest.mark.parametrize("target", ["openai", "openai-responses"])
def test_the_filter_leaves_what_is_required_in_truth_in_its_order(target: str) -> None:
    shown = read(target, convert("anthropic", target, written("anthropic", READ))["request"])
    schema = shown[0].schema
    assert schema["required"] == ["tags", "path", "options", "mode"]
    options = schema["properties"]["options"]
    assert options["required"] == ["inner", "depth"]
    assert options["properties"]["inner"]["required"] == ["x"]
    assert schema["properties"]["tags"]["items"]["required"] == ["key"]
    assert schema["properties"]["labels"] == RICH["properties"]["labels"]


@every(("source", "target"), PAIRS)
def test_a_conversion_gives_the_same_bytes_twice(source: str, target: str) -> None:
    first, second = (json.dumps(convert(source, target, written(source, READ))) for _ in "12")
    assert first == second


@every(("source", "target"), PAIRS)
def test_there_and_back_keeps_the_definition(source: str, target: str) -> None:
    there = convert(source, target, written(source, READ, BARE))
    back = convert(target, source, there["tools"])
    shown = read(source, back["request"])
    assert [one[:2] for one in shown] == [READ[:2], BARE[:2]]
    assert property_paths(shown[0].schema) == property_paths(RICH)


@every("target", TARGETS)
@pytest.mark.parametrize("name", ["my tool", "été", "a.b", "1st", "x" * 10_000, "_", "-", "\ud800"])
def test_a_name_that_a_target_refuses_is_mapped_and_reported(name: str, target: str) -> None:
    answer = convert("neutral", target, [{"name": name, "description": "d"}])
    [shown] = read(target, answer["request"])
    assert (codes(answer) == ["NAME_SANITIZED"]) is (shown.name != name)
    if name != "\ud800" or target != "neutral":
        assert faults(target, answer["request"]) == []


@every("target", TARGETS)
def test_names_stay_different_when_they_are_mapped(target: str) -> None:
    names = ["a b", "a  b", "a/b", "a_b", "ab" * 100, "ab" * 101]
    answer = convert("neutral", target, [{"name": name, "description": "d"} for name in names])
    assert len({one.name for one in read(target, answer["request"])}) == len(names)


@every("target", TARGETS)
def test_a_repeated_name_is_dropped_and_named(target: str) -> None:
    again = Said("read_file", "Another one.", RICH)
    answer = convert("anthropic", target, written("anthropic", READ, again))
    assert [one.description for one in read(target, answer["request"])] == [READ.description]
    [dropped] = answer["dropped"]
    assert (dropped["index"], dropped["name"]) == (1, "read_file")


@every("target", TARGETS)
@pytest.mark.parametrize("word", ["oneOf", "anyOf", "allOf"])
def test_combinations_at_the_top_are_accepted_or_reported(word: str, target: str) -> None:
    branches = [{"required": ["a"]}, {"required": ["b"]}]
    properties = {"a": {"type": "string"}, "b": {"type": "string"}}
    schema = {"type": "object", "properties": properties, word: branches}
    answer = convert("neutral", target, written("neutral", Said("t", "d", schema)))
    shown = read(target, answer["request"])[0].schema
    assert faults(target, answer["request"]) == []
    assert (codes(answer) == ["SCHEMA_LOOSENED"]) is (shown != schema)
    assert shown["properties"] == properties


@pytest.mark.parametrize("target", ["anthropic", "bedrock"])
def test_properties_inside_a_combination_at_the_top_are_not_lost(target: str) -> None:
    branches = [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}]
    said = Said("t", "d", {"type": "object", "anyOf": branches})
    [shown] = read(target, convert("neutral", target, written("neutral", said))["request"])
    assert set(shown.schema.get("properties", {})) == {"a", "b"}


@every("target", TARGETS)
def test_a_missing_description_is_no_obstacle_outside_openai(target: str) -> None:
    answer = convert("anthropic", target, [{"name": "t", "input_schema": {"type": "object"}}])
    assert faults(target, answer["request"]) == []
    [shown] = read(target, answer["request"])
    assert shown.description is None


STRICT: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("target", ["openai", "openai-responses"])
def test_a_strict_definition_of_others_obeys_the_rules_of_openai(target: str) -> None:
    tools = [{"name": "t", "description": "d", "input_schema": STRICT, "strict": True}]
    answer = convert("anthropic", target, tools)
    assert '"strict": true' in json.dumps(answer["tools"])
    assert faults(target, answer["request"]) == []


@pytest.mark.parametrize("target", ["openai", "openai-responses"])
@pytest.mark.parametrize(
    "change",
    [
        {"additionalProperties": {}},
        {"required": []},
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"a": {"type": "array", "items": {"type": "object"}}}},
        {"properties": {"a": {"anyOf": [{"type": "object"}, {"type": "null"}]}}},
        {"properties": {"a": {"type": "boolean"}}},
        {"properties": {"a": {"type": "array", "prefixItems": [{"type": "object"}]}}},
    ],
)
def test_a_strict_definition_that_breaks_them_is_no_longer_strict(
    change: dict[str, Any], target: str
) -> None:
    tools = [{"name": "t", "description": "d", "input_schema": STRICT | change, "strict": True}]
    answer = convert("anthropic", target, tools)
    assert '"strict": true' not in json.dumps(answer["tools"])
    assert "STRICT_DROPPED" in codes(answer)
    assert faults(target, answer["request"]) == []


@pytest.mark.parametrize("source", ["anthropic", "openai"])
def test_openrouter_is_given_no_strict_tool_that_openai_would_refuse(source: str) -> None:
    (tool,) = written(source, Said("t", "d", STRICT | {"required": []}))
    (tool if source == "anthropic" else tool["function"])["strict"] = True
    answer = convert(source, "openrouter", [tool])
    assert "STRICT_DROPPED" in codes(answer)
    assert faults("openrouter", answer["request"]) == []


@every("target", TARGETS)
def test_strict_is_kept_or_its_loss_is_reported(target: str) -> None:
    function = {"name": "t", "description": "d", "parameters": STRICT, "strict": True}
    answer = convert("openai", target, [{"type": "function", "function": function}])
    kept = '"strict": true' in json.dumps(answer["tools"])
    assert kept or "STRICT_DROPPED" in codes(answer)


@every("source", CHAT)
def test_every_chat_provider_reads_the_same_shape(source: str) -> None:
    assert convert(source, "neutral", written(source, READ)) == convert(
        "openai", "neutral", written("openai", READ)
    )


GEMINI: dict[str, Any] = {
    "type": "OBJECT",
    "properties": {
        "a": {"type": "STRING", "nullable": True},
        "b": {"type": "ARRAY", "items": {"type": "INTEGER"}},
        "type": {"type": "STRING", "enum": ["OBJECT"]},
    },
    "required": ["b"],
}


def from_gemini(parameters: dict[str, Any]) -> dict[str, Any]:
    tools = [{"function_declarations": [{"name": "t", "parameters": parameters}]}]
    return read("neutral", convert("gemini", "neutral", tools)["request"])[0].schema


def test_the_older_schemas_of_gemini_are_read_as_json_schema() -> None:
    shown = from_gemini(GEMINI)
    assert shown["type"] == "object"
    assert shown["properties"]["b"] == {"type": "array", "items": {"type": "integer"}}
    assert shown["properties"]["type"] == {"type": "string", "enum": ["OBJECT"]}


def test_what_gemini_lets_be_null_may_be_null_elsewhere() -> None:
    assert "null" in from_gemini(GEMINI)["properties"]["a"]["type"]


def test_data_in_the_older_schemas_of_gemini_is_not_rewritten() -> None:
    parameters = {"type": "OBJECT", "default": {"type": "USER"}}
    assert from_gemini(parameters)["default"] == {"type": "USER"}


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        ({"any_of": [{"type": "STRING"}, {"type": "NULL"}]}, {"anyOf": ["string", "null"]}),
        ({"anyOf": [{"type": "STRING"}], "nullable": True}, {"anyOf": [["string"], "null"]}),
    ],
    ids=["snake", "nullable"],
)
def test_alternatives_of_gemini_are_read(parameters: dict[str, Any], shown: dict[str, Any]) -> None:
    schema = from_gemini({"type": "OBJECT", "properties": {"a": parameters}})["properties"]["a"]

    def kinds(schema: Any) -> Any:
        return [one.get("type") or kinds(one) for one in schema["anyOf"]]

    assert {"anyOf": kinds(schema)} == shown


def test_counts_names_and_references_of_gemini_are_those_of_json_schema() -> None:
    shown = from_gemini(
        {
            "type": "OBJECT",
            "properties": {
                "a": {"type": "ARRAY", "max_items": "3", "items": {"ref": "#/defs/x"}},
                "b": {"type": "STRING", "enum": ["X"], "nullable": True},
            },
            "property_ordering": ["b", "a"],
            "defs": {"x": {"type": "INTEGER", "format": "int32"}},
        }
    )
    assert shown["properties"]["a"]["maxItems"] == 3
    assert shown["properties"]["a"]["items"] == {"$ref": "#/$defs/x"}
    assert shown["properties"]["b"] == {"type": ["string", "null"], "enum": ["X", None]}
    assert shown["$defs"]["x"]["type"] == "integer"


OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
# Members of a definition that only its own wire knows, and tools that only its provider runs.
OWN: dict[str, list[Any]] = {
    "anthropic": [
        {"name": "a", "input_schema": OBJECT, "cache_control": {"type": "ephemeral"}},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "openai-responses": [
        {
            "type": "function",
            "name": "a",
            "description": "d",
            "strict": False,
            "parameters": OBJECT,
            "defer_loading": True,
        },
        {"type": "web_search_2025_08_26"},
    ],
    "gemini": [
        {
            "function_declarations": [
                {"name": "a", "parameters_json_schema": OBJECT, "response": {"type": "STRING"}}
            ]
        },
        {"exa_ai_search": {}},
    ],
    "bedrock": [
        {"toolSpec": {"name": "a", "inputSchema": {"json": OBJECT}}},
        {"systemTool": {"name": "nova_grounding"}},
        {"cachePoint": {"type": "default"}},
    ],
}
BY_NAME = {
    "a": {"inputSchema": OBJECT, "providerOptions": {"x": {}}},
    "b": {"type": "provider", "id": "openai.web_search", "args": {}},
}


@pytest.mark.parametrize(("source", "tools"), [*OWN.items(), ("vercel", BY_NAME)])
def test_what_only_its_own_wire_knows_is_kept_there(source: str, tools: Any) -> None:
    answer = convert(source, source, tools)
    assert (answer["tools"], answer["dropped"], answer["notes"]) == (tools, [], [])
    kept = convert(source, "neutral", tools)
    assert convert("neutral", source, kept["tools"])["tools"] == tools


@pytest.mark.parametrize(("source", "tools"), [*OWN.items(), ("vercel", BY_NAME)])
@pytest.mark.parametrize("target", ["openai", "kimi"])
def test_what_only_its_own_wire_knows_is_reported_elsewhere(
    source: str, tools: Any, target: str
) -> None:
    answer = convert(source, target, tools)
    assert len(answer["tools"]) == 1
    assert len(answer["dropped"]) == (2 if source == "bedrock" else 1)
    assert codes(answer) == ([] if source == "bedrock" else ["MEMBERS_DROPPED"])
    assert faults(target, answer["request"]) == []


def test_members_that_the_chat_shape_does_not_know_are_reported() -> None:
    tool = {"type": "function", "function": {"name": "a", "description": "d"}, "cache_control": {}}
    answer = convert("openai", "openai", [tool])
    assert "cache_control" not in json.dumps(answer["tools"])
    assert codes(answer) == ["MEMBERS_DROPPED"]
