"""Provider ids that are given when a call is stored: the candidates of Kimi and Mistral."""

import json
import re
import string
from collections.abc import Container
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.kimi import CountedIds, counted
from app.formats.mistral import NineCharacters
from app.model.conversation import ToolCall

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "identity.json").read_text()
)
CANONICAL = "hist_tool_CwGJ-4bjB1AzwiitK9edpV3i"
canonicals = st.text(alphabet=string.ascii_letters + string.digits + "_-", min_size=24, max_size=24)


def vectors(kind: str) -> Any:
    return pytest.mark.parametrize("vector", VECTORS[kind], ids=lambda v: v.get("about"))


def mistral(
    canonical: str,
    raw_id: str | None,
    taken: Container[str] = (),
    rule: NineCharacters = NineCharacters(),  # noqa: B008
) -> str:
    candidates = rule.candidates(ToolCall(raw_id, "f", "{}", id=canonical), -1)
    return next(one for one, _ in candidates if one not in taken)


@vectors("kimi_ids")
def test_a_kimi_id_is_frozen(vector: dict[str, Any]) -> None:
    given_id = counted(vector["name"], vector["raw_id"], vector["highest"])
    assert given_id == (vector["id"], vector["n"])


@vectors("mistral_ids")
def test_a_mistral_id_is_frozen_for_each_salt(vector: dict[str, Any]) -> None:
    assert NineCharacters().hashed(vector["canonical"], vector["salt"]) == vector["id"]


@given(st.lists(st.none() | st.integers(0, 40).map("functions.f:{}".format), max_size=30))
def test_kimi_counts_rise_and_never_repeat(raw_ids: list[str | None]) -> None:
    highest, given_numbers = -1, []
    for raw_id in raw_ids:
        shown, highest = counted("f", raw_id, highest)
        assert shown == f"functions.f:{highest}"
        given_numbers.append(highest)
    assert given_numbers == sorted(set(given_numbers))


@given(st.integers(-1, 1000), st.integers(0, 1000))
def test_kimi_own_ids_are_echoed_exactly_when_they_keep_the_count_rising(
    highest: int, n: int
) -> None:
    shown = counted("f", f"functions.f:{n}", highest)[0]
    assert (shown == f"functions.f:{n}") is (n > highest or n == highest + 1)


def test_a_full_kimi_replay_counts_from_zero() -> None:
    highest, shown = -1, []
    for name in ("a", "b", "a"):
        one, highest = counted(name, None, highest)
        shown.append(one)
    assert shown == ["functions.a:0", "functions.b:1", "functions.a:2"]


def test_kimi_has_one_candidate_under_the_name_that_is_shown() -> None:
    call = ToolCall("functions.a b:7", "a b", "{}", id=CANONICAL)
    ((shown, n),) = CountedIds().candidates(call, 4)
    assert n == 5
    assert re.fullmatch(r"functions\.[a-zA-Z0-9_-]+:5", shown)


@given(st.lists(canonicals.map("hist_tool_{}".format), unique=True, max_size=40))
def test_mistral_ids_are_nine_characters_and_differ(given_calls: list[str]) -> None:
    taken: set[str] = set()
    for canonical in given_calls:
        taken.add(mistral(canonical, None, taken))
    assert len(taken) == len(given_calls)
    assert all(re.fullmatch("[A-Za-z0-9]{9}", one) for one in taken)


def test_mistral_collisions_are_resolved_even_when_only_512_ids_exist() -> None:
    taken: set[str] = set()
    for n in range(400):
        one = mistral(f"hist_tool_{n:024}", None, taken, NineCharacters("ab"))
        assert len(one) == 9
        assert one not in taken
        taken.add(one)


def test_a_planted_mistral_id_moves_the_call_to_the_next_salt() -> None:
    assert mistral(CANONICAL, None, {"TvawkBt9B", "NX86vkNXU", "waMZQBOhd"}) == "1N7MDbQad"


def test_a_native_mistral_id_is_kept_when_it_is_free() -> None:
    assert mistral("hist_tool_x", "D681PevKs") == "D681PevKs"


def test_a_native_mistral_id_that_is_taken_gives_way_to_a_hashed_one() -> None:
    assert mistral(CANONICAL, "D681PevKs", {"D681PevKs"}) == "TvawkBt9B"


@pytest.mark.parametrize(
    "raw_id", ["", "D681PevK", "D681PevKsx", "D681PevK-", "D681PevKé", "D681PevKs\n", "٣٣٣٣٣٣٣٣٣"]
)
def test_a_raw_id_of_another_form_is_never_a_mistral_id(raw_id: str) -> None:
    assert mistral(CANONICAL, raw_id) == "TvawkBt9B"
