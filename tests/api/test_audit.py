from app.codecs import TARGETS
from tests.api.conftest import Api, answering, calling, user


def test_every_call_is_listed_with_all_its_names(api: Api) -> None:
    api.post(user("x"), calling(("a", "read", "{}"), ("b", "write", "{}")), model="gpt-x")
    api.post(answering("b", "done"))
    first, second = api.get("tool-calls").json()["data"]
    assert (first["raw_id"], first["state"], first["result"]) == ("a", "open", None)
    assert (second["state"], second["result"]["matched_by"]) == ("answered", "raw")
    assert set(first["ids"]) == set(TARGETS)
    assert first["ids"]["kimi"] == "functions.read:0"
    assert second["ids"]["kimi"] == "functions.write:1"
    assert len(first["ids"]["mistral"]) == 9
    assert first["model"] == "gpt-x"


def test_repeats_stay_visible_and_the_last_real_result_is_the_result(api: Api) -> None:
    api.post(calling(("a", "f", "{}")))
    for status in ("error", "ok", "interrupted"):
        block = {"type": "tool_result", "call_id": "a", "result": status, "status": status}
        api.post({"speaker": "tool", "blocks": [block]}, provider="neutral")
    call = api.get("tool-calls").json()["data"][0]
    assert call["result"]["status"] == "ok"
    assert [one["status"] for one in call["repeats"]] == ["error", "interrupted"]


def test_states_follow_what_is_known(api: Api) -> None:
    api.post(calling(("a", "f", "{}"), ("b", "f", "{}")))
    for raw_id, status in (("a", "denied"), ("b", "interrupted")):
        block = {"type": "tool_result", "call_id": raw_id, "status": status}
        api.post({"speaker": "tool", "blocks": [block]}, provider="neutral")
    states = [call["state"] for call in api.get("tool-calls").json()["data"]]
    assert states == ["denied", "interrupted"]


def test_the_audit_pages_in_call_order(api: Api) -> None:
    api.post(calling(*((str(n), "f", "{}") for n in range(3))), calling(("x", "f", "{}")))
    page = api.get("tool-calls", limit=2).json()
    assert page["has_more"]
    rest = api.get("tool-calls", limit=2, cursor=page["next_cursor"]).json()
    assert [call["raw_id"] for call in page["data"] + rest["data"]] == ["0", "1", "2", "x"]
    assert api.get("tool-calls", cursor="nonsense").status_code == 422


def test_any_id_is_found_wherever_it_is_known(api: Api) -> None:
    api.post(calling(("call_0", "f", "{}")), cid="c1")
    api.post(calling(("call_0", "f", "{}")), cid="c2")
    found = api.http.get("/v1/tool-calls/lookup", params={"id": "call_0"}).json()["data"]
    assert [(one["conversation_id"], one["kind"]) for one in found] == [
        ("c1", "raw"),
        ("c2", "raw"),
    ]
    for target, shown in found[0]["ids"].items():
        kinds = {
            one["kind"]
            for one in api.http.get("/v1/tool-calls/lookup", params={"id": shown}).json()["data"]
            if one["conversation_id"] == "c1"
        }
        expected = "canonical" if shown == found[0]["id"] else "provider_id"
        assert expected in kinds, target


def test_an_unknown_id_is_found_nowhere(lite: Api) -> None:
    assert lite.http.get("/v1/tool-calls/lookup", params={"id": "x"}).json()["data"] == []
    assert lite.http.get("/v1/tool-calls/lookup").status_code == 422


def test_a_lookup_that_was_cut_says_so(api: Api) -> None:
    api.post(calling(("same", "f", "{}"), ("same", "f", "{}")))
    found = api.http.get("/v1/tool-calls/lookup", params={"id": "same", "limit": 1}).json()
    assert (len(found["data"]), found["has_more"]) == (1, True)
