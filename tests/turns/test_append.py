import json
from typing import Any

import pytest

from tests.http_api import Api, answering, calling, user

JSON = {"content-type": "application/json"}


def test_posting_creates_the_conversation_and_numbers_turns_without_gap(api: Api) -> None:
    first = api.post(user("a"), user("b")).json()
    second = api.post(user("c")).json()
    assert [turn["seq"] for turn in first["turns"] + second["turns"]] == [1, 2, 3]
    assert second["version"] == 3


def test_turn_ids_and_canonical_ids_follow_the_recipe(api: Api) -> None:
    turn = api.post(calling(("call_abc123", "read_file", "{}")), turn_id="turn-1").json()["turns"][
        0
    ]
    assert turn["turn_id"] == "turn-1"
    assert turn["tool_calls"][0]["id"] == "hist_tool_CwGJ-4bjB1AzwiitK9edpV3i"


def test_a_call_made_by_kimi_may_be_answered_through_mistral(api: Api) -> None:
    api.post(calling(("functions.read:0", "read", "{}")), provider="kimi")
    shown = api.replay("mistral")["request"]["messages"][1]["tool_calls"][0]["id"]
    matched = api.post(answering(shown, "ok"), provider="mistral").json()["turns"][0]
    assert matched["tool_results"][0]["matched_by"] == "provider_id"
    assert api.replay("anthropic")["request"]["messages"][-1]["content"][0]["content"] == "ok"


def test_a_retry_with_the_same_key_is_stored_once(api: Api) -> None:
    first = api.post(user("pay 5"), headers={"Idempotency-Key": "k1"})
    again = api.post(user("pay 5"), headers={"Idempotency-Key": "k1"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.headers["idempotent-replayed"] == "true"
    assert again.content == first.content
    assert api.get("").json()["version"] == 1


def test_a_key_with_another_body_is_refused(api: Api) -> None:
    api.post(user("pay 5"), headers={"Idempotency-Key": "k1"})
    refused = api.post(user("pay 6"), headers={"Idempotency-Key": "k1"})
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
    assert api.get("").json()["version"] == 1


def test_a_key_counts_in_its_conversation_only(api: Api) -> None:
    for cid in ("c1", "c2"):
        assert api.post(user("x"), cid=cid, headers={"Idempotency-Key": "k"}).status_code == 201


def test_a_failed_request_leaves_its_key_free(api: Api) -> None:
    stale = api.post(user("x"), headers={"Idempotency-Key": "k", "If-Match": '"7"'})
    assert stale.status_code == 412
    assert api.get("").status_code == 404
    assert api.post(user("x"), headers={"Idempotency-Key": "k"}).status_code == 201


def test_a_repeated_turn_id_with_the_same_content_is_answered_again(api: Api) -> None:
    first = api.post(calling(("c", "f", "{}")), turn_id="t1")
    api.post(user("later"))
    again = api.post(calling(("c", "f", "{}")), turn_id="t1")
    assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
    assert again.json() == first.json()
    assert api.get("").json()["version"] == 2


def test_a_repeated_turn_id_with_other_content_is_a_conflict(api: Api) -> None:
    api.post(user("x"), turn_id="t1")
    for change in ({"model": "m"}, {"provider": "kimi"}, {"metadata": {"a": 1}}):
        assert api.post(user("x"), turn_id="t1", **change).json()["code"] == "turn_id_taken"
    assert api.post(user("y"), turn_id="t1").status_code == 409
    assert api.get("").json()["version"] == 1


def test_a_batch_with_one_taken_turn_id_stores_nothing(api: Api) -> None:
    def turn(name: str) -> dict[str, Any]:
        return {"speaker": "human", "turn_id": name, "blocks": [{"type": "text", "text": name}]}

    api.post(turn("t1"), provider="neutral")
    refused = api.post(turn("t2"), turn("t1"), provider="neutral")
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_id_taken")
    assert api.get("").json()["version"] == 1


def test_derived_turn_ids_step_aside_for_imported_ones(api: Api) -> None:
    exported = api.post(user("a"), user("b")).json()["turns"][1]["turn_id"]
    api.http.delete("/v1/conversations/c1")
    api.post(user("b"), turn_id=exported)
    second = api.post(user("c"))
    assert second.status_code == 201
    assert second.json()["turns"][0]["turn_id"] != exported
    assert api.get("verify").json()["ok"]


def test_a_stale_version_is_told_the_current_one(api: Api) -> None:
    assert api.post(user("a"), headers={"If-Match": '"0"'}).status_code == 201
    stale = api.post(user("b"), headers={"If-Match": '"0"'})
    assert (stale.status_code, stale.json()["version"]) == (412, 1)
    assert stale.headers["etag"] == '"1"'
    assert api.post(user("b"), headers={"If-Match": '"1"'}).status_code == 201


@pytest.mark.parametrize("tag", ['"x"', "*", '"1", "2"', "-1"])
def test_a_condition_that_names_no_version_is_refused(lite: Api, tag: str) -> None:
    assert lite.post(user("a"), headers={"If-Match": tag}).status_code == 422


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256])
def test_a_key_that_is_no_key_is_refused(lite: Api, key: str) -> None:
    assert lite.post(user("a"), headers={"Idempotency-Key": key}).status_code == 422


