"""The envelope of a POST: which codec reads it, which rules hold, where a complaint points."""

import json
from typing import Any

import pytest

from app.formats.registry import CODECS
from app.jsontext.reading import loads_object
from app.model.conversation import Draft
from app.model.errors import LimitExceeded, RuleBroken, UnknownProvider
from app.model.limits import Limits
from app.turns.posting import Post, read_post

HELLO = {"role": "user", "content": "hello"}
TURN = {"speaker": "human", "blocks": [{"type": "text", "text": "hello"}]}
CALL = {"type": "tool_call", "id": "x", "name": "f", "parameters": {}}
RESULT = {"type": "tool_result", "call_id": "x", "result": "r"}
TOOL_USE = {"type": "tool_use", "id": "x", "name": "f", "input": {}}


def post(body: dict[str, Any], limits: Limits | None = None) -> Post:
    limits = limits or Limits()
    return read_post(*loads_object(json.dumps(body), limits), limits)


def openai(*messages: Any, **envelope: Any) -> dict[str, Any]:
    return {"provider": "openai", "messages": list(messages or [HELLO]), **envelope}


def neutral(*turns: Any, **envelope: Any) -> dict[str, Any]:
    return {"provider": "neutral", "turns": list(turns or [TURN]), **envelope}


def drafts(body: dict[str, Any], limits: Limits | None = None) -> tuple[Draft, ...]:
    return post(body, limits).drafts


def refused(body: dict[str, Any], limits: Limits | None = None) -> RuleBroken:
    with pytest.raises(RuleBroken) as caught:
        post(body, limits)
    return caught.value


# Provider and format.


@pytest.mark.parametrize("provider", CODECS)
def test_a_known_provider_is_its_own_format(provider: str) -> None:
    with pytest.raises(RuleBroken) as caught:
        post({"provider": provider})
    assert caught.value.pointer != "/provider"


def test_an_unknown_provider_needs_a_format() -> None:
    error = refused({"provider": "acme", "messages": [HELLO]})
    assert isinstance(error, UnknownProvider)
    assert error.pointer == "/provider"


def test_an_unknown_provider_with_a_format_is_welcome() -> None:
    done = post({"provider": "acme", "format": "openai", "messages": [HELLO]})
    assert (done.drafts[0].format, done.drafts[0].provider) == ("openai", "acme")


def test_a_format_wins_over_the_providers_own() -> None:
    done = post(neutral(format="neutral", provider="openai"))
    assert (done.drafts[0].format, done.drafts[0].provider) == ("neutral", "openai")


def test_an_unknown_format_is_refused() -> None:
    error = refused(openai(format="carrier-pigeon"))
    assert isinstance(error, UnknownProvider)
    assert error.pointer == "/format"


@pytest.mark.parametrize("provider", [None, 5, "", " ", "a b", "ä", "x" * 65, "-x", "a\n", ["a"]])
def test_a_provider_has_a_name_of_a_certain_form(provider: Any) -> None:
    assert refused(openai(provider=provider)).pointer == "/provider"


@pytest.mark.parametrize("provider", ["a", "x" * 64, "my.org/model:v1", "7", "A_b-c"])
def test_a_provider_may_have_such_a_name(provider: str) -> None:
    assert drafts(openai(provider=provider, format="openai"))[0].provider == provider


@pytest.mark.parametrize("key", ["format", "model", "turn_id"])
@pytest.mark.parametrize("value", [5, [], {}, True])
def test_members_of_the_envelope_are_texts(key: str, value: Any) -> None:
    assert refused(openai(**{key: value})).pointer == f"/{key}"


# Members.


@pytest.mark.parametrize("key", ["message", "Messages", "functions", ""])
def test_an_unknown_member_is_refused_by_name(key: str) -> None:
    error = refused(openai(**{key: 1}))
    assert error.pointer == f"/{key}"
    assert "Known: `provider`, `format`, `model`, `turn_id`, `turn_ids`, `metadata`" in error.detail


def test_a_member_of_another_wire_is_unknown_here() -> None:
    assert refused(openai(system="s")).pointer == "/system"


@pytest.mark.parametrize("messages", [None, {}, "hello", 5, []])
def test_messages_are_a_list_that_is_not_empty(messages: Any) -> None:
    assert refused({"provider": "openai", "messages": messages}).pointer == "/messages"


