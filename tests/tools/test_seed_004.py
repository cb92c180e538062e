"""Seed 004: nested definitions made flat for Responses, with what had to be corrected."""

from typing import Any

import pytest

from app.model.errors import RuleBroken
from tests.tools.shapes import codes, convert

SCHEMA = {"type": "object", "properties": {"action": {"type": "string"}}}


def nested(**function: Any) -> dict[str, Any]:
    return {"type": "function", "function": function}


def flat(*tools: Any, **more: Any) -> dict[str, Any]:
    return convert("openai", "openai-responses", list(tools), **more)


VALID = nested(name="valid", description="Valid tool", parameters={})
INVALID = [
    ({"type": "invalid"}, None, "type"),
    ({"type": "invalid", "name": "x"}, "x", "type"),
    ({"function": {"name": "x", "description": "d"}}, None, "type"),
    (nested(name="test"), "test", "description"),
    (nested(name="test", description=""), "test", "description"),
    (nested(name="test", description=7), "test", "description"),
    (nested(description="no name"), None, "name"),
    (nested(name="", description="empty name"), None, "name"),
    (nested(name=None, description="null name"), None, "name"),
    (nested(name="test", description="d", parameters="no"), "test", "schema"),
    (nested(name="test", description="d", parameters=[]), "test", "schema"),
    (nested(name="test", description="d", parameters={"type": "strung"}), "test", "schema"),
    (nested(name="test", description="d", parameters={"type": "string"}), "test", "object"),
    (nested(name="test", description="d", parameters={"required": "a"}), "test", "schema"),
    ({"type": "function"}, None, "name"),
    ({"type": "function", "function": None}, None, "function"),
    ({"type": "function", "function": "x"}, None, "function"),
    (None, None, "object"),
    ("x", None, "object"),
    ([], None, "object"),
]


def test_example_one_a_nested_definition_is_made_flat() -> None:
    function = {"name": "browser_dom", "description": "Interact with DOM elements"}
    answer = flat(nested(**function, parameters=SCHEMA))
    assert answer["tools"] == [
        {"type": "function", **function, "strict": False, "parameters": SCHEMA}
    ]
    assert (answer["dropped"], answer["notes"]) == ([], [])


def test_example_two_strict_stays_when_it_was_said() -> None:
    tool = nested(name="test_tool", description="Test", strict=True, parameters={})
    assert flat(tool)["tools"][0]["strict"] is True


def test_example_three_invalid_tools_are_left_out() -> None:
    answer = flat(VALID, nested(name="invalid"), {"type": "function"}, None, None)
    assert [one["name"] for one in answer["tools"]] == ["valid"]
    assert [(one["index"], one["name"]) for one in answer["dropped"]] == [
        (1, "invalid"),
        (2, None),
        (3, None),
        (4, None),
    ]


def test_example_four_a_schema_is_not_touched() -> None:
    schema = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["query", "click"]},
            "selector": {"type": "string", "format": "css", "description": "optional"},
            "options": {
                "type": "object",
                "properties": {"timeout": {"type": "number", "default": 5000}},
                "required": ["timeout"],
            },
        },
        "required": ["action", "selector", "options"],
        "additionalProperties": False,
    }
    answer = flat(nested(name="dom_tool", description="DOM operations", parameters=schema))
    assert answer["tools"][0]["parameters"] == schema
    assert answer["notes"] == []


def test_rule_one_every_field_comes_to_the_top() -> None:
    function = {"name": "n", "description": "d", "strict": True, "parameters": SCHEMA}
    assert flat(nested(**function))["tools"] == [{"type": "function", **function}]


@pytest.mark.parametrize(("said", "shown"), [(True, True), (False, False), (None, False)])
def test_rule_four_strict_is_always_a_boolean(said: bool | None, shown: bool) -> None:
    given = {} if said is None else {"strict": said}
    tool = nested(name="n", description="d", parameters=SCHEMA, **given)
    assert flat(tool)["tools"][0]["strict"] is shown
    assert convert("openai", "openai", [tool])["tools"][0]["function"]["strict"] is shown


@pytest.mark.parametrize(("tool", "name", "word"), INVALID)
def test_rule_five_an_invalid_tool_is_named_with_its_reason(
    tool: Any, name: str | None, word: str
) -> None:
    answer = flat(VALID, tool)
    assert [one["name"] for one in answer["tools"]] == ["valid"]
    [dropped] = answer["dropped"]
    assert (dropped["index"], dropped["name"]) == (1, name)
    assert word in dropped["reason"]


@pytest.mark.parametrize(("tool", "name", "word"), INVALID)
def test_rule_five_strict_refuses_all_and_points_at_it(tool: Any, name: Any, word: str) -> None:
    with pytest.raises(RuleBroken, match=word) as refused:
        flat(VALID, tool, strict=True)
    assert refused.value.facts["pointer"] == "/tools/1"


