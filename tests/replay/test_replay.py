import hashlib
import json
import sqlite3
from contextlib import closing

import pytest

from app.formats.registry import CODECS, TARGETS
from tests.http_api import Api, answering, calling, user


def tell_a_story(api: Api) -> None:
    api.post(user("look"), calling(("a", "read", '{"p": 1}'), ("b", "read", '{"p": 2}')))
    api.post(answering("b", "two"), answering("a", "one"))
    api.post({"role": "assistant", "content": "done"}, user("thanks"))


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_served(lite: Api, target: str) -> None:
    tell_a_story(lite)
    answer = lite.replay(target)
    assert (answer["provider"], answer["version"]) == (target, 6)
    assert len(answer["request"][CODECS[target].messages]) == answer["prefix"]["messages"]


def test_an_unknown_target_lists_the_known_ones(lite: Api) -> None:
    tell_a_story(lite)
    refused = lite.get("replay", provider="eliza")
    assert refused.status_code == 422
    assert refused.json()["known"] == list(TARGETS)


def test_a_missing_or_odd_option_is_named(lite: Api) -> None:
    tell_a_story(lite)
    for params in ({}, {"provider": "openai", "last": "0"}, {"provider": "openai", "tools": "x"}):
        refused = lite.http.get("/v1/conversations/c1/replay", params=params)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid")


