"""Conditional requests: what is stale changes nothing, and what is known is not sent again."""

from typing import Any

import pytest

from tests.http_api import Api, user

HERE = "/v1/conversations/c1"
TOOLS = {"provider": "anthropic", "tools": [{"name": "a", "input_schema": {"type": "object"}}]}


def changed(api: Api, how: str, tag: str | list[str]) -> Any:
    """The answer to a change under a condition, or under several."""
    tags = [tag] if isinstance(tag, str) else tag
    body = {"PATCH": {"title": "new"}, "PUT": TOOLS, "DELETE": None}[how]
    url = f"{HERE}/tools" if how == "PUT" else HERE
    headers = [("If-Match", one) for one in tags]
    return api.http.request(how, url, json=body, headers=headers)


def everything(api: Api) -> list[Any]:
    return [
        api.get("").json(),
        api.get("tools", provider="neutral").json(),
        api.get("turns").json(),
    ]


@pytest.mark.parametrize("how", ["PATCH", "PUT", "DELETE"])
@pytest.mark.parametrize("tag", ['"99"', '"0"', '"1-0123456789abcdef"', 'W/"2"'])
def test_a_stale_condition_changes_nothing(api: Api, how: str, tag: str) -> None:
    api.post(user("x"))
    before = everything(api)
    refused = changed(api, how, tag)
    assert (refused.status_code, refused.json()["code"]) == (412, "stale_version")
    assert everything(api) == before
    # The tag that comes back is one to go on with.
    assert changed(api, how, refused.headers["etag"]).is_success


@pytest.mark.parametrize("how", ["PATCH", "PUT", "DELETE"])
@pytest.mark.parametrize("tag", ["version", "etag", "weak"])
def test_a_condition_that_holds_lets_the_change_pass(api: Api, how: str, tag: str) -> None:
    api.post(user("x"))
    etag = api.get("").headers["etag"]
    assert changed(api, how, {"version": '"1"', "etag": etag, "weak": f"W/{etag}"}[tag]).is_success


@pytest.mark.parametrize("how", ["PATCH", "PUT", "DELETE"])
def test_a_tag_from_before_a_new_title_is_stale_though_the_version_is_not(
    api: Api, how: str
) -> None:
    api.post(user("x"))
    tag = api.get("").headers["etag"]
    api.http.patch(HERE, json={"title": "of somebody else"})
    refused = changed(api, how, tag)
    assert refused.status_code == 412
    assert refused.headers["etag"] == api.get("").headers["etag"]
    assert api.get("").json()["title"] == "of somebody else"
    # Turns do not depend on the title.
    assert api.post(user("y"), headers={"If-Match": tag}).status_code == 201


def test_tools_may_be_kept_only_if_there_is_no_conversation_yet(api: Api) -> None:
    assert changed(api, "PUT", '"1"').status_code == 412
    assert api.get("").status_code == 404
    assert changed(api, "PUT", '"0"').status_code == 200


@pytest.mark.parametrize("how", ["PATCH", "PUT", "DELETE"])
def test_a_condition_that_is_none_or_stands_twice_is_refused(lite: Api, how: str) -> None:
    lite.post(user("x"))
    for tag in ('"abc"', "*", '"1-xyz"', ['"1"', '"1"'], ['"1"', '"99"']):
        assert changed(lite, how, tag).status_code == 422
    assert lite.get("").json()["title"] is None


def test_conditions_and_keys_of_an_append_must_not_stand_twice(lite: Api) -> None:
    for name, value in (("If-Match", '"0"'), ("Idempotency-Key", "k")):
        twice = [(name, value), (name, value)]
        refused = lite.http.post(f"{HERE}/turns", json=APPEND, headers=twice)
        assert (refused.status_code, name in refused.json()["detail"]) == (422, True)
    assert lite.get("").status_code == 404


APPEND = {"provider": "openai", "messages": [user("x")]}


def test_the_tag_of_a_conversation_changes_with_what_is_shown(api: Api) -> None:
    made = api.http.post("/v1/conversations", json={"id": "c1"})
    tags = [made.headers["etag"], api.get("").headers["etag"]]
    assert tags[0] == tags[1]
    tags.append(api.http.patch(HERE, json={"title": "a"}).headers["etag"])
    assert api.get("").headers["etag"] == tags[-1]
    tags.append(api.http.patch(HERE, json={"metadata": {"a": 1}}).headers["etag"])
    api.post(user("x"))
    tags.append(api.get("").headers["etag"])
    assert len(set(tags[1:])) == 4


@pytest.mark.parametrize(("path", "options"), [("", {}), ("replay", {"provider": "openai"})])
def test_what_the_caller_has_is_not_sent_again(
    api: Api, path: str, options: dict[str, str]
) -> None:
    api.post(user("x"))
    tag = api.get(path, **options).headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = api.get(path, headers={"If-None-Match": known}, **options)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    for other in ('"other"', '"1"', ""):
        assert api.get(path, headers={"If-None-Match": other}, **options).status_code == 200
    absent = api.get(path, cid="nope", headers={"If-None-Match": "*"}, **options)
    assert absent.status_code == 404


def test_a_new_title_is_sent_to_who_has_the_old_one(api: Api) -> None:
    api.post(user("x"))
    tag = api.get("").headers["etag"]
    api.http.patch(HERE, json={"title": "new"})
    assert api.get("", headers={"If-None-Match": tag}).json()["title"] == "new"
