"""Members that are given twice, wherever they stand."""

import pickle

import pytest

from app.jsontext.reading import _WINDOW, loads, loads_object, loads_watched
from app.jsontext.twice import check_once, given_twice, repeats
from app.jsontext.writing import dumps, dumps_sorted
from app.model.errors import RuleBroken
from app.model.json_values import Json
from app.model.limits import UNLIMITED

BLANK = " " * (_WINDOW + 1)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('{"a":1,"b":2}', []),
        ('{"a":{"a":1},"b":[{"a":1},{"a":1}]}', []),
        ('{"a":1,"a":2}', ["/a"]),
        ('{"a":1,"\\u0061":2}', ["/a"]),
        ('{"a":1,"b":2,"a":3,"b":4,"a":5}', ["/a", "/b"]),
        ('[0,{"x/~":[{"a":1,"a":{"b":1,"b":1}}]}]', ["/1/x~1~0/0/a", "/1/x~1~0/0/a/b"]),
        # What the first one held is gone with it.
        ('{"a":{"b":1,"b":1},"a":1}', ["/a"]),
    ],
)
@pytest.mark.parametrize("blank", ["", BLANK], ids=["short", "long"])
def test_what_is_given_twice_is_known_with_its_place(
    text: str, places: list[str], blank: str
) -> None:
    longer = text.replace(",", f",{blank}")
    value, twice = loads_watched(longer, UNLIMITED)
    assert (value, twice) == (loads(longer), bool(places))
    assert [where for _, where in given_twice(value)] == places
    _, texts = loads_object(f'{{"m":{longer}}}', UNLIMITED)
    lists = text.startswith("[")
    found = [
        where
        for place, one in enumerate(texts["m"])
        for _, where in repeats(one, f"/m/{place}" if lists else "/m")
    ]
    assert found == [f"/m{place}" for place in places]


def test_only_the_names_that_are_asked_for_must_be_given_once() -> None:
    members, texts = loads_object('{"a":{"x":1,"x":2},"b":[1,{"y":[{"z":1,"z":2}]}]}', UNLIMITED)
    check_once(members, texts, ["c"])
    with pytest.raises(RuleBroken, match="`x` is given twice") as found:
        check_once(members, texts, ["a", "b"])
    assert found.value.pointer == "/a/x"
    with pytest.raises(RuleBroken) as found:
        check_once(members, texts, ["b"])
    assert found.value.pointer == "/b/1/y/0/z"


def test_such_an_object_is_one_like_any_other() -> None:
    value, _ = loads_watched('{"b":1.10,"a":[{"c":1,"c":"\\ud800"}],"b":2}', UNLIMITED)
    plain: Json = {"b": 2, "a": [{"c": "\ud800"}]}
    assert value == plain == pickle.loads(pickle.dumps(value))
    assert (dumps(value), dumps_sorted(value)) == (dumps(plain), dumps_sorted(plain))