def test_a_known_tag_saves_the_render(api: Api) -> None:
    tell_a_story(api)
    first = api.get("replay", provider="openai")
    tag = first.headers["etag"]
    again = api.get("replay", provider="openai", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert api.get("replay", provider="anthropic").headers["etag"] != tag
    api.post(user("more"))
    moved_on = api.get("replay", provider="openai", headers={"If-None-Match": tag})
    assert moved_on.status_code == 200


def test_a_conversation_made_again_has_other_tags(api: Api) -> None:
    api.post(user("a"))
    tag = api.get("replay", provider="openai").headers["etag"]
    api.http.delete("/v1/conversations/c1")
    api.post(user("b"))
    again = api.get("replay", provider="openai", headers={"If-None-Match": tag})
    assert again.status_code == 200


def test_until_shows_the_history_as_of_then(api: Api) -> None:
    first = api.post(user("go"), calling(("a", "job", "{}"))).json()["turns"][1]["turn_id"]
    before = api.replay("openai")["request"]
    api.post(user("meanwhile"), {"role": "assistant", "content": "hello"}, answering("a", "7 rows"))
    assert api.replay("openai", until=first)["request"] == before
    now = json.dumps(api.replay("openai")["request"])
    assert "7 rows" in now
    assert "outcome unknown" not in now
    assert api.get("replay", provider="openai", until="nope").status_code == 404


def test_until_ends_between_tool_groups(api: Api) -> None:
    posted = api.post(
        user("go"),
        calling(("a", "job", "{}"), ("b", "job", "{}")),
        answering("b", "two"),
        answering("a", "one"),
        {"role": "assistant", "content": "done"},
    ).json()
    names = [turn["turn_id"] for turn in posted["turns"]]
    whole = api.replay("openai")["request"]["messages"]
    shown = {name: api.replay("openai", until=name) for name in names}
    assert [shown[name]["version"] for name in names] == [1, 4, 4, 4, 5]
    for inside in names[1:4]:
        assert shown[inside]["request"]["messages"] == whole[:4]
    aligned = [
        name
        for name in names
        if "WINDOW_ALIGNED" in {repair["code"] for repair in shown[name]["repairs"]}
    ]
    assert aligned == names[1:3]


def test_until_finds_the_end_of_a_long_group(lite: Api) -> None:
    raw_ids = [f"c{number}" for number in range(150)]
    calls = calling(*((raw_id, "job", "{}") for raw_id in raw_ids))
    answers = [answering(raw_id, "ok") for raw_id in raw_ids]
    turns = lite.post(user("go"), calls, *answers, user("on")).json()["turns"]
    for place in (1, 2, 75, 150):
        assert lite.replay("openai", until=turns[place]["turn_id"])["version"] == 152


def test_the_prefix_hash_is_that_of_the_lines_served(lite: Api) -> None:
    tell_a_story(lite)
    raw = lite.get("replay", provider="openai").content
    answer = json.loads(raw)
    lines = [{}, *answer["request"]["messages"]]
    text = "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
    )
    assert answer["prefix"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_since_gives_only_what_is_new(api: Api) -> None:
    tell_a_story(api)
    before = api.replay("openai")
    api.post({"role": "assistant", "content": "bye"})
    new = api.replay("openai", since=before["version"])
    assert new["request"] == {"messages": [{"role": "assistant", "content": "bye"}]}
    assert new["since"]["prefix"] == before["prefix"]
    assert new["since"]["unchanged"] is True
    assert new["prefix"] == api.replay("openai")["prefix"]


def test_since_gives_all_when_the_prefix_changed(api: Api) -> None:
    api.post(user("go"), calling(("a", "job", "{}")))
    before = api.replay("openai")
    api.post(answering("a", "late"))
    new = api.replay("openai", since=before["version"])
    assert new["since"]["unchanged"] is False
    assert new["request"] == api.replay("openai")["request"]
    assert api.get("replay", provider="openai", since=99).status_code == 422


def test_a_history_that_ended_with_the_assistant_is_a_prefix_of_the_next_one(api: Api) -> None:
    api.post(user("go"), {"role": "assistant", "content": "gone"})
    before = api.replay("mistral")
    assert before["request"]["messages"][-1] == {"role": "assistant", "content": "gone"}
    api.post(user("and back"))
    new = api.replay("mistral", since=before["version"])
    assert new["since"] == {"version": 2, "prefix": before["prefix"], "unchanged": True}
    assert new["request"] == {"messages": [user("and back")]}


def test_ready_adds_what_the_wire_needs_and_names_it(api: Api) -> None:
    api.post(user("go"), {"role": "assistant", "content": "gone"})
    mistral = api.replay("mistral", ready="true")
    assert mistral["request"]["messages"][-1]["prefix"] is True
    assert [repair["code"] for repair in mistral["repairs"]] == ["MARKED_AS_PREFIX"]
    anthropic = api.replay("anthropic", ready="true")
    assert anthropic["request"]["messages"][-1] == user("[turnkeep] The conversation goes on here.")
    assert anthropic["prefix"]["messages"] == 3
    assert [repair["code"] for repair in anthropic["repairs"]] == ["BRIDGE_USER"]
    assert api.replay("openai", ready="true") == api.replay("openai")


def test_what_made_a_request_ready_is_gone_from_the_next_one(api: Api) -> None:
    api.post(user("go"), {"role": "assistant", "content": "gone"})
    before = api.replay("anthropic", ready="true")
    api.post(user("and back"))
    new = api.replay("anthropic", ready="true", since=before["version"])
    assert (new["since"]["prefix"], new["since"]["unchanged"]) == (before["prefix"], False)
    assert new["request"] == api.replay("anthropic")["request"]


def test_a_ready_request_has_a_tag_of_its_own(lite: Api) -> None:
    tell_a_story(lite)
    tag = lite.get("replay", provider="mistral").headers["etag"]
    assert lite.get("replay", provider="mistral", ready="true").headers["etag"] != tag


def test_stored_turns_are_nothing_to_be_sent(lite: Api) -> None:
    tell_a_story(lite)
    refused = lite.get("replay", provider="neutral", ready="true")
    assert (refused.status_code, refused.json()["pointer"]) == (422, "?ready")
    assert lite.get("replay", provider="neutral", ready="false").status_code == 200
    assert lite.get("replay", provider="openai", ready="perhaps").status_code == 422


def test_an_empty_conversation_is_told_as_empty(lite: Api) -> None:
    lite.http.post("/v1/conversations", json={"id": "c1"})
    answer = lite.replay("anthropic")
    assert answer["request"] == {"messages": []}
    assert [repair["code"] for repair in answer["repairs"]] == ["EMPTY_HISTORY"]


def test_an_absent_conversation_is_not_found(lite: Api) -> None:
    assert lite.get("replay", provider="openai").json()["code"] == "conversation_not_found"


def test_a_replay_writes_nothing(api: Api) -> None:
    tell_a_story(api)
    before = api.get("tool-calls").content
    for target in TARGETS:
        api.replay(target)
    assert api.get("tool-calls").content == before
    assert api.get("verify").json()["ok"]


def test_the_neutral_form_can_be_posted_again_with_the_same_ids(api: Api) -> None:
    tell_a_story(api)
    exported = api.replay("neutral")["request"]
    body = {"provider": "neutral", **exported}
    assert api.http.post("/v1/conversations/c2/turns", json=body).status_code == 201
    for target in TARGETS:
        again = api.get("replay", cid="c2", provider=target).json()
        assert again["request"] == api.replay(target)["request"], target


def test_since_notices_that_the_tools_changed(api: Api) -> None:
    tell_a_story(api)
    before = api.replay("openai")
    api.post(user("more"))
    tool = {"name": "read", "description": "reads", "input_schema": {"type": "object"}}
    body = {"provider": "anthropic", "tools": [tool]}
    assert api.http.put("/v1/conversations/c1/tools", json=body).status_code == 200
    new = api.replay("openai", since=before["version"])
    assert new["since"]["unchanged"] is False
    assert new["request"]["tools"]


@pytest.mark.parametrize("name", ["last", "max_tokens", "since"])
def test_a_number_that_no_database_holds_is_refused(api: Api, name: str) -> None:
    api.post(user("hello"))
    path = "/v1/conversations/c1/replay"
    answer = api.http.get(path, params={"provider": "openai", name: 10**20})
    assert answer.status_code == 422
    assert answer.json()["pointer"] == f"?{name}"
    assert f" to {2**62}, not '1{'0' * 20}'." in answer.json()["detail"]
    most = api.http.get(path, params={"provider": "openai", name: 2**62})
    # There is no such version yet.
    assert most.status_code == (422 if name == "since" else 200)


def test_a_repair_names_a_long_kind_by_its_beginning(lite: Api) -> None:
    blocks = [{"type": "kind" * 10_000, "x": 1}]
    lite.post({"role": "user", "content": blocks}, provider="anthropic")
    told = next(one for one in lite.replay("openai")["repairs"] if one["code"] == "BLOCK_OMITTED")
    assert told["detail"] == f"a {'kind' * 16}… block goes back to its issuer only"


def test_one_damaged_result_behind_a_kept_render_does_not_take_the_others_along(
    lite: Api, sqlite_database_url: str
) -> None:
    lite.post(user("look"), calling(("a", "read", "{}"), ("b", "read", "{}")))
    lite.replay("openai")
    lite.post(answering("a", "one"), answering("b", "two"), user("thanks"))
    with closing(sqlite3.connect(sqlite_database_url.removeprefix("sqlite:///"))) as connection:
        damage = "UPDATE tool_results SET call_id = CAST(call_id AS BLOB) WHERE seq = 3"
        assert connection.execute(damage).rowcount == 1
        connection.commit()
    assert "two" in json.dumps(lite.replay("openai")["request"])
