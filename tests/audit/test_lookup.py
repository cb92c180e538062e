"""`GET /v1/tool-calls/lookup`: where any id is known, the newest first."""

from typing import Any

import pytest

from app.audit.excerpts import SHOWN
from tests.http_api import Api, answering, calling, user
from tests.turns.test_streams import CUT, RESPONSE, WHOLE, respond, stream
from tests.turns.test_usage import CHAT


def lookup(api: Api, any_id: str, **params: Any) -> Any:
    answer = api.http.get("/v1/tool-calls/lookup", params={"id": any_id, **params})
    assert answer.status_code == 200, answer.text
    return answer.json()


def known(api: Api, any_id: str) -> list[tuple[str, str, int]]:
    found = lookup(api, any_id)["data"]
    return [(one["conversation_id"], one["kind"], one["seq"]) for one in found]


def test_any_id_of_a_call_is_found_wherever_it_is_known(api: Api) -> None:
    api.post(calling(("call_0", "f", '{"a": 1}')), cid="c1")
    api.post(calling(("call_0", "f", "{}")), cid="c2")
    api.post(answering("call_0", "one"), cid="c1")
    second, first = lookup(api, "call_0")["data"]
    assert (second["conversation_id"], second["kind"]) == ("c2", "raw")
    assert (first["conversation_id"], first["kind"]) == ("c1", "raw")
    assert (first["parameters"], first["result"]["result"]) == ({"a": 1}, "one")
    assert (first["state"], second["state"]) == ("answered", "open")
    for target, shown in first["ids"].items():
        kind = "canonical" if shown == first["id"] else "provider_id"
        assert ("c1", kind, 1) in known(api, shown), target


def test_a_call_that_two_names_find_comes_once_under_the_stronger_one(api: Api) -> None:
    api.post(calling(("functions.read:0", "read", "{}")), provider="kimi")
    assert known(api, "functions.read:0") == [("c1", "raw", 1)]


def test_an_unknown_id_is_found_nowhere(api: Api) -> None:
    api.post(user("x"), calling((None, "f", "{}")))
    for any_id in ("x", "\x00", "hist_tool_" + "a" * 24, "call_" + "a" * 24, "a" * 60_000):
        empty = {"data": [], "has_more": False, "next_cursor": None}
        assert api.http.get("/v1/tool-calls/lookup", params={"id": any_id[:5000]}).json() == empty
    assert api.http.get("/v1/tool-calls/lookup").status_code == 422


def test_an_orphan_result_is_found_until_its_call_comes(api: Api) -> None:
    api.post(answering("lost", "x" * (SHOWN + 1)))
    [orphan] = lookup(api, "lost")["data"]
    assert (orphan["kind"], orphan["conversation_id"], orphan["seq"]) == ("orphan_result", "c1", 1)
    assert (orphan["matched_by"], orphan["status"], orphan["raw_id"]) == ("none", "ok", "lost")
    assert (len(orphan["text"]), orphan["size"], orphan["cut"]) == (SHOWN, SHOWN + 1, True)
    api.post(calling(("lost", "f", "{}")))
    assert known(api, "lost") == [("c1", "raw", 2)]


def test_a_response_is_found_by_its_id_and_a_turn_by_its_own(api: Api) -> None:
    api.post(user("hi"), turn_id="t-1")
    respond(api, turn_id="t-2")
    body = {"provider": "openai", "response": CHAT, "turn_id": "t-3"}
    api.http.post("/v1/conversations/c2/turns", json=body)
    [found] = lookup(api, "msg_1")["data"]
    assert (found["kind"], found["turn_id"], found["seq"]) == ("response", "t-2", 2)
    assert (found["speaker"], found["provider"]) == ("ai", "anthropic")
    assert known(api, "chatcmpl-1") == [("c2", "response", 1)]
    [turn] = lookup(api, "t-1")["data"]
    assert (turn["kind"], turn["speaker"], turn["model"]) == ("turn", "human", None)
    [listed] = [one for one in api.get("turns").json()["data"] if one["turn_id"] == "t-1"]
    assert turn["created_at"] == listed["created_at"]


def test_both_responses_of_a_completed_turn_are_found(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="s1")
    respond(api, RESPONSE | {"id": "msg_2", "model": "claude-other"}, turn_id="s1")
    [first], [second] = lookup(api, "msg_1")["data"], lookup(api, "msg_2")["data"]
    assert (first["status"], second["status"]) == ("interrupted", "complete")
    assert (first["turn_id"], second["turn_id"]) == ("s1", "s1")
    assert (second["model"], first["created_at"] < second["created_at"]) == ("claude-other", True)
    assert lookup(api, "s1")["data"][0]["status"] == "complete"


def test_a_lookup_pages_through_all_kinds_from_the_newest(api: Api) -> None:
    for number in range(3):
        cid = f"c{number}"
        api.post(calling(("same", "f", "{}"), ("same", "g", "{}")), cid=cid, turn_id="same")
        api.post(answering("same", "1"), answering("same", "2"), cid=cid)
        respond(api, RESPONSE | {"id": "same"}, turn_id=None)
    api.post(answering("same", "lost"), cid="c9")
    whole = lookup(api, "same")
    assert (len(whole["data"]), whole["has_more"], whole["next_cursor"]) == (13, False, None)
    times = [one["created_at"] for one in whole["data"]]
    assert times == sorted(times, reverse=True)
    paged: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = lookup(api, "same", limit=2, **cursor)
        paged += page["data"]
        if not page["has_more"]:
            break
        assert len(page["data"]) == 2
        cursor = {"cursor": page["next_cursor"]}
    assert paged == whole["data"]


@pytest.mark.parametrize("cursor", ["", "1", "1.2.3", "x.1.1.1.c1", "1.1.1.1.", "1.1.1.1.a/b"])
def test_a_cursor_that_no_page_gave_is_refused(lite: Api, cursor: str) -> None:
    params = {"id": "x", "cursor": cursor}
    refused = lite.http.get("/v1/tool-calls/lookup", params=params)
    assert (refused.status_code, refused.json()["pointer"]) == (422, "?cursor")


def test_what_was_erased_is_found_no_more(api: Api) -> None:
    respond(api, turn_id="t-1")
    api.http.delete("/v1/conversations/c1")
    for any_id in ("msg_1", "t-1", "toolu_weather"):
        assert lookup(api, any_id)["data"] == []
