import base64
import hashlib
import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.identity import ids

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "identity.json").read_text()
)
# Few characters, many of them borders and escapes: what could make two inputs meet.
tricky = st.text(alphabet="a|\\", max_size=5) | st.text(alphabet=st.characters(), max_size=5)
canonicals = st.text(alphabet=string.ascii_letters + string.digits + "_-", min_size=24, max_size=24)
five_fields = st.tuples(tricky, tricky, tricky, tricky, st.integers(0, 20))


def vectors(kind: str) -> Any:
    return pytest.mark.parametrize("vector", VECTORS[kind], ids=lambda v: v.get("about"))


def _hashed(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(digest).decode()[:24]


@vectors("turn_ids")
def test_a_turn_id_is_frozen(vector: dict[str, Any]) -> None:
    assert ids.turn_id(vector["conversation_id"], vector["seq"]) == vector["id"]
    assert vector["id"] == "turn_" + _hashed(vector["input"])


@vectors("canonical_ids")
def test_a_canonical_id_is_frozen(vector: dict[str, Any]) -> None:
    fields = [vector[key] for key in ("provider", "raw_id", "name", "turn_id", "call_index")]
    assert ids.canonical_id(*fields) == vector["id"]
    assert vector["id"] == "hist_tool_" + _hashed(vector["input"])


@vectors("kimi_ids")
def test_a_kimi_id_is_frozen(vector: dict[str, Any]) -> None:
    given_id = ids.kimi_id(vector["name"], vector["raw_id"], vector["highest"])
    assert given_id == (vector["id"], vector["n"])


@vectors("mistral_ids")
def test_a_mistral_id_is_frozen_for_each_salt(vector: dict[str, Any]) -> None:
    assert ids.nine_characters(vector["canonical"], vector["salt"]) == vector["id"]


@vectors("normalized")
def test_a_normalized_form_is_frozen(vector: dict[str, Any]) -> None:
    assert ids.normalized(vector["raw_id"]) == vector["core"]


@vectors("prefixes")
def test_prefix_functions_do_what_seed_000_says(vector: dict[str, Any]) -> None:
    assert ids.to_openai(vector["given"]) == vector["openai"]
    assert ids.to_history(vector["given"]) == vector["history"]
    assert ids.to_anthropic(vector["given"]) == vector["anthropic"]


def test_there_are_enough_vectors() -> None:
    assert sum(map(len, VECTORS.values())) >= 30


@given(five_fields, five_fields)
@example(("o", "a|b", "c", "t", 0), ("o", "a", "b|c", "t", 0))
@example(("o", "a\\", "b", "t", 0), ("o", "a", "\\|b", "t", 0))
@example(("o", "a\\|b", "", "t", 0), ("o", "a\\", "b", "t", 0))
@example(("o", "", "", "t", 1), ("o", "", "t", "", 1))
@example(("o", "", "", "t|1", 0), ("o", "", "", "t", 1))
def test_no_two_different_calls_share_an_id(
    one: tuple[str, str, str, str, int], other: tuple[str, str, str, str, int]
) -> None:
    assert (ids.canonical_id(*one) == ids.canonical_id(*other)) is (one == other)


@given(five_fields)
def test_the_five_fields_can_be_read_back_from_the_hash_input(
    fields: tuple[str, str, str, str, int],
) -> None:
    escaped = [f.replace("\\", "\\\\").replace("|", "\\|") for f in map(str, fields)]
    assert _split("|".join(escaped)) == [str(field) for field in fields]
    assert ids.canonical_id(*fields) == "hist_tool_" + _hashed("|".join(escaped))


def _split(joined: str) -> list[str]:
    """Fields of a joined text by one walk over its characters: an independent way back."""
    fields, letters = [""], iter(joined)
    for letter in letters:
        if letter == "|":
            fields.append("")
        else:
            fields[-1] += next(letters) if letter == "\\" else letter
    return fields


@given(five_fields)
def test_every_canonical_id_is_well_formed(fields: tuple[str, str, str, str, int]) -> None:
    assert ids.is_canonical(ids.canonical_id(*fields))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hist_tool_",
        "hist_tool_" + "a" * 23,
        "hist_tool_" + "a" * 25,
        "hist_tool_" + "a" * 23 + "=",
        "hist_tool_" + "a" * 23 + "ä",
        "hist_tool_" + "a" * 24 + "\n",
        "call_" + "a" * 24,
        "xhist_tool_" + "a" * 24,
    ],
)
def test_what_only_resembles_a_canonical_id_is_none(text: str) -> None:
    assert not ids.is_canonical(text)


@given(st.text())
def test_a_history_id_survives_the_way_to_openai_and_back(rest: str) -> None:
    assert ids.to_history(ids.to_openai("hist_tool_" + rest)) == "hist_tool_" + rest


@given(st.text())
def test_an_openai_id_survives_the_way_to_history_and_back(rest: str) -> None:
    assert ids.to_openai(ids.to_history("call_" + rest)) == "call_" + rest


@given(st.text())
def test_prefix_functions_always_give_their_prefix(any_id: str) -> None:
    assert ids.to_openai(any_id).startswith("call_")
    assert ids.to_history(any_id).startswith("hist_tool_")
    assert ids.to_anthropic(any_id).startswith("toolu_")


@given(st.text())
def test_prefix_functions_change_nothing_the_second_time(any_id: str) -> None:
    for function in (ids.to_openai, ids.to_history, ids.to_anthropic):
        assert function(function(any_id)) == function(any_id)


