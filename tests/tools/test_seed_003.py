"""Seed 003: Anthropic's definitions for OpenAI, with what had to be corrected."""

import json
from typing import Any

import pytest

from tests.tools.shapes import codes, convert, read

OPENAI = ("openai", "openai-responses")

PLACE = {"type": "string", "description": "City name"}
UNITS = {
    "type": "string",
    "enum": ["celsius", "fahrenheit"],
    "description": "Temperature units (optional, defaults to fahrenheit)",
}
WEATHER = {
    "name": "get_weather",
    "description": "Get current weather for a location",
    "input_schema": {
        "type": "object",
        "properties": {"location": PLACE, "units": UNITS},
        "required": ["location", "units"],
    },
}
FUNCTION = {
    "name": "get_weather",
    "description": "Get current weather for a location",
    "parameters": {
        "type": "object",
        "properties": {"location": PLACE, "units": UNITS},
        "required": ["location"],
    },
    "strict": False,
}


def filtered(schema: dict[str, Any], target: str = "openai", **more: Any) -> dict[str, Any]:
    tools = [{"name": "t", "description": "d", "input_schema": schema}]
    answer = convert("anthropic", target, tools, **more)
    return read(target, answer["request"])[0].schema


def one(name: str, **schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, "required": [name]}


def test_the_weather_definition_is_nested_for_chat() -> None:
    assert convert("anthropic", "openai", [WEATHER])["request"] == {
        "tools": [{"type": "function", "function": FUNCTION}]
    }


def test_the_weather_definition_is_flat_for_responses_and_says_it_is_not_strict() -> None:
    assert convert("anthropic", "openai-responses", [WEATHER])["request"] == {
        "tools": [{"type": "function", **FUNCTION}]
    }


def test_filtering_is_reported() -> None:
    assert codes(convert("anthropic", "openai", [WEATHER])) == ["REQUIRED_FILTERED"]


@pytest.mark.parametrize("target", OPENAI)
def test_the_file_example_requires_the_path_alone(target: str) -> None:
    properties = {
        "file_path": {"type": "string", "description": "The file to read"},
        "offset": {
            "type": "number",
            "description": "Line offset. Only provide if file is too large.",
        },
        "limit": {"type": "number", "description": "Number of lines. Defaults to 100."},
    }
    schema = {"properties": properties, "required": ["file_path", "offset", "limit"]}
    shown = filtered(schema, target)
    assert (shown["properties"], shown["required"]) == (properties, ["file_path"])


@pytest.mark.parametrize(
    "words",
    [
        "optional",
        "(optional)",
        "Defaults to 3",
        "If not specified, all",
        "Set to true to see more",
        "Set to false to see less",
        "If provided, it is used",
        "Used when provided",
        "Can be omitted",
        "Not required",
        "ONLY PROVIDE IF needed",
    ],
)
def test_words_in_the_description_make_it_optional(words: str) -> None:
    assert filtered(one("a", type="string", description=f"About a. {words}."))["required"] == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "default": ""},
        {"type": "string", "default": None},
        {"type": "string", "nullable": True},
        {"type": "boolean"},
    ],
)
def test_a_default_a_null_or_a_flag_makes_it_optional(schema: dict[str, Any]) -> None:
    assert filtered(one("a", **schema))["required"] == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "string", "nullable": False},
        {"type": "string", "description": "Must be given"},
        {"type": "array", "items": {"type": "boolean"}},
        {"type": "string", "enum": ["optional"]},
    ],
)
def test_everything_else_stays_required(schema: dict[str, Any]) -> None:
    assert filtered(one("a", **schema)) == one("a", **schema)


def test_what_is_optional_but_not_listed_is_not_added() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert filtered(schema) == schema


def test_a_required_name_without_a_property_stays() -> None:
    schema = {"type": "object", "properties": {}, "required": ["b", "a"]}
    assert filtered(schema) == schema