def test_messages_have_to_be_given() -> None:
    assert refused({"provider": "openai"}).pointer == "/messages"


def test_two_lists_of_turns_are_refused_rather_than_one_forgotten() -> None:
    assert refused(neutral(messages=[TURN])).pointer in ("/turns", "/messages")


@pytest.mark.parametrize(
    ("provider", "one", "other"),
    [("gemini", "contents", "messages"), ("openai-responses", "input", "messages")],
)
def test_two_lists_of_messages_are_refused_on_every_wire(
    provider: str, one: str, other: str
) -> None:
    message = {"role": "user", "parts": [{"text": "a"}], "content": "a"}
    assert refused({"provider": provider, one: [message], other: [message]}).pointer is not None


# Model and metadata.


def test_model_and_metadata_go_to_every_turn() -> None:
    made = drafts(openai(HELLO, HELLO, model="m", metadata={"a": 1}))
    assert [(one.model, one.metadata) for one in made] == [("m", {"a": 1})] * 2


def test_a_turn_of_the_neutral_form_may_have_its_own() -> None:
    turn = {**TURN, "provider": "kimi", "model": "k2", "metadata": {"a": 2, "b": 3}}
    (made,) = drafts(neutral(turn, model="m", metadata={"a": 1, "c": 4}))
    assert (made.provider, made.model) == ("kimi", "k2")
    assert made.metadata == {"a": 2, "b": 3, "c": 4}


def test_no_metadata_is_an_empty_object() -> None:
    assert drafts(openai())[0].metadata == {}
    assert drafts(openai(metadata=None))[0].metadata == {}


@pytest.mark.parametrize("metadata", ["x", 5, [1], True, [], "", 0, False])
def test_metadata_is_an_object(metadata: Any) -> None:
    assert refused(openai(metadata=metadata)).pointer == "/metadata"
    assert refused(neutral({**TURN, "metadata": metadata})).pointer == "/turns/0/metadata"


def test_the_provider_of_a_turn_has_a_name_of_the_same_form() -> None:
    assert refused(neutral({**TURN, "provider": "a b"})).pointer == "/turns/0/provider"


# Turn ids.


def test_a_turn_id_names_the_one_turn() -> None:
    assert drafts(openai(turn_id="t-17"))[0].turn_id == "t-17"


def test_a_turn_id_for_several_turns_is_refused() -> None:
    assert refused(openai(HELLO, HELLO, turn_id="t-17")).pointer == "/turn_id"


def test_a_system_text_beside_the_messages_is_a_turn_too() -> None:
    body = {"provider": "anthropic", "system": "s", "messages": [HELLO], "turn_id": "t"}
    assert refused(body).pointer == "/turn_id"


@pytest.mark.parametrize("turn_id", ["", "a b", "ä", "x" * 129, "a~", "a\n"])
def test_a_turn_id_of_another_form_is_refused(turn_id: str) -> None:
    assert refused(openai(turn_id=turn_id)).pointer == "/turn_id"
    assert refused(neutral({**TURN, "turn_id": turn_id})).pointer == "/turns/0/turn_id"


def test_the_envelopes_turn_id_wins_over_the_turns_own() -> None:
    assert drafts(neutral({**TURN, "turn_id": "own"}, turn_id="t"))[0].turn_id == "t"


def test_one_turn_id_on_two_turns_is_refused() -> None:
    one = {**TURN, "turn_id": "same"}
    assert refused(neutral(one, TURN, one)).pointer == "/turns/2/turn_id"


def test_many_turns_without_ids_are_no_duplicates() -> None:
    assert [one.turn_id for one in drafts(neutral(TURN, TURN))] == [None, None]


# Who may say what.


@pytest.mark.parametrize("speaker", ["human", "tool", "system"])
def test_only_the_model_makes_calls(speaker: str) -> None:
    error = refused(neutral(TURN, {"speaker": speaker, "blocks": [CALL]}))
    assert "ai" in error.detail
    assert error.pointer == "/turns/1"


def test_a_user_of_anthropic_makes_no_calls() -> None:
    body = {"provider": "anthropic", "messages": [{"role": "user", "content": [TOOL_USE]}]}
    assert refused(body).pointer == "/messages/0"


