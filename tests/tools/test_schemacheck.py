"""Schemas are checked with jsonschema-rs; another library has to agree with every verdict."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError

from app.formats.registry import TARGETS
from app.formats.shared.walk import INNER, LISTED, NAMED, size
from app.model.json_values import NumberText
from app.tools.schemacheck import fault
from tests.tools.conftest import ToolApi
from tests.tools.shapes import LIMITS, RICH, Said, written

ODD: list[Any] = [None, True, False, 0, 1.5, -1, "", "x", "(", [], [1], ["a"], ["a", "a"], {}]
KEYWORDS: dict[str, list[Any]] = {
    "type": [
        "string",
        "strung",
        ["string", "null"],
        ["string", "string"],
        [{}, {}],
        ["string"] * 9,
    ],
    "required": [["a", "b"], ["a", "a"], [{}]],
    "dependentRequired": [{"a": ["b"]}, {"a": [{}]}],
    "pattern": ["a+", "("],
    "minLength": [3, -3],
    "multipleOf": [0, 2],
    "enum": [[1, 1], [{}, {}]],
    "$ref": ["#/$defs/a"],
    "$id": ["x"],
    "format": ["uri"],
    "default": [{"type": "strung"}],
    "x-own": [{"type": "strung"}],
}


def schemas() -> st.SearchStrategy[Any]:
    def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        named = st.dictionaries(st.sampled_from(["a", "(", "type", ""]), inner, max_size=2)
        held = dict.fromkeys(INNER, inner) | dict.fromkeys((*NAMED, "dependencies"), named)
        held |= {key: st.lists(inner, max_size=2) for key in LISTED}
        known = {key: st.sampled_from(values) for key, values in KEYWORDS.items()}
        words = ("title", "description", "$comment", "const", "examples", "deprecated")
        odd = {key: st.sampled_from(ODD) for key in (*held, *known, *words)}
        members = [
            st.tuples(st.just(key), value)
            for kind in (held, known, odd)
            for key, value in kind.items()
        ]
        return st.lists(st.one_of(members), max_size=4).map(dict)

    return st.recursive(st.sampled_from([True, False, {}, {"type": "string"}, 7, None]), wider)


def is_good(schema: Any) -> bool:
    try:
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
    except SchemaError:
        return False
    return True


@settings(max_examples=400, deadline=None)
@given(schemas().filter(lambda schema: isinstance(schema, dict)))
def test_the_verdict_is_that_of_another_library(schema: Any) -> None:
    assert (fault(schema) is None) is is_good(schema)


def keywords(schema: Any) -> Iterator[str]:
    """Yields the path to every member of a value."""
    members = schema.items() if isinstance(schema, dict) else ()
    for key, member in enumerate(schema) if isinstance(schema, list) else members:
        yield str(key)
        yield from (f"{key}/{path}" for path in keywords(member))


@settings(max_examples=200, deadline=None)
@given(schemas().filter(lambda schema: isinstance(schema, dict) and not is_good(schema)))
def test_the_place_of_a_fault_is_in_the_schema(schema: Any) -> None:
    assert str(fault(schema)).removeprefix("is no JSON Schema at ") in set(keywords(schema))


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"type": 7}, "type"),
        ({"properties": {"a": {"type": "strung"}}}, "properties/a/type"),
        ({"anyOf": [True, {"items": 7}]}, "anyOf/1/items"),
        ({"items": {"required": [{}]}}, "items/required"),
        ({"allOf": []}, "allOf"),
        ({"allOf": [{}, 7]}, "allOf/1"),
        ({"required": ["a"], "$defs": {"a": {"$anchor": "7"}}}, "$defs/a/$anchor"),
        ({"dependencies": {"a": ["b"], "b": {"not": 7}}}, "dependencies/b/not"),
        ({"dependencies": {"a": ["b"], "b": ["c", "c"]}}, "dependencies"),
        ({"properties": {"\ud800": 7}}, "properties/\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_a_fault_is_told_with_its_place(schema: Any, where: str) -> None:
    assert fault(schema) == f"is no JSON Schema at {where}"


@pytest.mark.parametrize(
    "schema",
    [
        {"multipleOf": NumberText.of("1.10"), "minLength": NumberText.of("3.0")},
        {"minimum": NumberText.of("-1e400"), "maximum": 10**4_299, "minLength": 10**400},
        {"properties": {"\ud800": {"description": "\udfff", "$id": "\ud800"}}},
        {"required": [str(n) for n in range(20_000)]},
    ],
    ids=["digits", "beyond doubles", "lone surrogates", "many names"],
)
def test_odd_values_are_no_fault(schema: Any) -> None:
    assert fault(schema) is None


def nested(levels: int, innermost: Any, key: str = "not") -> Any:
    schema = innermost
    for _ in range(levels):
        schema = {key: {"a": schema}} if key in NAMED else {key: schema}
    return schema


def test_schemas_as_deep_as_a_body_are_checked() -> None:
    assert fault(nested(LIMITS.depth, {"type": "string"})) is None
    deep = fault(nested(LIMITS.depth, {"type": 7}))
    assert deep == f"is no JSON Schema at {'not/' * LIMITS.depth}type"
    many = {str(n): {"type": "strung"} for n in range(6_000)}
    deep = fault(nested(LIMITS.depth // 2, {"properties": many}, "$defs"))
    assert str(deep).endswith("$defs/a/properties/0/type")


def test_a_schema_that_is_too_deep_does_not_end_the_process() -> None:
    with pytest.raises(RecursionError):
        fault(nested(100_000, {}))


@pytest.mark.parametrize("unread", ["(", "(?<name>a)[\\p{L}--[a-z]]", "(?i)" + "[^a-z]" * 40])
def test_patterns_are_never_compiled(
    shared: ToolApi, monkeypatch: pytest.MonkeyPatch, unread: str
) -> None:
    compiled: list[Any] = []
    compile_it = re._compiler.compile  # type: ignore[attr-defined]

    def noted(pattern: Any, *more: Any) -> Any:
        compiled.append(pattern)
        return compile_it(pattern, *more)

    monkeypatch.setattr(re._compiler, "compile", noted)  # type: ignore[attr-defined]
    properties = {"a": {"type": "string", "pattern": unread}}
    schema = {"type": "object", "properties": properties, "patternProperties": {unread: True}}
    tools = written("anthropic", Said("t", "d", schema))
    assert shared.put("anthropic", tools).json()["dropped"] == []
    for target in TARGETS:
        answer = shared.convert("tools", source="anthropic", to=target, tools=tools)
        assert answer.json()["dropped"] == []
    body = {"provider": "anthropic", "messages": [{"role": "user", "content": "x"}], "tools": tools}
    assert shared.send("POST", "conversations/c1/turns", body).status_code == 201
    assert unread not in compiled


def test_the_size_of_a_schema_counts_every_value() -> None:
    assert size({"type": "object", "required": ["a", "b"], "properties": {"a": {}}}) == 7


def wide(values: int) -> Said:
    """A schema with so many values."""
    return Said("t", "d", {"type": "object", "required": [str(n) for n in range(values - 3)]})


@pytest.mark.parametrize("split", [False, True])
def test_all_schemas_of_a_request_together_have_a_limit(shared: ToolApi, split: bool) -> None:
    most = LIMITS.schema_nodes
    sizes = [most // 2, most - most // 2] if split else [most]
    tools = [wide(one)._replace(name=f"t{place}") for place, one in enumerate(sizes)]
    assert sum(size(one.schema) for one in tools) == most
    assert shared.put("anthropic", written("anthropic", *tools)).json()["dropped"] == []
    more = [*tools[:-1], wide(sizes[-1] + 1)]
    for source, place in (("anthropic", len(more) - 1), ("vercel", "t")):
        for answer in (
            shared.put(source, written(source, *more)),
            shared.convert("tools", source=source, to="openai", tools=written(source, *more)),
        ):
            told = answer.json()
            assert (answer.status_code, told["limit"]) == (422, "schema_nodes")
            assert (told["most"], told["pointer"]) == (most, f"/tools/{place}")


def test_tools_that_ride_along_have_the_same_limit(shared: ToolApi) -> None:
    tools = written("openai", wide(LIMITS.schema_nodes + 1))
    body = {"provider": "openai", "messages": [{"role": "user", "content": "x"}], "tools": tools}
    answer = shared.send("POST", "conversations/c1/turns", body)
    assert (answer.status_code, answer.json()["limit"]) == (422, "schema_nodes")


def test_a_rich_schema_is_far_below_the_limit() -> None:
    assert size(RICH) * 100 < LIMITS.schema_nodes
