import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.formats.neutral.blocks import block, block_json
from app.jsontext.reading import loads
from app.jsontext.writing import dumps
from app.model.conversation import (
    STATUSES,
    Block,
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.model.errors import RuleBroken
from app.model.ids import is_canonical
from app.model.json_values import JsonObject, NumberText

CANONICAL = "hist_tool_" + "a" * 24

text = st.text(alphabet=st.characters(), max_size=6)
maybe = st.none() | text
numbers = st.sampled_from(["1.10", "1e2", "-0"]).map(NumberText.of)
scalars = st.none() | st.booleans() | st.integers() | text | numbers
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
parts = (
    st.builds(Text, text, maybe)
    | st.builds(Image, text, maybe)
    | st.builds(File, text, maybe, maybe)
    | st.builds(Opaque, text, values, maybe, maybe, maybe)
)
# Arguments are any text: JSON as we would write it, JSON written otherwise, and no JSON at all.
arguments = values.map(dumps) | st.sampled_from(['{"a": 1}', "{}", "", " ", "{", "NaN"]) | text
fresh_calls = st.builds(
    ToolCall, maybe.filter(lambda i: not is_canonical(i or "")), text, arguments
)
stored_calls = st.builds(ToolCall, maybe, text, arguments, st.just(CANONICAL), maybe)
contents = st.tuples(values, st.none()) | st.tuples(
    st.none(), st.lists(parts, max_size=3).map(tuple)
)
results = st.builds(
    lambda raw_id, content, *rest: ToolResult(raw_id, *content, *rest),
    maybe,
    contents,
    st.sampled_from(STATUSES),
    maybe,
    maybe,
    st.none() | st.just(CANONICAL),
)
thoughts = st.builds(Thinking, text, values, maybe, maybe, maybe)
blocks: st.SearchStrategy[Block] = parts | thoughts | fresh_calls | stored_calls | results


@given(blocks)
def test_a_block_is_read_back_as_it_was_written(one: Block) -> None:
    assert block(block_json(one), "") == one


@given(blocks)
def test_a_block_survives_as_bytes_with_every_digit(one: Block) -> None:
    written = dumps(block_json(one))
    again = block(loads(written), "")
    assert again == one
    assert dumps(block_json(again)) == written


@given(blocks)
def test_members_that_say_nothing_are_left_out(one: Block) -> None:
    silent = {name for name, member in block_json(one).items() if member is None}
    assert silent <= {"call_id", "raw_id", "result", "parameters", "native"}


def test_a_result_that_went_well_but_warned_keeps_its_status() -> None:
    one = ToolResult("a", "r", status="ok", error="a warning")
    assert block(block_json(one), "") == one


def test_a_result_gives_a_value_or_content_and_never_both() -> None:
    both: JsonObject = {"type": "tool_result", "call_id": "a", "result": 7, "content": []}
    with pytest.raises(RuleBroken) as caught:
        block(both, "/b")
    assert caught.value.pointer == "/b/content"
    assert block({**both, "result": None}, "/b") == ToolResult("a", parts=())


# What a person or an older history may write.


@pytest.mark.parametrize(
    "alias",
    [
        {"type": "tool_result", "call_id": "a", "result": "r"},
        {"type": "tool_result", "callId": "a", "result": "r"},
        {"type": "tool_response", "call_id": "a", "result": "r"},
        {"type": "tool_response", "callId": "a", "result": "r"},
    ],
)
def test_a_result_may_use_the_names_of_seed_002(alias: dict[str, Any]) -> None:
    assert block(alias, "") == ToolResult("a", "r")


@pytest.mark.parametrize(
    "said",
    [{"isError": True}, {"is_error": True}, {"status": "error"}, {"error": "e"}],
)
def test_a_failed_result_may_say_so_in_four_ways(said: dict[str, Any]) -> None:
    read = block({"type": "tool_response", "callId": "a", "result": "r", **said}, "")
    assert isinstance(read, ToolResult)
    assert read.status == "error"


@pytest.mark.parametrize("said", [{}, {"isError": False}, {"is_error": None}, {"status": "ok"}])
def test_a_result_that_says_nothing_bad_went_well(said: dict[str, Any]) -> None:
    read = block({"type": "tool_result", "call_id": "a", "result": "r", **said}, "")
    assert read == ToolResult("a", "r")


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}])
def test_values_that_python_calls_false_stay_values(value: Any) -> None:
    read = block({"type": "tool_result", "call_id": "a", "result": value}, "")
    assert isinstance(read, ToolResult)
    assert read.result == value
    assert type(read.result) is type(value)


def test_a_call_with_a_canonical_id_keeps_it_and_its_raw_id() -> None:
    given_block = {"type": "tool_call", "id": CANONICAL, "raw_id": "a", "name": "f"}
    assert block({**given_block, "parameters": {}}, "") == ToolCall("a", "f", "{}", CANONICAL)


