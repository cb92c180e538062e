import json
import pickle
import tracemalloc
from functools import partial
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.jsontext import reading, strings, writing
from app.jsontext.reading import loads, loads_object, value_of
from app.jsontext.writing import dumps, dumps_in_parts, dumps_pieces, dumps_sorted, dumps_utf8
from app.model import large
from app.model.errors import LimitExceeded, NotJson, RuleBroken, TurnkeepError
from app.model.json_values import Json, NumberText
from app.model.large import Ascii, Chunks
from app.model.limits import Limits

ODD_NUMBERS = [
    "1.0",
    "1.10",
    "1e2",
    "1E2",
    "1e+2",
    "-0",
    "-0.0",
    "0.10000000000000001",
    "1e400",
    "-1e-400",
    "2512292042121000001",
    "18446744073709551616",
    "123456789012345678901234567890",
    "9007199254740993",
]
ODD_BLANKS = st.text(alphabet=" \t\n\r", max_size=3)

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
texts = st.text(alphabet=st.characters(), max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects: st.SearchStrategy[Any] = st.dictionaries(texts, values, max_size=5)


# Numbers keep their text.


@pytest.mark.parametrize("number", ODD_NUMBERS)
@pytest.mark.parametrize("around", ["%s", "[%s]", '{"a":%s}', '[{"a":[%s,1]},"x"]'])
def test_a_number_comes_back_digit_for_digit(number: str, around: str) -> None:
    assert dumps(loads(around % number)) == around % number
    assert dumps_utf8(loads(around % number)) == (around % number).encode()


@given(
    st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
)
def test_any_number_comes_back_digit_for_digit(number: str) -> None:
    assert dumps(loads(number)) == number


def test_ordinary_numbers_are_ordinary_python() -> None:
    assert [type(one) for one in _list("[1, 0.5, -7]")] == [int, float, int]


def test_a_number_with_its_text_is_still_a_number() -> None:
    (one,) = _list("[1.10]")
    assert one == 1.1
    assert repr(one) == "1.10"


def test_a_number_with_its_text_survives_pickling() -> None:
    again = pickle.loads(pickle.dumps(NumberText.of("1e2")))
    assert (again, again.text) == (100.0, "1e2")


def _list(text: str) -> list[Json]:
    value = loads(text)
    assert isinstance(value, list)
    return value


# What is refused.


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("around", ["%s", "[1,%s]", '{"a":{"b":%s}}'])
def test_what_is_no_json_number_is_refused_as_a_broken_rule(constant: str, around: str) -> None:
    with pytest.raises(RuleBroken, match=constant):
        loads(around % constant)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_number_is_refused_in_a_body_too(constant: str) -> None:
    with pytest.raises(RuleBroken, match=constant):
        loads_object(f'{{"a":[{{"b":{constant}}}]}}', Limits())


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[1,]",
        '{"a":1,}',
        "{'a':1}",
        "nul",
        "01",
        "1.",
        ".5",
        "+1",
        '"\n"',
        "1 2",
        '"a',
        "[1 2]",
        '{"a" 1}',
        "\ufeff{}",
        "{}x",
        "0x10",
        "1_0",
        "--1",
        '"\\x"',
        "\x00",
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        loads(text)


def test_a_complaint_says_where_it_stands_and_quotes_nothing() -> None:
    with pytest.raises(NotJson, match="line 2, column 10") as caught:
        loads('{"secret":\n "value" x}')
    assert "secret" not in caught.value.detail


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_the_depth_limit_still_passes(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    text = opening * 64 + "1" + closing * 64
    assert dumps(loads(text)) == text


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_one_level_more_than_the_depth_limit_is_refused_by_name(opening: str) -> None:
    with pytest.raises(LimitExceeded, match="limit depth allows 64"):
        loads(opening * 65)


def test_a_body_deeper_than_its_limit_is_refused_by_name() -> None:
    with pytest.raises(LimitExceeded, match="limit depth allows 3"):
        loads_object('{"a":[[[1]]]}', Limits(depth=3))


def test_brackets_inside_texts_are_no_depth() -> None:
    text = json.dumps(["[" * 100, '"{' * 100, "\\[" * 100])
    assert loads(text) == json.loads(text)


def test_neighbours_are_no_depth() -> None:
    text = "[" + ",".join(["[]"] * 1000) + "]"
    assert loads(text, Limits(depth=2)) == [[]] * 1000


def test_counting_the_depth_of_a_large_body_takes_little_memory() -> None:
    body = '{"a":"' + "A" * 2_000_000 + '","b":[' + ",".join(["[]"] * 100) + "]}"
    tracemalloc.start()
    loads(body)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4 * len(body)


def test_a_depth_limit_beyond_pythons_own_still_gives_an_answer_by_name() -> None:
    with pytest.raises(LimitExceeded, match="depth"):
        loads("[" * 200_000, Limits(depth=1_000_000))


@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_of_as_many_digits_as_the_limit_passes(sign: str) -> None:
    text = sign + "7" * 4300
    assert dumps(loads(text)) == text


@pytest.mark.parametrize("text", ["7" * 4301, "-" + "7" * 4301, "0." + "7" * 4301])
def test_a_number_of_too_many_digits_is_refused_by_name(text: str) -> None:
    with pytest.raises(LimitExceeded, match="integer_digits"):
        loads(text)


def test_the_limit_on_digits_can_be_raised() -> None:
    text = "7" * 5000
    assert dumps(loads(text, Limits(integer_digits=10_000))) == text


def test_the_limit_on_digits_can_be_lowered() -> None:
    with pytest.raises(LimitExceeded, match="integer_digits allows 3"):
        loads("1234", Limits(integer_digits=3))


# Objects with the text of their members.


def test_each_member_comes_with_its_very_text() -> None:
    members, found = loads_object('{"a": 1.10 , "b" :{"x": 1}, "c": "\\u0041"}', Limits())
    assert dumps(members) == '{"a":1.10,"b":{"x":1},"c":"A"}'
    assert found == {"a": ["1.10"], "b": ['{"x": 1}'], "c": ['"\\u0041"']}


def test_each_element_of_an_array_comes_with_its_very_text() -> None:
    members, found = loads_object('\n{"m":\t[ {"a" : 1e2},\r\n "x\\n" ,[ 1 ] ] }\n', Limits())
    assert dumps(members["m"]) == '[{"a":1e2},"x\\n",[1]]'
    assert found == {"m": ['{"a" : 1e2}', '"x\\n"', "[ 1 ]"]}


def test_a_text_that_was_read_is_not_read_again() -> None:
    members, texts = loads_object('{"list": [{"a": 1.10}]}', Limits())
    (text,) = texts["list"]
    assert value_of(text) is cast(list[Json], members["list"])[0]


def test_what_is_made_of_a_text_that_was_read_has_a_value_of_its_own() -> None:
    _, texts = loads_object('{"list": [[1, 2], 3]}', Limits())
    one, other = texts["list"]
    assert value_of(f"[{one},{other}]") == [[1, 2], 3]
    assert value_of(one[1:2]) == 1


def test_an_escaped_key_is_the_key_it_means() -> None:
    members, found = loads_object('{"\\u006d": [1]}', Limits())
    assert (members, found) == ({"m": [1]}, {"m": ["1"]})


def test_of_two_members_with_one_name_neither_is_dropped() -> None:
    with pytest.raises(RuleBroken, match="`a` is given twice") as refused:
        loads_object('{"a": [1], "b": 0, "a": 2}', Limits())
    assert refused.value.pointer == "/a"


def test_an_empty_object_and_an_empty_array_are_read() -> None:
    assert loads_object(" { } ", Limits()) == ({}, {})
    assert loads_object('{"a":[ ]}', Limits()) == ({"a": []}, {"a": []})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        '"a"',
        "null",
        "{",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a":[1,]}',
        "{,}",
        '{"a":1}}',
        '{"a":1}{}',
        "{a:1}",
        '{"a":[1 2]}',
        '{"a":1 "b":2}',
        "{1:2}",
        '{"a":[1}',
    ],
)
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        loads_object(text, Limits())


