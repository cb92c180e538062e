import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.jsontext.arguments import object_of, parsed
from app.jsontext.reading import loads
from app.jsontext.writing import dumps
from app.model.errors import LimitExceeded, NotJson, RuleBroken
from app.model.json_values import JsonObject
from app.model.limits import Limits

DEEPER = Limits(depth=65)
texts = st.text(alphabet=st.characters(), max_size=10)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def object_text(arguments: str) -> tuple[str, str | None]:
    text, value, code = object_of(arguments)
    assert dumps(loads(text, DEEPER)) == dumps(value)
    return text, code


def object_value(arguments: str) -> JsonObject:
    return object_of(arguments)[1]


@pytest.mark.parametrize(
    "arguments", ["{}", '{"a":1}', ' {"a" : 1.10}\n', '{"a":"\\ud800"}', '{"a":1,"a":2}']
)
def test_the_text_of_an_object_stays_byte_for_byte(arguments: str) -> None:
    assert object_text(arguments) == (arguments, None)


@pytest.mark.parametrize(
    "arguments", ['{"a":', '{"a":1}{"b":2}', "rm -rf /", "{'a': 1}", "NaN", '{"a":NaN}']
)
def test_arguments_are_never_completed_or_guessed(arguments: str) -> None:
    assert object_text(arguments) == ("{}", "ARGS_UNPARSEABLE")


BEYOND = ["1e400", "-1e400", "1" + "0" * 309, "1.8e308"]


@pytest.mark.parametrize("number", BEYOND)
def test_a_number_that_no_double_holds_makes_arguments_unreadable(number: str) -> None:
    for arguments in (f'{{"n":{number}}}', f'{{"a":[{{"n": {number}}}]}}', f"[{number}]", number):
        assert object_text(arguments) == ("{}", "ARGS_UNPARSEABLE")
    encoded = json.dumps(f'{{"n":{number}}}')
    assert object_text(encoded) == (f'{{"value":{encoded}}}', "ARGS_COERCED_OBJECT")


@pytest.mark.parametrize("number", ["1.7976931348623157e308", "-1E308", "1e-400", "1" + "0" * 308])
def test_a_number_that_a_double_holds_stays_as_it_is_written(number: str) -> None:
    arguments = f'{{"n":{number},"said":"1e400"}}'
    assert object_text(arguments) == (arguments, None)


@pytest.mark.parametrize("arguments", ["", " ", "\n", "null", "[]", '""', '" "'])
def test_arguments_that_say_nothing_are_an_empty_object(arguments: str) -> None:
    assert object_text(arguments) == ("{}", "ARGS_COERCED_OBJECT")


@pytest.mark.parametrize(
    "arguments", ["5", "1.10", "true", "false", "0", "[1,2]", '"ls -l"', '"{"']
)
def test_a_value_that_is_no_object_is_shown_inside_one(arguments: str) -> None:
    assert object_text(arguments) == (f'{{"value":{arguments}}}', "ARGS_COERCED_OBJECT")


@pytest.mark.parametrize("inner", ["{}", '{"a": 1.10}', ' {"a":"\\"x\\""} '])
def test_arguments_that_were_encoded_twice_are_decoded_once(inner: str) -> None:
    assert object_text(json.dumps(inner)) == (inner, "ARGS_UNWRAPPED")


def test_arguments_that_were_encoded_three_times_are_a_text() -> None:
    thrice = json.dumps(json.dumps(json.dumps({})))
    assert object_text(thrice) == (f'{{"value":{thrice}}}', "ARGS_COERCED_OBJECT")


def test_arguments_have_limits_of_their_own() -> None:
    with pytest.raises(LimitExceeded):
        parsed("[" * 65 + "]" * 65)
    assert object_text('{"a":' * 65 + "1" + "}" * 65) == ("{}", "ARGS_UNPARSEABLE")


def test_a_value_as_deep_as_the_limit_can_still_be_shown_inside_an_object() -> None:
    arguments = "[" * 64 + "]" * 64
    assert object_text(arguments)[1] == "ARGS_COERCED_OBJECT"
    assert list(object_value(arguments)) == ["value"]


@pytest.mark.parametrize(("text", "error"), [("{", NotJson), ("NaN", RuleBroken)])
def test_parsing_says_what_is_wrong(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        parsed(text)


@given(texts | values.map(dumps) | values.map(dumps).map(json.dumps))
def test_whatever_came_an_object_is_shown(arguments: str) -> None:
    shown, code = object_text(arguments)
    assert isinstance(object_value(shown), dict)
    assert (code is None) is (shown == arguments)


@given(values.map(dumps))
def test_showing_twice_changes_nothing_more(arguments: str) -> None:
    shown, _ = object_text(arguments)
    assert object_text(shown) == (shown, None)
