"""What is stored is read by another decoder wherever nothing tells the two apart."""

import json
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.jsontext import plain
from app.jsontext.plain import loads_stored
from app.jsontext.reading import loads
from app.jsontext.writing import dumps
from app.model.errors import TurnkeepError
from app.model.json_values import Json
from app.model.limits import UNLIMITED
from tests.jsontext.test_json import ODD_NUMBERS, values


@pytest.mark.parametrize("number", [*ODD_NUMBERS, "0", "0.5", "-1", "18446744073709551615"])
@pytest.mark.parametrize("around", ["%s", "[0,%s]", '{"a":%s}', '[{"a":["-0",%s,1]},"x"]'])
def test_a_number_comes_back_digit_for_digit_from_the_store(number: str, around: str) -> None:
    assert dumps(loads_stored((around % number).encode())) == around % number
    found = plain.plain(around % number)
    assert found is None or dumps(found[0]) == around % number


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b" [1] ",
        b"[1,]",
        b"[NaN]",
        b"[1e400]",
        b'["\\ud800","\\u0000","\x7f"]',
        b'["\x00"]',
        b'{"a":1,"b":2,"a":3}',
        b"\xef\xbb\xbf[]",
        b'"\xed\xa0\x80"',
        b'"\xff"',
        b"[]\x00",
        b"[" * 200 + b"]" * 200,
        # orjson goes down 1,024 levels; whatever is done with such a value does not.
        b"[" * 1010 + b"]" * 1010,
        b"[" * 2000 + b"]" * 2000,
    ],
)
def test_the_store_is_read_as_any_text_is(stored: bytes) -> None:
    assert _of_store(stored) == _of_text(stored)


@given(values, st.data())
def test_any_value_is_read_from_the_store_as_from_its_text(value: Any, data: st.DataObject) -> None:
    written = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    place = data.draw(st.integers(0, len(written)))
    odd = data.draw(st.sampled_from([written[place:], "", ",", "1", "-0", "1.10"]))
    stored = (written[:place] + odd).encode("utf-8", "surrogatepass")
    assert _of_store(stored) == _of_text(stored)


@given(values, st.booleans(), st.sampled_from(["", " ", ",", "\ud800"]))
def test_text_that_is_plain_is_read_as_our_reader_reads_it(
    value: Any, ascii_only: bool, behind: str
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only) + behind
    found = plain.plain(text)
    assert found is None or dumps(found[0]) == dumps(loads(text, UNLIMITED))


def test_what_is_long_and_not_as_we_write_it_is_read_too() -> None:
    with patch.object(plain, "PIECE", 100):
        assert loads_stored(('["' + "é" * 200 + '"]').encode()) == ["é" * 200]


def test_what_is_long_in_the_store_is_never_read_at_once() -> None:
    stored = dumps(["x" * 100] * 3).encode()
    with patch.object(plain, "PIECE", 100), patch.object(orjson, "loads") as at_once:
        assert loads_stored(stored) == ["x" * 100] * 3
    at_once.assert_not_called()


def _of_store(stored: bytes) -> str | type[Exception]:
    return _read(lambda: loads_stored(stored))


def _of_text(stored: bytes) -> str | type[Exception]:
    return _read(lambda: loads(stored.decode(), UNLIMITED))


def _read(read: Callable[[], Json]) -> str | type[Exception]:
    try:
        return dumps(read())
    except (TurnkeepError, UnicodeDecodeError) as error:
        return type(error)
