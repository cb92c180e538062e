"""Whatever a schema accepts, it still accepts after a conversion."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from app.formats.registry import CODECS, TARGETS
from app.tools.rewrite import with_filtered_required
from tests.every import every
from tests.tools.shapes import Said, Schema, convert, faults, property_paths, read, written

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


CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}


@settings(max_examples=100, deadline=None)
@given(SCHEMAS, st.sampled_from(["openai", "openai-responses"]), st.booleans())
@example({"type": "object", "properties": {"properties": CLOSED}}, "openai", True)
def test_what_openai_is_told_to_be_strict_keeps_its_rules(
    schema: Schema, target: str, closed: bool
) -> None:
    if closed:
        schema |= {"required": list(schema["properties"]), "additionalProperties": False}
    tools = [{"name": "t", "description": "d", "input_schema": schema, "strict": True}]
    assert faults(target, convert("anthropic", target, tools)["request"]) == []


@settings(max_examples=30, deadline=None)
@given(SCHEMAS, ROUTES)
def test_a_conversion_is_deterministic(schema: Schema, route: tuple[str, str]) -> None:
    first, second = (json.dumps(converted(*route, Said("t", "d", schema))) for _ in "12")
    assert first == second


@st.composite
def combined(draw: st.DrawFn) -> tuple[Schema, list[Any]]:
    """A schema with combinations and references at its top, and inputs for one branch of them."""
    plain = objects(st.recursive(leaves(), inside, max_leaves=3))
    base = draw(st.one_of(plain, st.just({"type": "object", "properties": {}})))
    branches = draw(st.lists(plain, min_size=1, max_size=3))
    words = ["oneOf", "anyOf", "allOf"]
    inner = [{"$ref": "#/$defs/first"}, *branches[1:]] if draw(st.booleans()) else branches
    schema = base | {draw(st.sampled_from(words)): inner, "$defs": {"first": branches[0]}}
    if draw(st.booleans()):
        schema[draw(st.sampled_from(words))] = [{draw(st.sampled_from(words)): branches}]
    parts = [draw(inputs(one)) for one in (base, *branches) for _ in range(2)]
    whole = {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}
    return schema, [*parts, whole, {}]


PLAIN_TOPS = [one for one in TARGETS if CODECS[one].tools.refused_top]


@settings(max_examples=150, deadline=None)
@given(combined(), st.sampled_from(TARGETS))
def test_combinations_at_the_top_accept_no_less_and_lose_no_property(
    case: tuple[Schema, list[Any]], target: str
) -> None:
    schema, values = case
    shown = converted("neutral", target, Said("t", "d", schema)).schema
    for value in values:
        if isinstance(value, dict) and accepts(schema, value):
            assert accepts(shown, value)
    if target in PLAIN_TOPS:
        assert shown["type"] == "object"
        assert not shown.keys() & {"oneOf", "anyOf", "allOf"}
        lost = set(property_names(schema)) - set(property_names(shown))
        assert not lost


def property_names(schema: Any) -> list[str]:
    return [path.rpartition("/")[2] for path in property_paths(schema)]


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
@every("target", TARGETS)
def test_loosening_the_top_never_refuses_what_was_accepted(word: str, target: str) -> None:
    branch = {"properties": {"a": {"type": "string"}}}
    schema = {"type": "object", word: [branch], "unevaluatedProperties": False}
    assert accepts(schema, {"a": "x"})
    assert accepts(converted("neutral", target, Said("t", "d", schema)).schema, {"a": "x"})


READING: Schema = {
    "$defs": {
        "file": {
            "type": "object",
            "properties": {"kind": {"const": "file"}, "path": {"type": "string"}},
            "required": ["kind", "path"],
            "additionalProperties": False,
        },
        "page": {
            "type": "object",
            "properties": {"kind": {"const": "page"}, "url": {"type": "string"}},
            "required": ["kind", "url"],
            "additionalProperties": False,
        },
    },
    "anyOf": [{"$ref": "#/$defs/file"}, {"$ref": "#/$defs/page"}],
}


@pytest.mark.parametrize("target", PLAIN_TOPS)
def test_a_union_of_closed_objects_becomes_one_closed_object(target: str) -> None:
    shown = converted("neutral", target, Said("t", "d", READING)).schema
    assert shown == {
        "$defs": READING["$defs"],
        "type": "object",
        "properties": {
            "kind": {"anyOf": [{"const": "file"}, {"const": "page"}]},
            "path": {"type": "string"},
            "url": {"type": "string"},
        },
        "required": ["kind"],
        "additionalProperties": False,
    }


def test_a_property_that_a_branch_leaves_open_stays_open_and_keeps_its_words() -> None:
    branches = [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}]
    shown = converted("neutral", "anthropic", Said("t", "d", {"anyOf": branches})).schema
    assert shown["properties"]["a"] == {"anyOf": [{"type": "string"}, {}]}
    assert accepts(shown, {"a": 5})


@pytest.mark.parametrize("target", [*PLAIN_TOPS, "gemini", "vercel"])
def test_a_top_that_only_refers_is_replaced_by_what_it_refers_to(target: str) -> None:
    schema = {"$ref": "#/$defs/file", "$defs": READING["$defs"]}
    answer = convert("neutral", target, written("neutral", Said("t", "d", schema)))
    [shown] = read(target, answer["request"])
    assert shown.schema == READING["$defs"]["file"] | {"$defs": READING["$defs"]}
    assert answer["notes"] == []


@pytest.mark.parametrize("target", PLAIN_TOPS)
def test_references_that_multiply_are_followed_once(target: str) -> None:
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
    end = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = {"anyOf": [{"$ref": "#/$defs/d0"}], "$defs": steps | {"d60": end}}
    shown = converted("neutral", target, Said("t", "d", schema)).schema
    assert "a" in shown["properties"]


@pytest.mark.parametrize("target", ["openai", "openai-responses"])
def test_what_was_written_for_openai_is_not_touched_for_openai(target: str) -> None:
    schema = {"anyOf": [{"required": ["a"]}], "properties": {"a": {}}}
    assert converted("openai", target, Said("t", "d", schema)).schema == schema


@pytest.mark.parametrize(
    "schema",
    [{"type": "object", "not": {"required": ["a"]}}, {"type": "object", "enum": [{"b": 1}]}],
    ids=["not", "enum"],
)
def test_other_words_that_openai_refuses_at_the_top_are_left_out(schema: Schema) -> None:
    answer = convert("anthropic", "openai", written("anthropic", Said("t", "d", schema)))
    [shown] = read("openai", answer["request"])
    assert shown.schema == {"type": "object"}
    assert [note["code"] for note in answer["notes"]] == ["SCHEMA_LOOSENED"]


def test_gemini_gets_references_that_stand_alone() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x", "description": "An x."}},
        "$defs": {"x": {"type": "string"}},
    }
    shown = converted("neutral", "gemini", Said("t", "d", schema)).schema
    assert shown["properties"]["a"] == {"description": "An x.", "anyOf": [{"$ref": "#/$defs/x"}]}


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (
            {"type": "string", "anyOf": [{"minLength": 1}, True]},
            {"anyOf": [{"type": "string", "minLength": 1}, {"type": "string"}]},
        ),
        (
            {"type": ["number", "null"], "oneOf": [{"type": "integer"}, {"type": "null"}]},
            {"oneOf": [{"type": "integer"}, {"type": "null"}]},
        ),
        # Nothing would be accepted by this branch; it is left to say so itself.
        (
            {"type": "string", "anyOf": [{"type": "object"}]},
            {"type": "string", "anyOf": [{"type": "object"}]},
        ),
    ],
)
def test_kimi_gets_types_inside_the_branches(schema: Schema, shown: Schema) -> None:
    said = Said("t", "d", {"type": "object", "properties": {"a": schema}})
    assert converted("neutral", "kimi", said).schema["properties"]["a"] == shown


@pytest.mark.parametrize("target", ["kimi", "openai"])
def test_a_target_is_offered_no_more_tools_than_it_takes(target: str) -> None:
    tools = [Said(f"t{number}", "d", {"type": "object"}) for number in range(130)]
    answer = convert("neutral", target, written("neutral", *tools))
    assert len(answer["tools"]) == 128
    assert [one["index"] for one in answer["dropped"]] == [128, 129]


@pytest.mark.parametrize("key", ["filter[id]", "a b", "", "x" * 65, "é"])
@every("target", TARGETS)
def test_a_property_name_that_a_target_refuses_is_reported(target: str, key: str) -> None:
    schema = {"type": "object", "properties": {key: {"type": "string"}}}
    inner = {"type": "object", "properties": {"a": schema}}
    tools = written("neutral", Said("t", "d", schema), Said("u", "d", inner))
    answer = convert("neutral", target, tools)
    refused = ["t"] if target in ("anthropic", "bedrock") else []
    assert [one["name"] for one in answer["dropped"]] == refused


@pytest.mark.parametrize(
    ("schema", "is_open"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {}}}, False),
        ({"properties": {"a": {"$ref": "#"}}}, False),
        ({"properties": {"a": {"$ref": "#x"}, "b": {"$anchor": "x"}}}, False),
        ({"properties": {"$ref": {"type": "string"}}, "default": {"$ref": "#/no"}}, False),
        ({"properties": {"a": {"$ref": "#/$defs/x"}}}, True),
        ({"properties": {"a": {"items": {"$ref": "https://127.0.0.1:1/x"}}}}, True),
    ],
)
@pytest.mark.parametrize("target", ["openai", "anthropic", "gemini"])
def test_a_reference_that_leads_nowhere_is_reported(
    schema: Schema, is_open: bool, target: str
) -> None:
    tools = written("neutral", Said("t", "d", {"type": "object", **schema}))
    notes = convert("neutral", target, tools)["notes"]
    assert [note["code"] for note in notes] == (["REFERENCE_OPEN"] if is_open else [])


OLDER: Schema = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "pair": {
            "type": "array",
            "items": [{"type": "string"}, {"items": [{"type": "null"}]}],
            "additionalItems": False,
        },
        "size": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "share": {"type": "number", "maximum": 1, "exclusiveMaximum": False},
        "items": {"type": "array", "items": []},
    },
    "default": {"items": []},
}


@every("target", TARGETS)
def test_words_of_older_drafts_are_said_in_those_of_the_present_one(target: str) -> None:
    answer = convert("anthropic", target, written("anthropic", Said("t", "d", OLDER)))
    assert (answer["dropped"], answer["notes"]) == ([], [])
    [shown] = read(target, answer["request"])
    assert shown.schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"prefixItems": [{"type": "null"}]}],
                "items": False,
            },
            "size": {"type": "number", "exclusiveMinimum": 0},
            "share": {"type": "number", "maximum": 1},
            "items": {"type": "array"},
        },
        "default": {"items": []},
    }


def test_a_schema_of_an_older_draft_stays_as_it_is_when_both_say_the_same() -> None:
    schema = {"$schema": OLDER["$schema"], "type": "object", "definitions": {"a": {}}}
    assert converted("anthropic", "bedrock", Said("t", "d", schema)).schema == schema