@pytest.mark.parametrize("speaker", ["system", "note"])
def test_the_system_and_notes_give_no_results(speaker: str) -> None:
    assert refused(neutral({"speaker": speaker, "blocks": [RESULT]})).pointer == "/turns/0"


def test_only_notes_hold_no_thinking() -> None:
    """Mistral's prompts for reasoning models show how to think."""
    thinking = {"type": "thinking", "text": "hm"}
    assert refused(neutral({"speaker": "note", "blocks": [thinking]})).pointer == "/turns/0"
    assert len(drafts(neutral({"speaker": "system", "blocks": [thinking]}))) == 1


@pytest.mark.parametrize("speaker", ["human", "tool", "ai"])
def test_anybody_else_may_give_results(speaker: str) -> None:
    assert len(drafts(neutral({"speaker": speaker, "blocks": [RESULT]}))) == 1


# Limits, each by its name; a value equal to the limit passes.


def test_too_many_turns_are_refused_by_name() -> None:
    limits = Limits(turns=2)
    assert len(drafts(openai(HELLO, HELLO), limits)) == 2
    error = refused(openai(HELLO, HELLO, HELLO), limits)
    assert error.facts == {"pointer": "/messages", "limit": "turns", "most": 2}


def test_too_many_blocks_are_refused_by_name() -> None:
    limits = Limits(blocks=2)
    text = TURN["blocks"][0]
    assert drafts(neutral({"speaker": "human", "blocks": [text] * 2}), limits)
    error = refused(neutral(TURN, {"speaker": "human", "blocks": [text] * 3}), limits)
    assert error.facts == {"pointer": "/turns/1", "limit": "blocks", "most": 2}


@pytest.mark.parametrize("speaker", ["ai", "tool"])
def test_a_raw_id_that_is_too_long_is_refused_by_name(speaker: str) -> None:
    def turn(raw_id: str) -> dict[str, Any]:
        block = {**CALL, "id": raw_id} if speaker == "ai" else {**RESULT, "call_id": raw_id}
        return {"speaker": speaker, "blocks": [block]}

    limits = Limits(raw_id_bytes=4)
    assert drafts(neutral(turn("ää")), limits)
    error = refused(neutral(turn("äää")), limits)
    assert error.facts == {"pointer": "/turns/0", "limit": "raw_id_bytes", "most": 4}


def test_lone_surrogates_in_a_raw_id_are_counted_as_bytes() -> None:
    turn = {"speaker": "ai", "blocks": [{**CALL, "id": "\ud800"}]}
    assert drafts(neutral(turn), Limits(raw_id_bytes=3))
    assert isinstance(refused(neutral(turn), Limits(raw_id_bytes=2)), LimitExceeded)


# What is kept of the posted text.


def test_each_turn_keeps_the_very_text_it_was_posted_as() -> None:
    first, second = '{"role":  "user", "content": "\\u0041 1.10"}', '{"content":null,"role":"user"}'
    text = f'{{"provider": "openai", "messages": [ {first} ,\n{second}]}}'
    made = read_post(*loads_object(text, Limits()), Limits()).drafts
    assert [one.payload for one in made] == [first, second]


@pytest.mark.parametrize("system", ['"s"', '[{"type": "text",  "text": "s"}]'])
def test_a_system_text_keeps_its_very_text(system: str) -> None:
    text = f'{{"provider":"anthropic","system":{system},"messages":[{json.dumps(HELLO)}]}}'
    made = read_post(*loads_object(text, Limits()), Limits()).drafts
    assert [one.payload for one in made] == [system, json.dumps(HELLO)]


# Pointers name the body as it was posted.


