"""Tools without a description: filtered in conversions as seed 004 says, kept everywhere else."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.formats.registry import CODECS, TARGETS
from app.model.errors import RuleBroken
from tests.formats import family
from tests.http_api import calling, user
from tests.tools.conftest import ToolApi
from tests.tools.shapes import Said, chosen, codes, convert, faults, read, written
from tests.tools.test_accepted_inputs import SCHEMAS

OPENAI_SHAPES = tuple(one for one in TARGETS if CODECS[one].tools.described)
BARE = Said("bare", None, {"type": "object", "properties": {}})
FULL = Said("full", "Says what it does.", {"type": "object", "properties": {}})


def test_all_wires_of_openais_shapes_say_that_a_definition_is_described() -> None:
    chat = {one for one in TARGETS if family(one) == "chat"}
    assert set(OPENAI_SHAPES) == chat | {"openai-responses"}


@pytest.mark.parametrize("source", OPENAI_SHAPES)
def test_a_conversion_leaves_them_out_unless_it_is_told_to_keep_them(source: str) -> None:
    tools = written(source, FULL, BARE)
    plain = convert(source, "anthropic", tools)
    assert [one.name for one in read("anthropic", plain["request"])] == ["full"]
    assert plain["dropped"] == [
        {"index": 1, "name": "bare", "reason": "the tool has no description"}
    ]
    assert convert(source, "anthropic", tools, description="filter") == plain
    kept = convert(source, "anthropic", tools, description="keep")
    assert [one.name for one in read("anthropic", kept["request"])] == ["full", "bare"]
    assert (kept["dropped"], codes(kept)) == ([], ["DESCRIPTION_MISSING"])


def test_shapes_without_the_rule_lose_nothing_and_need_no_note() -> None:
    answer = convert("anthropic", "openai", written("anthropic", BARE))
    assert (answer["dropped"], codes(answer)) == ([], [])


@pytest.mark.parametrize("value", ["always", True, 0, []])
def test_the_option_is_one_of_two_words(value: Any) -> None:
    with pytest.raises(RuleBroken) as caught:
        convert("openai", "anthropic", written("openai", BARE), description=value)
    assert caught.value.pointer == "/description"


def test_with_strict_the_whole_conversion_is_refused() -> None:
    with pytest.raises(RuleBroken) as caught:
        convert("openai", "anthropic", written("openai", FULL, BARE), strict=True)
    assert caught.value.pointer == "/tools/1"


@pytest.mark.parametrize("source", OPENAI_SHAPES)
def test_put_keeps_them_with_a_note(shared: ToolApi, source: str) -> None:
    answer = shared.put(source, written(source, FULL, BARE), strict=True).json()
    assert (answer["tools"], answer["dropped"]) == (2, [])
    assert [(note["code"], note["tool"]) for note in answer["notes"]] == [
        ("DESCRIPTION_MISSING", "bare")
    ]


@pytest.mark.parametrize("description", ["", None])
def test_a_description_without_words_is_none(shared: ToolApi, description: Any) -> None:
    function = {"name": "f", "description": description}
    shared.put("openai", [{"type": "function", "function": function}])
    for target in TARGETS:
        request = shared.get("tools", provider=target).json()["request"]
        assert faults(target, request) == []
        assert [one.description for one in read(target, request)] == [None]


def test_a_description_that_is_no_text_is_still_refused(shared: ToolApi) -> None:
    function = {"name": "f", "description": 7}
    answer = shared.put("openai", [{"type": "function", "function": function}]).json()
    assert [one["name"] for one in answer["dropped"]] == ["f"]


def test_tools_that_ride_along_are_kept_and_replayed_with_a_note(api: ToolApi) -> None:
    receipt = api.post(user("hi"), tools=written("openai", FULL, BARE)).json()
    assert [(note["code"], note["turn_id"]) for note in receipt["notes"]] == [
        ("DESCRIPTION_MISSING", None)
    ]
    for target in TARGETS:
        replay = api.replay(target)
        assert [one.name for one in read(target, replay["request"])] == ["full", "bare"]
        assert "DESCRIPTION_MISSING" in [repair["code"] for repair in replay["repairs"]]


def put_back(api: ToolApi, target: str, request: dict[str, Any], **beside: Any) -> Any:
    members = {key: request[key] for key in CODECS[target].tools.members if key in request}
    done = api.send("PUT", "conversations/c1/tools", {"provider": target, **members, **beside})
    assert done.status_code == 200, done.text
    return done.json()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(TARGETS),
    st.sampled_from(TARGETS),
    st.lists(st.tuples(st.sampled_from([None, "Reads."]), SCHEMAS), min_size=1, max_size=3),
    st.sampled_from(["auto", "any", "named", None]),
)
def test_what_a_target_was_shown_can_be_put_back_and_is_shown_the_same(
    shared: ToolApi,
    source: str,
    target: str,
    said: list[tuple[str | None, dict[str, Any]]],
    kind: str | None,
) -> None:
    tools = [Said(f"t{n}", about, schema) for n, (about, schema) in enumerate(said)]
    choice = {} if kind is None else {"tool_choice": chosen(source, kind, "t0")}
    assert shared.put(source, written(source, *tools), **choice).status_code == 200
    shown = shared.get("tools", provider=target).json()["request"]
    assert put_back(shared, target, shown)["dropped"] == []
    assert shared.get("tools", provider=target).json()["request"] == shown


@pytest.mark.parametrize("target", TARGETS)
def test_the_stubs_of_a_replay_can_be_put_back(api: ToolApi, target: str) -> None:
    api.post(user("hi"), calling(("c1", "read", "{}")))
    request = api.request(target)
    if any(key in request for key in CODECS[target].tools.members):
        assert put_back(api, target, request)["dropped"] == []
        assert api.request(target) == request
