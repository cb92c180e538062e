"""`turn_ids` over HTTP: stored once however often they come, and never by half."""

from typing import Any

from app.model import ids
from tests.http_api import Api, calling, user

THREE = (user("a"), calling(("c1", "read", "{}")), user("b"))


def stored(api: Api) -> list[str]:
    return [turn["turn_id"] for turn in api.get("turns").json()["data"]]


def test_each_turn_is_stored_under_its_id(api: Api) -> None:
    receipt = api.post(*THREE, turn_ids=["t1", "t2", "t3"])
    assert receipt.status_code == 201
    assert [turn["turn_id"] for turn in receipt.json()["turns"]] == ["t1", "t2", "t3"]
    assert stored(api) == ["t1", "t2", "t3"]
    call = receipt.json()["turns"][1]["tool_calls"][0]["id"]
    assert call == ids.canonical_id("openai", "c1", "read", "t2", 0)


def test_null_derives_the_id_as_without_the_list(api: Api) -> None:
    api.post(*THREE, turn_ids=["t1", None, "t3"])
    assert stored(api) == ["t1", ids.turn_id("c1", 2), "t3"]
    assert api.get("verify").json()["ok"]


def again(api: Api, given: list[str | None], **headers: str) -> Any:
    api.post(user("before"))
    first = api.post(*THREE, turn_ids=given, headers=headers)
    retry = api.post(*THREE, turn_ids=given, headers=headers)
    assert (first.status_code, retry.status_code) == (201, 200)
    assert retry.headers["idempotent-replayed"] == "true"
    assert retry.json()["turns"] == first.json()["turns"]
    assert api.get("").json()["version"] == 4


def test_the_same_list_again_is_a_retry(api: Api) -> None:
    again(api, ["t1", "t2", "t3"])


def test_a_list_with_nulls_is_a_retry_too(api: Api) -> None:
    again(api, [None, "t2", None])


def test_a_retry_is_stale_by_its_own_success_and_answered(api: Api) -> None:
    again(api, ["t1", None, "t3"], **{"If-Match": '"1"'})


def test_stored_turns_named_in_another_order_give_the_version_that_has_them_all(api: Api) -> None:
    api.post(user("a"), user("b"), turn_ids=["t1", "t2"])
    retry = api.post(user("b"), user("a"), turn_ids=["t2", "t1"])
    assert (retry.status_code, retry.json()["version"]) == (200, 2)
    assert [turn["turn_id"] for turn in retry.json()["turns"]] == ["t2", "t1"]


def test_other_content_under_one_of_the_ids_is_a_conflict(api: Api) -> None:
    api.post(*THREE, turn_ids=["t1", "t2", "t3"])
    refused = api.post(user("a"), user("other"), user("b"), turn_ids=["t1", "t2", "t3"])
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_id_taken")
    assert refused.json()["turn_ids"] == ["t2"]
    assert api.get("").json()["version"] == 3


def test_other_content_in_the_place_of_a_null_is_a_conflict(api: Api) -> None:
    api.post(*THREE, turn_ids=["t1", None, "t3"])
    refused = api.post(user("a"), user("other"), user("b"), turn_ids=["t1", None, "t3"])
    assert refused.status_code == 409
    assert api.get("").json()["version"] == 3


def test_where_some_are_stored_nothing_is_appended_and_they_are_named(api: Api) -> None:
    api.post(user("a"), user("b"), turn_ids=["t1", "t2"])
    refused = api.post(user("a"), user("b"), user("c"), turn_ids=["t1", "t2", "t3"])
    assert (refused.status_code, refused.json()["turn_ids"]) == (409, ["t1", "t2"])
    assert stored(api) == ["t1", "t2"]


def test_a_given_id_may_be_one_that_another_turn_would_derive(api: Api) -> None:
    taken = ids.turn_id("c1", 2)
    receipt = api.post(user("a"), user("b"), turn_ids=[taken, None])
    assert receipt.status_code == 201
    assert len(set(stored(api))) == 2


def test_a_refused_list_stores_nothing(api: Api) -> None:
    refused = api.post(*THREE, turn_ids=["t1", "t1", "t3"])
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/turn_ids/1")
    assert api.get("").status_code == 404
