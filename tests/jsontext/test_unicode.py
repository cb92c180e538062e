from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.jsontext.unicode import is_broken, mended, mended_value

texts = st.text(alphabet=st.characters(), max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(texts)
def test_a_text_is_broken_exactly_when_it_has_no_utf_8(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        assert is_broken(text)
    else:
        assert not is_broken(text)


@given(texts)
def test_a_mended_text_is_unicode_and_as_long_as_before(text: str) -> None:
    assert not is_broken(mended(text))
    assert len(mended(text)) == len(text)


@given(st.text())
def test_a_sound_text_is_not_touched(text: str) -> None:
    assert mended(text) == text


@pytest.mark.parametrize(
    ("broken", "sound"),
    [
        ("\ud800", "\ufffd"),
        ("a\udfffb", "a\ufffdb"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("\x00", "\x00"),
        ("🙂", "🙂"),
    ],
)
def test_each_lone_surrogate_becomes_one_replacement_character(broken: str, sound: str) -> None:
    assert mended(broken) == sound


@given(values)
def test_a_mended_value_can_be_encoded(value: Any) -> None:
    repr(mended_value(value)).encode()
    assert mended_value(mended_value(value)) == mended_value(value)


def test_texts_are_mended_at_any_depth_and_in_keys() -> None:
    assert mended_value({"\ud800": [{"a": "\udfff"}, 1, None]}) == {
        "\ufffd": [{"a": "\ufffd"}, 1, None]
    }
