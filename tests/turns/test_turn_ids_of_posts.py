"""`turn_ids` of a post: one entry for each turn, checked before anything is stored."""

from typing import Any

import pytest

from tests.turns.test_posting import HELLO, TURN, drafts, neutral, openai, refused


def ids(body: dict[str, Any]) -> list[str | None]:
    return [draft.turn_id for draft in drafts(body)]


def test_each_turn_gets_its_id_and_null_gives_none() -> None:
    assert ids(openai(HELLO, HELLO, HELLO, turn_ids=["a", None, "c"])) == ["a", None, "c"]


def test_null_instead_of_the_list_says_nothing() -> None:
    assert ids(openai(HELLO, turn_ids=None)) == [None]


@pytest.mark.parametrize("given", [[], ["a"], ["a", "b", "c"]])
def test_a_wrong_count_is_told_how_many_turns_there_are(given: list[str]) -> None:
    error = refused(openai(HELLO, HELLO, turn_ids=given))
    assert (error.pointer, error.facts["turns"]) == ("/turn_ids", 2)
    assert f"Turns of this body: 2; entries: {len(given)}." in error.detail


def test_a_system_text_beside_the_messages_is_a_turn() -> None:
    body = {"provider": "anthropic", "system": "s", "messages": [HELLO], "turn_ids": ["a", "b"]}
    assert [(one.speaker, one.turn_id) for one in drafts(body)] == [("system", "a"), ("human", "b")]


def test_messages_that_a_format_joins_are_one_turn() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    said = {"type": "message", "role": "assistant", "content": "so"}
    body = {"provider": "openai-responses", "input": [HELLO, said, call], "turn_ids": ["a", "b"]}
    assert ids(body) == ["a", "b"]


def test_a_response_is_one_turn() -> None:
    response = {"choices": [{"message": {"role": "assistant", "content": "hi"}}]}
    body = {"provider": "openai", "response": response, "turn_ids": ["a"]}
    assert ids(body) == ["a"]


@pytest.mark.parametrize("given", ["a", {}, 5, True])
def test_the_ids_are_a_list(given: Any) -> None:
    assert refused(openai(turn_ids=given)).pointer == "/turn_ids"


@pytest.mark.parametrize("given", [5, "", "a b", "x" * 129, ["a"], True])
def test_a_bad_entry_is_pointed_at(given: Any) -> None:
    assert refused(openai(HELLO, HELLO, turn_ids=["a", given])).pointer == "/turn_ids/1"


def test_the_same_id_twice_is_pointed_at() -> None:
    assert refused(openai(HELLO, HELLO, HELLO, turn_ids=["a", None, "a"])).pointer == "/turn_ids/2"


def test_turn_id_and_turn_ids_are_two_ways_to_say_it() -> None:
    assert refused(openai(turn_id="a", turn_ids=["a"])).pointer == "/turn_ids"


def test_a_turns_own_id_may_be_repeated_but_not_contradicted() -> None:
    own = {**TURN, "turn_id": "own"}
    assert ids(neutral(own, TURN, turn_ids=["own", "b"])) == ["own", "b"]
    assert ids(neutral(own, TURN, turn_ids=[None, "b"])) == ["own", "b"]
    assert refused(neutral(own, TURN, turn_ids=["other", "b"])).pointer == "/turn_ids/0"
    assert refused(neutral(own, TURN, turn_ids=[None, "own"])).pointer == "/turn_ids/1"