@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        ("hello", "/messages/0"),
        ({}, "/messages/0/role"),
        ({"role": "narrator"}, "/messages/0/role"),
        ({"role": "user", "content": 5}, "/messages/0/content"),
        ({"role": "user", "content": ["x"]}, "/messages/0/content/0"),
        ({"role": "user", "content": [{}]}, "/messages/0/content/0/type"),
        ({"role": "user", "content": [{"type": "text"}]}, "/messages/0/content/0/text"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
            "/messages/0/content/0/image_url/url",
        ),
        (
            {"role": "user", "content": [{"type": "file"}]},
            "/messages/0/content/0/file",
        ),
        ({"role": "assistant", "tool_calls": {}}, "/messages/0/tool_calls"),
        ({"role": "assistant", "tool_calls": [5]}, "/messages/0/tool_calls/0"),
        ({"role": "assistant", "tool_calls": [{}]}, "/messages/0/tool_calls/0/function"),
        (
            {"role": "assistant", "tool_calls": [{"id": 5, "function": {}}]},
            "/messages/0/tool_calls/0/id",
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": 5}}]},
            "/messages/0/tool_calls/0/function/name",
        ),
        (
            {"role": "assistant", "tool_calls": [{"type": "custom", "custom": {"name": 5}}]},
            "/messages/0/tool_calls/0/custom/name",
        ),
        (
            {"role": "assistant", "function_call": {"name": 5}},
            "/messages/0/function_call/name",
        ),
        ({"role": "tool", "tool_call_id": 5}, "/messages/0/tool_call_id"),
    ],
)
def test_a_complaint_about_a_chat_message_points_to_its_place(message: Any, pointer: str) -> None:
    assert refused(openai(message)).pointer == pointer


@pytest.mark.parametrize(
    ("turn", "pointer"),
    [
        (5, "0"),
        ({"blocks": []}, "0/speaker"),
        ({"speaker": "narrator", "blocks": []}, "0/speaker"),
        ({"speaker": "human"}, "0/blocks"),
        ({"speaker": "human", "blocks": {}}, "0/blocks"),
        ({"speaker": "human", "blocks": [{"type": "text"}]}, "0/blocks/0/text"),
        ({"speaker": "human", "blocks": [], "model": 5}, "0/model"),
        ({"speaker": "human", "blocks": [CALL]}, "0"),
    ],
)
@pytest.mark.parametrize("key", ["messages", "turns"])
def test_a_complaint_about_a_neutral_turn_points_to_its_place(
    key: str, turn: Any, pointer: str
) -> None:
    assert refused({"provider": "neutral", key: [turn]}).pointer == f"/{key}/{pointer}"


def test_a_system_text_beside_the_messages_moves_no_pointer() -> None:
    messages = [{"role": "user", "content": [TOOL_USE]}]
    body = {"provider": "anthropic", "system": "s", "messages": messages}
    assert refused(body).pointer == "/messages/0"


def test_a_complaint_about_the_system_text_points_to_it() -> None:
    body = {"provider": "anthropic", "system": [TOOL_USE], "messages": [HELLO]}
    assert refused(body).pointer == "/system"


def test_items_that_become_one_turn_move_no_pointer() -> None:
    call = {"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "x" * 9, "output": "r"}
    body = {"provider": "openai-responses", "input": [call, call, output]}
    assert refused(body, Limits(raw_id_bytes=8)).pointer == "/input/2"


def test_an_error_never_quotes_what_was_said() -> None:
    error = refused(openai({"role": "user", "content": [{"type": "text", "text": 5}]}, HELLO))
    assert "hello" not in error.detail


# The short form of a neutral turn.


def test_a_text_is_short_for_a_block_of_text() -> None:
    short, long = drafts(neutral({"speaker": "human", "text": "hello"}, TURN))
    assert short.blocks == long.blocks
    assert short.notes == ()
    assert json.loads(short.payload) == {"speaker": "human", "text": "hello"}


def test_text_and_blocks_are_two_ways_to_say_it() -> None:
    error = refused(neutral({**TURN, "text": "hello"}))
    assert error.pointer == "/turns/0/text"
    assert "`text` and `blocks`" in error.detail


@pytest.mark.parametrize("value", [5, ["hello"], {"text": "hello"}, True])
def test_the_short_form_is_a_string(value: Any) -> None:
    assert refused(neutral({"speaker": "human", "text": value})).pointer == "/turns/0/text"


def test_null_is_no_text() -> None:
    assert drafts(neutral({**TURN, "text": None}))[0].blocks == drafts(neutral())[0].blocks
    assert refused(neutral({"speaker": "human", "text": None})).pointer == "/turns/0/blocks"


def test_a_response_that_is_null_says_nothing() -> None:
    assert len(drafts(openai(response=None))) == 1
    body = {"provider": "openai", "response": None}
    assert refused(body).detail == "`messages` or `response` is required."