@given(objects, st.data())
def test_an_object_is_read_as_the_standard_library_reads_it(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = _spaced(value, data)
    members, found = loads_object(text, Limits())
    assert members == json.loads(text)
    for key, member in members.items():
        elements = member if isinstance(member, list) else [member]
        assert [loads(one) for one in found[key]] == elements
        assert [value_of(one) for one in found[key]] == elements
        assert all(one in text and one == one.strip() for one in found[key])


pairs = st.text(
    alphabet=st.sampled_from(['"', "\\", "\n", "\U0001f600", "\ud83d", "\ude00", "u", "a"])
)


@given(st.lists(pairs | values), st.integers(1, 20), st.integers(6, 12), st.data())
@example(["\U0001f600"], 1, 6, None)
def test_what_is_read_in_parts_is_what_is_read_at_once(
    value: list[Any], window: int, size: int, data: st.DataObject | None
) -> None:
    written = json.dumps(value, ensure_ascii=data is None or data.draw(st.booleans()))
    if data is not None and data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(written)))
        written = written[:place] + data.draw(st.sampled_from(["", ",", '"', "\\", "1", "}"]))
    whole = _outcome(written)
    with patch.object(reading, "_WINDOW", window), patch.object(strings, "_SLICE", size):
        assert _outcome(written) == whole