@given(canonicals, st.sampled_from(["call_", "toolu_", "tooluse_"]))
def test_a_shown_id_leads_back_to_its_canonical_id(core: str, prefix: str) -> None:
    shown = ids.with_prefix("hist_tool_" + core, prefix)
    assert shown == prefix + core
    assert ids.from_prefixed(shown, ("call_", "toolu_", "tooluse_")) == "hist_tool_" + core


@pytest.mark.parametrize("shown", ["call_short", "fc_" + "a" * 24, "", "call_" + "a" * 25])
def test_what_no_replay_has_shown_leads_nowhere(shown: str) -> None:
    assert ids.from_prefixed(shown, ("call_", "toolu_")) is None


@given(st.lists(st.none() | st.integers(0, 40).map("functions.f:{}".format), max_size=30))
def test_kimi_counts_rise_and_never_repeat(raw_ids: list[str | None]) -> None:
    highest, given_numbers = -1, []
    for raw_id in raw_ids:
        shown, highest = ids.kimi_id("f", raw_id, highest)
        assert shown == f"functions.f:{highest}"
        given_numbers.append(highest)
    assert given_numbers == sorted(set(given_numbers))


@given(st.integers(-1, 1000), st.integers(0, 1000))
def test_kimi_own_ids_are_echoed_exactly_when_they_keep_the_count_rising(
    highest: int, n: int
) -> None:
    shown = ids.kimi_id("f", f"functions.f:{n}", highest)[0]
    assert (shown == f"functions.f:{n}") is (n > highest or n == highest + 1)


def test_a_full_kimi_replay_counts_from_zero() -> None:
    highest, shown = -1, []
    for name in ("a", "b", "a"):
        one, highest = ids.kimi_id(name, None, highest)
        shown.append(one)
    assert shown == ["functions.a:0", "functions.b:1", "functions.a:2"]


def first_free(taken: set[str], canonical: str, raw_id: str | None, **more: str) -> str:
    return next(one for one in ids.mistral_ids(canonical, raw_id, **more) if one not in taken)


@given(st.lists(canonicals.map("hist_tool_{}".format), unique=True, max_size=40))
def test_mistral_ids_are_nine_characters_and_differ(given_calls: list[str]) -> None:
    taken: set[str] = set()
    for canonical in given_calls:
        taken.add(first_free(taken, canonical, None))
    assert len(taken) == len(given_calls)
    assert all(ids.MISTRAL.fullmatch(one) for one in taken)


def test_mistral_collisions_are_resolved_even_when_only_512_ids_exist() -> None:
    taken: set[str] = set()
    for n in range(400):
        one = first_free(taken, f"hist_tool_{n:024}", None, alphabet="ab")
        assert len(one) == 9
        assert one not in taken
        taken.add(one)


def test_a_planted_mistral_id_moves_the_call_to_the_next_salt() -> None:
    canonical = "hist_tool_CwGJ-4bjB1AzwiitK9edpV3i"
    planted = {"TvawkBt9B", "NX86vkNXU", "waMZQBOhd"}
    assert first_free(planted, canonical, None) == "1N7MDbQad"


def test_a_native_mistral_id_is_kept_when_it_is_free() -> None:
    assert first_free(set[str](), "hist_tool_x", "D681PevKs") == "D681PevKs"


def test_a_native_mistral_id_that_is_taken_gives_way_to_a_hashed_one() -> None:
    canonical = "hist_tool_CwGJ-4bjB1AzwiitK9edpV3i"
    assert first_free({"D681PevKs"}, canonical, "D681PevKs") == "TvawkBt9B"


@pytest.mark.parametrize(
    "raw_id", ["", "D681PevK", "D681PevKsx", "D681PevK-", "D681PevKé", "D681PevKs\n", "٣٣٣٣٣٣٣٣٣"]
)
def test_a_raw_id_of_another_form_is_never_a_mistral_id(raw_id: str) -> None:
    canonical = "hist_tool_CwGJ-4bjB1AzwiitK9edpV3i"
    assert first_free(set[str](), canonical, raw_id) == "TvawkBt9B"


@given(canonicals, st.sampled_from(["call_", "toolu_", "fc_", "hist_tool_"]))
def test_decorations_do_not_change_the_normalized_form(core: str, prefix: str) -> None:
    plain = ids.normalized("call_" + core)
    for decorated in (prefix + core, f"{prefix}{core}|fc_1", f"{prefix}{core}__thought__xyz"):
        assert ids.normalized(decorated) == plain.split("__thought__")[0]


@given(st.text(alphabet=st.characters()))
def test_any_text_has_a_fingerprint(text: str) -> None:
    assert len(ids.fingerprint(text)) == 32


def test_lone_surrogates_have_fingerprints_of_their_own() -> None:
    assert len({ids.fingerprint(text) for text in ("\ud800", "\ud801", "\ufffd", "?")}) == 4


@pytest.mark.parametrize("turn_id", ["t-17", "a", "A.b_c:d-e", "x" * 128])
def test_a_caller_may_mint_such_a_turn_id(turn_id: str) -> None:
    assert ids.CALLER_TURN_ID.fullmatch(turn_id)


@pytest.mark.parametrize("turn_id", ["", "x" * 129, "a b", "a|b", "ä", "a\n", "a~", "a/b"])
def test_a_caller_may_not_mint_such_a_turn_id(turn_id: str) -> None:
    assert not ids.CALLER_TURN_ID.fullmatch(turn_id)
