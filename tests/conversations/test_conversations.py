from tests.http_api import Api, user


def test_a_created_conversation_can_be_read(api: Api) -> None:
    made = api.http.post(
        "/v1/conversations", json={"id": "c1", "title": "first", "metadata": {"n": 1.5}}
    )
    assert made.status_code == 201
    assert made.headers["location"] == "/v1/conversations/c1"
    assert api.get("").json() == made.json()
    assert made.json()["version"] == 0


def test_an_id_is_made_when_none_is_given(lite: Api) -> None:
    first, second = (lite.http.post("/v1/conversations", json={}).json()["id"] for _ in "ab")
    assert first != second


def test_a_key_without_an_id_is_refused_because_a_retry_would_make_another(lite: Api) -> None:
    key = {"Idempotency-Key": "k"}
    for body in ({}, {"id": None, "title": "a"}):
        refused = lite.http.post("/v1/conversations", json=body, headers=key)
        assert (refused.status_code, refused.json()["pointer"]) == (422, "/id")
        assert "`id` is required" in refused.json()["detail"]
    assert lite.http.get("/v1/conversations").json()["data"] == []


def test_a_key_beside_an_id_is_not_needed_and_does_no_harm(api: Api) -> None:
    once, again = (
        api.http.post("/v1/conversations", json={"id": "c1"}, headers={"Idempotency-Key": "k"})
        for _ in "ab"
    )
    assert (once.status_code, again.status_code) == (201, 409)
    assert api.post(user("x"), headers={"Idempotency-Key": "k"}).status_code == 201


def test_a_taken_id_is_a_conflict(api: Api) -> None:
    api.post(user("hello"))
    again = api.http.post("/v1/conversations", json={"id": "c1"})
    assert (again.status_code, again.json()["code"]) == (409, "conversation_exists")


def test_a_bad_id_is_refused_with_a_pointer(lite: Api) -> None:
    for bad in ("", "a|b", "a/b", "x" * 129, "ä"):
        refused = lite.http.post("/v1/conversations", json={"id": bad})
        assert (refused.status_code, refused.json()["pointer"]) == (422, "/id")


def test_listing_pages_by_id_without_gap_or_repeat(api: Api) -> None:
    for number in range(5):
        api.post(user("x"), cid=f"c{number}")
    seen: list[str] = []
    cursor = None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = api.http.get("/v1/conversations", params=params).json()
        seen += [one["id"] for one in page["data"]]
        cursor = page["next_cursor"]
        if not page["has_more"]:
            break
    assert seen == ["c0", "c1", "c2", "c3", "c4"]


def test_title_and_metadata_change_and_turns_stay(api: Api) -> None:
    api.post(user("x"))
    changed = api.http.patch("/v1/conversations/c1", json={"title": "new"})
    assert (changed.json()["title"], changed.json()["version"]) == ("new", 1)
    changed = api.http.patch("/v1/conversations/c1", json={"metadata": {"a": 1}})
    assert (changed.json()["title"], changed.json()["metadata"]) == ("new", {"a": 1})
    assert api.http.patch("/v1/conversations/c1", json={"title": None}).json()["title"] is None


def test_strange_titles_survive(api: Api) -> None:
    body = b'{"id":"c1","title":"a\\u0000b\\ud83dc"}'
    made = api.http.post(
        "/v1/conversations", content=body, headers={"content-type": "application/json"}
    )
    assert made.status_code == 201
    assert b'"title":"a\\u0000b\\ud83dc"' in api.get("").content


def test_erasing_takes_everything(api: Api) -> None:
    api.post(user("x"), headers={"Idempotency-Key": "k"})
    assert api.http.delete("/v1/conversations/c1").status_code == 200
    assert api.get("").status_code == 404
    assert api.get("turns").json()["code"] == "conversation_not_found"
    assert api.http.delete("/v1/conversations/c1").status_code == 404
    assert api.post(user("x"), headers={"Idempotency-Key": "k"}).status_code == 201


def test_unknown_members_and_parameters_are_named(lite: Api) -> None:
    refused = lite.http.post("/v1/conversations", json={"titel": "x"})
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/titel")
    refused = lite.http.get("/v1/conversations", params={"limt": 3})
    assert (refused.status_code, refused.json()["pointer"]) == (422, "?limt")
