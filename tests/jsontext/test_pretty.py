"""JSON for people: the same value over many lines, numbers as they were written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.jsontext.pretty import indented, lines

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans())
def test_the_value_stays_the_same(value: object, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert json.loads(indented(text)) == value


@given(VALUES)
def test_it_looks_like_what_everybody_writes(value: object) -> None:
    assert indented(json.dumps(value)) == json.dumps(value, indent=2)


def test_deep_nesting_does_not_become_a_page_of_blanks() -> None:
    deep = "[" * 900 + "]" * 900
    assert len(indented(deep)) < 40 * 1800
    assert "".join(indented(deep).split()) == deep


@pytest.mark.parametrize("number", ["1e400", "0.10", "-0", "12345678901234567890123"])
def test_numbers_stay_as_they_were_written(number: str) -> None:
    assert indented(f'{{"n":{number}}}') == f'{{\n  "n": {number}\n}}'


def test_escapes_and_brackets_in_texts_are_left_alone() -> None:
    text = '{"a\\"{":"[1,2]\\\\","b":[]}'
    assert list(lines(text)) == ["{", '  "a\\"{": "[1,2]\\\\",', '  "b": []', "}"]
