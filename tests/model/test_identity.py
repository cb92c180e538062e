import base64
import hashlib
import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.model import ids
from app.model.forms import TURN_ID

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


@vectors("normalized")
def test_a_normalized_form_is_frozen(vector: dict[str, Any]) -> None:
    assert ids.normalized(vector["raw_id"]) == vector["core"]


@vectors("prefixes")
def test_prefix_functions_do_what_seed_000_says(vector: dict[str, Any]) -> None:
    for form, prefix in ids.SWAPPED.items():
        assert ids.swapped(vector["given"], prefix) == vector[form]


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
    assert (
        ids.swapped(ids.swapped("hist_tool_" + rest, "call_"), "hist_tool_") == "hist_tool_" + rest
    )


@given(st.text())
def test_an_openai_id_survives_the_way_to_history_and_back(rest: str) -> None:
    assert ids.swapped(ids.swapped("call_" + rest, "hist_tool_"), "call_") == "call_" + rest


@given(st.text())
def test_prefix_functions_always_give_their_prefix(any_id: str) -> None:
    for prefix in ("call_", "hist_tool_", "toolu_"):
        assert ids.swapped(any_id, prefix).startswith(prefix)


def test_an_item_id_of_responses_loses_its_prefix_for_anthropic_only() -> None:
    """Seed 003's table; seed 000 keeps unknown prefixes."""
    assert ids.swapped("fc_xyz", ids.SWAPPED["anthropic"]) == "toolu_xyz"
    assert ids.swapped("fc_xyz", ids.SWAPPED["openai"]) == "call_fc_xyz"
    assert ids.swapped("fc_xyz", ids.SWAPPED["history"]) == "hist_tool_fc_xyz"


@given(st.text())
def test_prefix_functions_change_nothing_the_second_time(any_id: str) -> None:
    for prefix in ids.SWAPPED.values():
        once = ids.swapped(any_id, prefix)
        assert ids.swapped(once, prefix) == once


@given(canonicals, st.sampled_from(["call_", "toolu_", "tooluse_"]))
def test_a_provider_id_leads_back_to_its_canonical_id(core: str, prefix: str) -> None:
    shown = ids.with_prefix("hist_tool_" + core, prefix)
    assert shown == prefix + core
    assert ids.from_prefixed(shown, ("call_", "toolu_", "tooluse_")) == "hist_tool_" + core


@pytest.mark.parametrize("shown", ["call_short", "fc_" + "a" * 24, "", "call_" + "a" * 25])
def test_what_no_replay_has_shown_leads_nowhere(shown: str) -> None:
    assert ids.from_prefixed(shown, ("call_", "toolu_")) is None


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
    assert TURN_ID.fits(turn_id)


@pytest.mark.parametrize("turn_id", ["", "x" * 129, "a b", "a|b", "ä", "a\n", "a~", "a/b"])
def test_a_caller_may_not_mint_such_a_turn_id(turn_id: str) -> None:
    assert not TURN_ID.fits(turn_id)
