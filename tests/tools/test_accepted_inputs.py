"""Whatever a schema accepts, it still accepts after a conversion."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from app.codecs import TARGETS
from app.core.schemas import with_filtered_required
from tests.tools.shapes import Said, Schema, convert, property_paths, read, written

NAMES = ["a", "b", "c", "properties", "required", "format", "type"]
WORDS = ["", "The thing.", "Optional.", "Defaults to 1.", "Only provide if asked."]
VALUES: dict[str, list[Any]] = {
    "string": ["", "x", "http://a"],
    "integer": [0, -3, 7],
    "number": [0.5, 2],
    "boolean": [True, False],
    "null": [None],
}


@st.composite
def leaves(draw: st.DrawFn) -> Schema:
    kind = draw(st.sampled_from(sorted(VALUES)))
    schema: Schema = {"type": kind}
    if draw(st.booleans()):
        schema["description"] = draw(st.sampled_from(WORDS))
    if draw(st.integers(0, 3)) == 0:
        schema["default"] = VALUES[kind][0]
    if draw(st.integers(0, 3)) == 0:
        schema["nullable"] = True
    if kind == "string":
        schema |= draw(st.sampled_from([{}, {"format": "uri"}, {"enum": ["x", "http://a"]}]))
    return schema


def lists(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return inner.map(lambda items: {"type": "array", "items": items})


def maps(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return inner.map(lambda value: {"type": "object", "additionalProperties": value})


def choices(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.lists(inner, min_size=1, max_size=2).map(lambda branches: {"anyOf": branches})


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    properties = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=4))
    schema: Schema = {"type": "object", "properties": properties}
    if draw(st.booleans()):
        names = draw(st.permutations(list(properties)))
        schema["required"] = names[: draw(st.integers(0, len(names)))]
    return schema | draw(st.sampled_from([{}, {}, {"additionalProperties": False}]))


def inside(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.one_of(lists(inner), maps(inner), choices(inner), objects(inner))


SCHEMAS = objects(st.recursive(leaves(), inside, max_leaves=6))


@st.composite
def inputs(draw: st.DrawFn, schema: Schema) -> Any:
    """An input that mostly fits: properties may be missing, now and then a value is odd."""
    if draw(st.integers(0, 15)) == 0:
        return draw(st.sampled_from([None, 1, "x", [], {}]))
    if "anyOf" in schema:
        return draw(inputs(draw(st.sampled_from(schema["anyOf"]))))
    match schema["type"]:
        case "array":
            return [draw(inputs(schema["items"])) for _ in range(draw(st.integers(0, 2)))]
        case "object" if isinstance(value := schema.get("additionalProperties"), dict):
            return {name: draw(inputs(value)) for name in draw(st.sets(st.sampled_from("xy")))}
        case "object":
            required = schema.get("required", [])
            unnamed = draw(st.sampled_from([{}, {"unnamed": 1}]))
            return unnamed | {
                name: draw(inputs(inner))
                for name, inner in schema["properties"].items()
                if (name in required and draw(st.integers(0, 9))) or draw(st.booleans())
            }
        case kind:
            return draw(st.sampled_from(schema.get("enum", VALUES[kind])))


@st.composite
def told(draw: st.DrawFn) -> tuple[Schema, list[Any]]:
    schema = draw(SCHEMAS)
    return schema, [draw(inputs(schema)) for _ in range(6)]


def accepts(schema: Schema, value: Any) -> bool:
    return Draft202012Validator(schema).is_valid(value)


def converted(source: str, target: str, said: Said, **more: Any) -> Said:
    answer = convert(source, target, written(source, said), **more)
    return read(target, answer["request"])[0]


ROUTES = st.tuples(st.sampled_from(TARGETS), st.sampled_from(TARGETS))
FILTERS = st.sampled_from([None, "keep", "filter"])


@settings(max_examples=100, deadline=None)
@given(told(), ROUTES, FILTERS)
def test_a_converted_schema_accepts_what_the_original_accepts(
    case: tuple[Schema, list[Any]], route: tuple[str, str], required: str | None
) -> None:
    schema, values = case
    shown = converted(*route, Said("t", "d", schema), required=required).schema
    for value in values:
        # The input of a tool is an object on every wire.
        if isinstance(value, dict) and accepts(schema, value):
            assert accepts(shown, value)
    assert property_paths(shown) == property_paths(schema)


@settings(max_examples=60, deadline=None)
@given(told(), ROUTES)
def test_there_and_back_keeps_name_description_and_accepted_inputs(
    case: tuple[Schema, list[Any]], route: tuple[str, str]
) -> None:
    (schema, values), (source, target) = case, route
    there = converted(source, target, Said("t", "About t.", schema))
    back = converted(target, source, there)
    assert back[:2] == ("t", "About t.")
    for value in values:
        if isinstance(value, dict) and accepts(schema, value):
            assert accepts(back.schema, value)


@settings(max_examples=100, deadline=None)
@given(SCHEMAS)
def test_filtering_takes_names_out_of_required_and_does_nothing_else(schema: Schema) -> None:
    compare(schema, with_filtered_required(schema))


def compare(before: Any, after: Any) -> None:
    if isinstance(before, list):
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            compare(one, other)
    elif isinstance(before, dict):
        assert list(before) == list(after)
        for key, member in before.items():
            if key == "required" and isinstance(member, list):
                assert after[key] == [name for name in member if name in after[key]]
            else:
                compare(member, after[key])
    else:
        assert before == after


@settings(max_examples=30, deadline=None)
@given(SCHEMAS)
def test_filtering_twice_changes_nothing_more(schema: Schema) -> None:
    once = with_filtered_required(schema)
    assert with_filtered_required(once) == once


@settings(max_examples=30, deadline=None)
@given(SCHEMAS, ROUTES)
def test_a_conversion_is_deterministic(schema: Schema, route: tuple[str, str]) -> None:
    first, second = (json.dumps(converted(*route, Said("t", "d", schema))) for _ in "12")
    assert first == second


FLAG: Schema = {"properties": {"a": {"type": "boolean"}}, "required": ["a"]}
NUMBERED: Schema = {"properties": {"b": {"type": "integer"}}, "required": ["b"]}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object", "not": FLAG}, {"b": 1}),
        ({"type": "object", "oneOf": [FLAG, NUMBERED]}, {"b": 1}),
        ({"type": "object", "if": FLAG, "then": {"required": ["c"]}}, {"b": 1}),
        ({"type": "object", "if": FLAG, "then": False, "else": True}, {}),
        (
            {
                "type": "object",
                "properties": {"l": {"type": "array", "contains": FLAG, "maxContains": 1}},
            },
            {"l": [{"a": True}, {}]},
        ),
        ({"type": "object", "not": {"$ref": "#/$defs/f"}, "$defs": {"f": FLAG}}, {"b": 1}),
    ],
    ids=["not", "oneOf", "if-then", "if-else", "contains", "not-ref"],
)
@pytest.mark.parametrize("target", ["openai", "openai-responses"])
def test_the_filter_never_refuses_what_was_accepted(
    schema: Schema, value: Any, target: str
) -> None:
    assert accepts(schema, value)
    assert accepts(converted("anthropic", target, Said("t", "d", schema)).schema, value)


@pytest.mark.parametrize("word", ["oneOf", "anyOf", "allOf"])
@pytest.mark.parametrize("target", TARGETS)
def test_loosening_the_top_never_refuses_what_was_accepted(word: str, target: str) -> None:
    branch = {"properties": {"a": {"type": "string"}}}
    schema = {"type": "object", word: [branch], "unevaluatedProperties": False}
    assert accepts(schema, {"a": "x"})
    assert accepts(converted("neutral", target, Said("t", "d", schema)).schema, {"a": "x"})