def test_filtering_reaches_nested_objects_and_items_and_keeps_the_order() -> None:
    inner = {
        "type": "object",
        "properties": {"z": {"type": "string"}, "q": {"type": "boolean"}, "a": {"type": "string"}},
        "required": ["z", "q", "a"],
    }
    schema = one("list", type="array", items=one("object", **inner))
    shown = filtered(schema)["properties"]["list"]["items"]["properties"]["object"]
    assert shown == inner | {"required": ["z", "a"]}


def test_filtering_reaches_definitions_that_are_referred_to() -> None:
    inner = one("flag", type="boolean")
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/inner"}},
        "required": ["a"],
        "$defs": {"inner": inner},
    }
    assert filtered(schema) == schema | {"$defs": {"inner": inner | {"required": []}}}
    guarded = schema | {"not": {"$ref": "#/$defs/inner"}}
    assert filtered(guarded)["$defs"] == schema["$defs"]


@pytest.mark.parametrize("target", OPENAI)
def test_required_keep_leaves_the_list_alone(target: str) -> None:
    schema = one("a", type="boolean")
    assert filtered(schema, target, required="keep") == schema


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "gemini", "kimi", "neutral"])
def test_required_filter_works_for_others_too_but_is_not_their_default(target: str) -> None:
    schema = one("a", type="boolean")
    assert filtered(schema, target) == schema
    assert filtered(schema, target, required="filter")["required"] == []


@pytest.mark.parametrize("target", OPENAI)
def test_an_unsupported_format_is_removed_and_reported(target: str) -> None:
    tools = [
        {"name": "t", "description": "d", "input_schema": one("a", type="string", format="uri")}
    ]
    answer = convert("anthropic", target, tools)
    assert read(target, answer["request"])[0].schema == one("a", type="string")
    assert codes(answer) == ["FORMAT_REMOVED"]


LINK: dict[str, Any] = {"type": "string", "format": "uri"}


@pytest.mark.parametrize(
    "place",
    [
        {"items": LINK},
        {"prefixItems": [LINK]},
        {"contains": LINK},
        {"unevaluatedItems": LINK},
        {"additionalProperties": LINK},
        {"patternProperties": {"x": LINK}},
        {"propertyNames": LINK},
        {"unevaluatedProperties": LINK},
        {"anyOf": [LINK, {"type": "null"}]},
        {"$defs": {"x": LINK}},
        {"properties": {"format": LINK}},
        {"items": {"items": {"properties": {"a": LINK}}}},
    ],
    ids=lambda place: next(iter(place)),
)
def test_a_format_is_removed_at_any_depth(place: dict[str, Any]) -> None:
    assert '"format": "uri"' not in json.dumps(filtered(one("a", **place)))


@pytest.mark.parametrize("known", ["date-time", "date", "time", "email", "uuid", "ipv4"])
def test_a_supported_format_stays(known: str) -> None:
    schema = one("a", type="string", format=known)
    assert filtered(schema) == schema


def test_data_that_looks_like_a_format_stays() -> None:
    schema = {
        "type": "object",
        "properties": {"format": {"type": "object", "const": {"format": "uri"}}},
        "examples": [{"format": "uri"}],
    }
    assert filtered(schema) == schema


@pytest.mark.parametrize(
    ("choice", "chat", "responses"),
    [
        ({"type": "auto"}, "auto", "auto"),
        ({"type": "any"}, "required", "required"),
        ({"type": "none"}, "none", "none"),
        (
            {"type": "tool", "name": "get_weather"},
            {"type": "function", "function": {"name": "get_weather"}},
            {"type": "function", "name": "get_weather"},
        ),
    ],
)
def test_the_table_of_tool_choices(choice: Any, chat: Any, responses: Any) -> None:
    for target, said in (("openai", chat), ("openai-responses", responses)):
        answer = convert("anthropic", target, [WEATHER], tool_choice=choice)
        assert answer["tool_choice"] == answer["request"]["tool_choice"] == said
        back = convert(target, "anthropic", answer["tools"], tool_choice=said)
        assert back["tool_choice"] == choice