def test_error_case_one_only_an_invalid_tool_leaves_nothing() -> None:
    answer = flat({"type": "invalid"})
    assert (answer["tools"], answer["request"]) == ([], {})


def test_a_missing_schema_is_the_empty_one() -> None:
    shown = flat(nested(name="n", description="d"))["tools"][0]["parameters"]
    assert shown == {"type": "object", "properties": {}}


def test_invariants_hold_for_any_mixture() -> None:
    given = [VALID, *(tool for tool, _, _ in INVALID), nested(name="b", description="B")]
    answer = flat(*given)
    for one in answer["tools"]:
        assert one["type"] == "function"
        assert one["name"]
        assert one["description"]
        assert isinstance(one["parameters"], dict)
        assert "function" not in one
    assert len(answer["tools"]) + len(answer["dropped"]) == len(given)


def test_a_definition_both_flat_and_nested_comes_out_flat() -> None:
    function = {"name": "n", "description": "d", "parameters": SCHEMA}
    both = {"type": "function", **function, "function": function}
    answer = convert("openai-responses", "openai-responses", [both])
    assert answer["tools"] == [{"type": "function", **function, "strict": False}]


def test_tools_that_the_provider_runs_stay_on_its_own_wire_only() -> None:
    search = {"type": "web_search"}
    assert convert("openai-responses", "openai-responses", [search])["tools"] == [search]
    [dropped] = convert("openai-responses", "anthropic", [search])["dropped"]
    assert (dropped["index"], dropped["name"]) == (0, "web_search")


@pytest.mark.parametrize("tools", [None, []])
def test_no_tools_are_no_tools(tools: Any) -> None:
    answer = convert("openai", "openai-responses", tools)
    assert (answer["tools"], answer["dropped"], codes(answer)) == ([], [], [])


def test_other_tool_types_that_the_target_knows_are_returned() -> None:
    """Seed 004: `return tool` for local_shell, web_search and the like."""
    known = [
        {"type": "local_shell"},
        {"type": "web_search", "filters": {"allowed_domains": ["example.org"]}},
        {"type": "mcp", "server_label": "docs", "server_url": "https://example.org"},
        {"type": "custom", "name": "patch", "format": {"type": "text"}},
    ]
    answer = flat(VALID, *known, {"type": "nonesuch"})
    assert answer["tools"][1:] == known
    assert [(one["index"], one["reason"]) for one in answer["dropped"]] == [
        (5, 'the type must be "function"')
    ]
    assert flat(*known, strict=True)["tools"] == known


@pytest.mark.parametrize(
    ("source", "target", "tool"),
    [
        ("openai", "anthropic", {"type": "web_search_20250305", "name": "web_search"}),
        ("openai", "anthropic", {"type": "mcp_toolset", "mcp_server_name": "docs"}),
        ("openai", "gemini", {"google_search": {}}),
        ("openai", "bedrock", {"systemTool": {"name": "nova_grounding"}}),
        ("openai", "vercel", {"type": "provider", "name": "x", "id": "openai.x", "args": {}}),
        ("anthropic", "openai-responses", {"type": "local_shell"}),
        ("openai-responses", "anthropic", {"type": "tool_search_tool_regex", "name": "t"}),
        ("anthropic", "anthropic", {"type": "tool_search_tool_bm25_20251119", "name": "t"}),
        ("bedrock", "openai-responses", {"type": "file_search", "vector_store_ids": ["vs"]}),
    ],
)
def test_each_target_returns_the_kinds_it_knows(source: str, target: str, tool: Any) -> None:
    answer = convert(source, target, [tool])
    assert answer["dropped"] == []
    assert answer["tools"] in ([tool], {"x": tool})
    assert [one["index"] for one in convert(source, "mistral", [tool])["dropped"]] == [0]


def test_a_custom_tool_has_the_shape_of_its_target() -> None:
    grammar = {"syntax": "lark", "definition": "start: WORD"}
    said = {"name": "patch", "description": "Applies a patch"}
    in_chat = {
        "type": "custom",
        "custom": {**said, "format": {"type": "grammar", "grammar": grammar}},
    }
    in_responses = {"type": "custom", **said, "format": {"type": "grammar", **grammar}}
    for source in ("openai", "openai-responses"):
        for one in (in_chat, in_responses):
            assert convert(source, "openai", [one])["tools"] == [in_chat]
            assert convert(source, "openai-responses", [one])["tools"] == [in_responses]
    for nameless in ({"type": "custom"}, {"type": "custom", "custom": {}}):
        for target in ("openai", "openai-responses"):
            [dropped] = convert("openai", target, [nameless])["dropped"]
            assert dropped["reason"] == "the tool has no name"