@given(st.lists(pairs | values), st.integers(1, 20), st.integers(1, 20), st.data())
def test_bytes_in_pieces_are_read_as_their_text_is(
    value: list[Any], window: int, size: int, data: st.DataObject
) -> None:
    written = json.dumps(value)
    place = data.draw(st.integers(0, len(written)))
    written = written[:place] + data.draw(st.sampled_from([written[place:], "", ",", "1"]))
    cut = [written[at : at + size].encode() for at in range(0, len(written), size)]
    with patch.object(reading, "_WINDOW", window), patch.object(large, "PIECE", size):
        assert _outcome(Ascii(Chunks(lambda: iter(cut)))) == _outcome(written)
        assert _outcome(Ascii(written.encode())) == _outcome(written)


def _outcome(written: str | Ascii) -> bytes | type[Exception]:
    try:
        return dumps(loads(written)).encode()
    except TurnkeepError as error:
        return type(error)


def _spaced(value: dict[str, Any], data: st.DataObject) -> str:
    """The object with odd blanks between its members, as people and gateways write them."""
    blank = data.draw(ODD_BLANKS)
    indent = data.draw(st.sampled_from([None, 1, 3]))
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()))
    return f"{blank}{{{blank}{text[1:]}{blank}"


# Writing.


@given(values)
def test_what_is_written_is_what_is_read(value: Any) -> None:
    assert loads(dumps(value)) == value
    assert loads(dumps_utf8(value).decode()) == value


@given(values)
def test_dumps_writes_nothing_but_ascii(value: Any) -> None:
    assert dumps(value).isascii()
    assert "\x00" not in dumps(value)


@given(values)
def test_writing_what_was_read_changes_nothing(value: Any) -> None:
    once = dumps(value)
    assert dumps(loads(once)) == once


@given(values)
@example(["\x7f"])
@example({"\x7f": 1e-7, "e-": [5e-324, 1e-5, 9.9e-5, 1e-4, 1e16, -0.0, 2**64, None]})
def test_writing_is_that_of_the_standard_library(value: Any) -> None:
    compact = partial(json.dumps, separators=(",", ":"))
    assert dumps(value) == compact(value)
    assert dumps_sorted(value) == compact(value, sort_keys=True)
    try:
        readable = compact(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        readable = compact(value).encode()
    assert dumps_utf8(value) == readable


@given(values, st.integers(1, 3))
def test_what_is_written_in_parts_is_what_is_written_at_once(value: Any, elements: int) -> None:
    with patch.object(writing, "_ELEMENTS", elements):
        written = dumps_in_parts(value)
    # A lone surrogate escapes what is written together with it.
    escaped = any("\ud800" <= sign <= "\udfff" for sign in json.dumps(value, ensure_ascii=False))
    assert written == dumps_utf8(value) or (escaped and loads(written.decode()) == value)


@given(values, st.integers(8, 40))
def test_what_is_written_piece_by_piece_is_what_is_written_at_once(value: Any, size: int) -> None:
    with patch.object(writing, "_SLICE", size):
        written = b"".join(dumps_pieces(value))
    assert written == dumps(value).encode()


@given(values)
def test_a_number_with_its_text_changes_nothing_around_it(value: Any) -> None:
    odd = NumberText.of("1.10")
    assert dumps([value, odd]) == dumps([value])[:-1] + ",1.10]"
    assert dumps({"v": value, "n": odd}) == dumps({"v": value})[:-1] + ',"n":1.10}'


def test_readable_text_stays_readable() -> None:
    assert dumps_utf8({"ä": "日本"}) == '{"ä":"日本"}'.encode()


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    assert dumps("\ud800") == '"\\ud800"'
    assert dumps_utf8("\ud800") == b'"\\ud800"'


def test_nul_is_written_as_its_escape() -> None:
    assert dumps("\x00") == '"\\u0000"'
    assert dumps_utf8("\x00") == b'"\\u0000"'


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_json_number_is_never_written(number: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        dumps([number])