def test_an_exported_result_names_its_call_and_keeps_its_raw_id() -> None:
    exported: JsonObject = {
        "type": "tool_result",
        "call_id": CANONICAL,
        "raw_id": "a",
        "result": "r",
    }
    assert block(exported, "") == ToolResult("a", "r", call_id=CANONICAL)


def test_a_call_with_any_other_id_has_it_as_raw_id() -> None:
    read = block({"type": "tool_call", "id": "call_1", "name": "f", "parameters": {}}, "")
    assert read == ToolCall("call_1", "f", "{}")


def test_arguments_as_text_are_kept_as_they_were_written() -> None:
    one = ToolCall("a", "f", '{"x":  1.10}')
    shown = block_json(one)
    assert (shown["arguments"], dumps(shown["parameters"])) == ('{"x":  1.10}', '{"x":1.10}')


def test_arguments_that_are_no_json_are_shown_as_text_only() -> None:
    shown = block_json(ToolCall("a", "f", '{"x":'))
    assert shown["arguments"] == '{"x":'
    assert "parameters" not in shown


written = st.fixed_dictionaries(
    {
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (",", ": "), (",", " :")]),
        "indent": st.sampled_from([None, 0]),
        "ensure_ascii": st.booleans(),
    }
)


@example({"a": {"b": 1}}, {"separators": (",", ":")})
@example({'a": ': 1}, {"separators": (",", ":")})
@given(st.dictionaries(st.text('a":\\ é{', max_size=3), values, max_size=2), written)
def test_arguments_are_doubled_exactly_where_their_value_does_not_give_them_back(
    value: JsonObject, how: dict[str, Any]
) -> None:
    text = json.dumps(value, **how)
    shown = block_json(ToolCall("a", "f", text))
    assert ("arguments" in shown) == (dumps(loads(text)) != text)


def test_arguments_that_their_value_gives_back_are_not_doubled() -> None:
    assert "arguments" not in block_json(ToolCall("a", "f", '{"x":1.10}'))


def test_a_signature_on_thinking_makes_it_native() -> None:
    read = block({"type": "thinking", "text": "hm", "signature": "s"}, "")
    native: JsonObject = {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert read == Thinking("hm", native, "anthropic")


def test_a_block_of_an_unknown_type_is_kept_whole() -> None:
    value: JsonObject = {"type": "hologram", "depth": 3}
    assert block(value, "") == Opaque("hologram", value)


# What is refused, and where.


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ("text", "/b"),
        (None, "/b"),
        ([], "/b"),
        ({}, "/b/type"),
        ({"type": 5}, "/b/type"),
        ({"type": "text"}, "/b/text"),
        ({"type": "text", "text": None}, "/b/text"),
        ({"type": "text", "text": "x", "signature": 5}, "/b/signature"),
        ({"type": "image"}, "/b/data"),
        ({"type": "image", "data": "x", "detail": 1}, "/b/detail"),
        ({"type": "file", "data": 1}, "/b/data"),
        ({"type": "file", "data": "x", "name": []}, "/b/name"),
        ({"type": "file", "data": "x", "media_type": {}}, "/b/media_type"),
        ({"type": "thinking"}, "/b/text"),
        ({"type": "thinking", "text": "x", "signature": 1}, "/b/signature"),
        ({"type": "opaque"}, "/b/kind"),
        ({"type": "tool_call", "id": 5, "name": "f"}, "/b/id"),
        ({"type": "tool_call", "id": "a", "raw_id": 5}, "/b/raw_id"),
        ({"type": "tool_call", "id": "a", "name": 5}, "/b/name"),
        ({"type": "tool_call", "id": "a", "name": "f", "arguments": {}}, "/b/arguments"),
        ({"type": "tool_result", "call_id": 5}, "/b/call_id"),
        ({"type": "tool_response", "callId": 5}, "/b/callId"),
        ({"type": "tool_result", "call_id": "a", "status": "fine"}, "/b/status"),
        ({"type": "tool_result", "call_id": "a", "status": 1}, "/b/status"),
        ({"type": "tool_result", "call_id": "a", "error": {}}, "/b/error"),
        ({"type": "tool_result", "call_id": "a", "content": "x"}, "/b/content"),
        ({"type": "tool_result", "call_id": "a", "content": None}, "/b/content"),
        ({"type": "tool_result", "call_id": "a", "content": [1]}, "/b/content/0"),
        (
            {"type": "tool_result", "call_id": "a", "content": [{"type": "thinking", "text": ""}]},
            "/b/content/0",
        ),
        (
            {"type": "tool_result", "call_id": "a", "content": [{"type": "text"}]},
            "/b/content/0/text",
        ),
    ],
)
def test_a_complaint_points_to_its_member(value: Any, pointer: str) -> None:
    with pytest.raises(RuleBroken) as caught:
        block(value, "/b")
    assert caught.value.pointer == pointer