@pytest.mark.parametrize(
    ("body", "status", "code", "pointer"),
    [
        (b"", 400, "not_json", None),
        (b"{", 400, "not_json", None),
        (b"[1]", 400, "not_json", None),
        (b'{"a":1}x', 400, "not_json", None),
        (b'{"a":1,}', 400, "not_json", None),
        (b'{"provider":"openai","messages":["\xff"]}', 400, "not_json", None),
        (b'{"provider":"openai","messages":[NaN]}', 422, "invalid", None),
        (b'{"messages":[]}', 422, "invalid", "/provider"),
        (b'{"provider":5,"messages":[]}', 422, "invalid", "/provider"),
        (b'{"provider":"nobody","messages":[{}]}', 422, "unknown_provider", "/provider"),
        (b'{"provider":"x","format":"y","messages":[{}]}', 422, "unknown_provider", "/format"),
        (b'{"provider":"openai"}', 422, "invalid", "/messages"),
        (b'{"provider":"openai","messages":[]}', 422, "invalid", "/messages"),
        (b'{"provider":"openai","messages":[5]}', 422, "invalid", "/messages/0"),
        (b'{"provider":"openai","messages":[{"role":"x"}]}', 422, "invalid", "/messages/0/role"),
        (b'{"provider":"openai","mesages":[]}', 422, "invalid", "/mesages"),
        (
            b'{"provider":"neutral","messages":[{"speaker":"critic","blocks":[]}]}',
            422,
            "invalid",
            "/messages/0/speaker",
        ),
        (
            b'{"provider":"openai","turn_id":"a","messages":[{"role":"user"},{"role":"user"}]}',
            422,
            "invalid",
            "/turn_id",
        ),
        (
            b'{"provider":"openai","turn_id":"a b","messages":[{"role":"user","content":"x"}]}',
            422,
            "invalid",
            "/turn_id",
        ),
    ],
)
def test_bad_bodies_get_a_clear_problem_and_store_nothing(
    lite: Api, body: bytes, status: int, code: str, pointer: str | None
) -> None:
    answer = lite.http.post("/v1/conversations/c1/turns", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json().get("pointer") == pointer
    assert answer.headers["content-type"] == "application/problem+json"
    assert lite.get("").status_code == 404


def test_one_bad_message_stores_none_of_the_batch(api: Api) -> None:
    assert api.post(user("good"), {"role": "bot"}).status_code == 422
    assert api.get("").status_code == 404


def test_a_body_that_is_not_declared_as_json_is_refused(lite: Api) -> None:
    answer = lite.http.post(
        "/v1/conversations/c1/turns", content=b"{}", headers={"content-type": "text/plain"}
    )
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_what_was_posted_is_read_back_byte_for_byte(api: Api) -> None:
    odd = (
        b'{ "role":"user" ,"content": "a\\u0000\\ud83d \\u00e9 \xc3\xa9",'
        b' "n": [1.0, 1e2, -0, 18446744073709551616] }'
    )
    body = b'{"provider":"openai","messages":[' + odd + b"]}"
    assert (
        api.http.post("/v1/conversations/c1/turns", content=body, headers=JSON).status_code == 201
    )
    turn = api.get("turns", raw=True)
    assert b'"payload":' + odd + b"}" in turn.content
    one = api.get(f"turns/{turn.json()['data'][0]['turn_id']}")
    assert one.content.endswith(b'"payload":' + odd + b"}")
    assert one.json()["blocks"] == [{"type": "text", "text": json.loads(odd)["content"]}]


def test_a_huge_raw_id_is_stored_and_matched(api: Api) -> None:
    raw_id = "call_x__thought__" + "A" * 60_000
    api.post(calling((raw_id, "f", "{}")))
    result = api.post(answering("call_x", "1")).json()["turns"][0]["tool_results"][0]
    assert result["matched_by"] == "normalized"
    found = api.http.get("/v1/tool-calls/lookup", params={"id": raw_id[:50]}).json()
    assert found["data"] == []


def test_turns_page_by_seq(api: Api) -> None:
    api.post(*(user(str(number)) for number in range(5)))
    first = api.get("turns", limit=2).json()
    assert (len(first["data"]), first["has_more"], first["next_cursor"]) == (2, True, "2")
    rest = api.get("turns", after=2).json()
    assert [turn["seq"] for turn in rest["data"]] == [3, 4, 5]
    assert api.get("turns", after=5).json()["data"] == []


def test_turns_page_backward_from_the_newest(api: Api) -> None:
    api.post(*(user(str(number)) for number in range(5)))
    seen = []
    page = api.get("turns", order="desc", limit=2).json()
    while True:
        seen.append([turn["seq"] for turn in page["data"]])
        if not page["has_more"]:
            break
        page = api.get("turns", order="desc", limit=2, before=page["next_cursor"]).json()
    assert (seen, page["next_cursor"]) == ([[5, 4], [3, 2], [1]], None)


def test_turns_between_two_places_page_from_either_end(api: Api) -> None:
    api.post(*(user(str(number)) for number in range(6)))
    for order, first, rest in (("asc", [2, 3], [4, 5]), ("desc", [5, 4], [3, 2])):
        page = api.get("turns", after=1, before=6, limit=2, order=order).json()
        assert ([turn["seq"] for turn in page["data"]], page["has_more"]) == (first, True)
        edge = {"before" if order == "desc" else "after": page["next_cursor"]}
        more = api.get("turns", order=order, limit=2, **{"after": 1, "before": 6, **edge}).json()
        assert ([turn["seq"] for turn in more["data"]], more["has_more"]) == (rest, False)
    assert api.get("turns", before=1).json()["data"] == []
    assert api.get("turns", before=0, order="desc").json()["data"] == []


def test_a_tail_shows_results_under_their_calls(api: Api) -> None:
    api.post(calling(("x", "f", "{}")), user("wait"), answering("x", "1"), user("go on"))
    forward = api.get("turns").json()["data"]
    assert api.get("turns", order="desc").json()["data"] == forward[::-1]
    assert api.get("turns", order="sideways").status_code == 422


def test_an_absent_turn_is_named(api: Api) -> None:
    api.post(user("x"))
    absent = api.get("turns/nope")
    assert (absent.status_code, absent.json()["code"]) == (404, "turn_not_found")


def test_a_key_on_a_repeated_turn_is_answered_the_same_for_ever(api: Api) -> None:
    api.post(user("x"), turn_id="t1")
    first, *others = (
        api.post(user("x"), turn_id="t1", headers={"Idempotency-Key": "k"}) for _ in range(3)
    )
    assert first.status_code == 200
    assert {(one.status_code, one.content) for one in others} == {(200, first.content)}


def test_a_retry_of_a_conditional_append_is_answered_again(api: Api) -> None:
    first = api.post(user("x"), turn_id="t1", headers={"If-Match": '"0"'})
    again = api.post(user("x"), turn_id="t1", headers={"If-Match": '"0"'})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()


def test_a_history_posted_again_with_more_says_which_part_is_stored(api: Api) -> None:
    def turn(name: str, text: str = "x") -> dict[str, Any]:
        return {"speaker": "human", "turn_id": name, "blocks": [{"type": "text", "text": text}]}

    api.post(turn("a"), turn("b"), provider="neutral")
    more = api.post(turn("a"), turn("b"), turn("c"), provider="neutral").json()
    assert (more["turn_ids"], "stored already" in more["detail"]) == (["a", "b"], True)
    other = api.post(turn("a", "y"), turn("b"), provider="neutral").json()
    assert (other["turn_ids"], "other content" in other["detail"]) == (["a"], True)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/conversations/%00",
        "/v1/conversations/%00/turns",
        "/v1/conversations/c1/turns/%00",
        "/v1/conversations/c1/replay?provider=openai&until=%00",
        "/v1/conversations/%F0%9F%8E%89/verify",
    ],
)
def test_ids_that_no_id_can_be_are_not_found(api: Api, path: str) -> None:
    api.post(user("x"))
    assert api.http.get(path).status_code == 404


def test_cursors_that_no_page_gave_are_refused(api: Api) -> None:
    api.post(user("x"))
    for path in ("conversations?cursor=%00", f"conversations/c1/tool-calls?cursor={'9' * 23}.0"):
        assert api.http.get(f"/v1/{path}").status_code == 422
    assert api.http.delete("/v1/conversations/%00").status_code == 404
    assert api.http.patch("/v1/conversations/%00", json={}).status_code == 404


def test_the_settings_of_a_whole_request_are_ignored_with_one_note(api: Api) -> None:
    whole: dict[str, Any] = {
        "model": "gpt-x",
        "temperature": 0.2,
        "stream": True,
        "response_format": {},
    }
    receipt = api.post(user("hi"), **whole)
    assert receipt.status_code == 201
    [note] = receipt.json()["notes"]
    assert (note["code"], note["turn_id"]) == ("SETTINGS_IGNORED", None)
    assert note["detail"].endswith(": temperature, stream, response_format")
    assert "temperature" not in json.dumps(api.get("turns", raw="true").json())
