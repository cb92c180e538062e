"""How much a JSON text holds is known before it is read, and costs little to know."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.jsontext import bounds
from app.jsontext.arguments import as_given, object_of
from app.jsontext.reading import loads, loads_object
from app.model.errors import TooLarge, TurnkeepError
from app.model.limits import Limits

LITTLE = Limits(json_values=10)


def test_as_many_values_as_the_limit_pass_and_not_one_more() -> None:
    # One bracket and nine commas.
    text = json.dumps([0] * 10)
    assert loads(text, LITTLE) == [0] * 10
    with pytest.raises(TooLarge, match="at most 10 JSON values \\(the limit json_values\\)"):
        loads(json.dumps([0] * 11), LITTLE)


@pytest.mark.parametrize("element", ["[]", "{}", '""', "0", '{"a":0}'])
def test_values_of_every_kind_count(element: str) -> None:
    with pytest.raises(TooLarge):
        loads_object('{"a":[' + ",".join([element] * 11) + "]}", LITTLE)


def test_signs_inside_of_strings_are_no_values() -> None:
    text = json.dumps(["[{," * 1000, '"\\,' * 1000, "\\" * 999 + ",,,,,,,,,,,"])
    assert loads(text, LITTLE) == json.loads(text)


values = st.recursive(
    st.none() | st.integers() | st.text(alphabet='\\"[]{},:é', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('"\\,[', max_size=3), inner)
    ),
)


@given(values, st.integers(1, 9))
def test_it_does_not_matter_where_a_text_is_cut(value: Any, size: int) -> None:
    def count(one: Any) -> int:
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        commas = max(len(inner) - 1, 0)
        return commas + isinstance(one, dict | list) + sum(map(count, inner))

    text, most = json.dumps(value, ensure_ascii=False), count(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "_SLICE", size)
        bounds.check_bounds(text, Limits(depth=0 if not most else 100, json_values=most))
        if most:
            with pytest.raises(TurnkeepError):
                bounds.check_bounds(text, Limits(json_values=most - 1))


@pytest.mark.parametrize("sign", ["\\\\", '\\"', "x", "[", ","])
def test_a_long_string_takes_no_memory_to_be_passed_over(sign: str) -> None:
    body = '{"a":"' + sign * 2_000_000 + '","b":[' + ",".join(["[]"] * 100) + "]}"
    tracemalloc.start()
    bounds.check_bounds(body, Limits())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < len(body) / 2


def test_arguments_of_too_many_values_stay_a_text() -> None:
    text = '{"a":[' + ",".join(["0"] * Limits().json_values) + "]}"
    assert as_given(text) == {"arguments": text}
    assert object_of(text) == ("{}", {}, "ARGS_UNPARSEABLE")
    assert object_of(json.dumps(text)) == ("{}", {}, "ARGS_UNPARSEABLE")
