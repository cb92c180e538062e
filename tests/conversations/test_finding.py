"""`GET /v1/conversations`: order, facets and words, on both databases alike."""

import asyncio
import json
import time
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from fastapi.testclient import TestClient

from app.conversations.commands import Create
from app.database.database import Database
from app.main import create_app
from app.search import indexer
from app.settings import Settings
from tests.http_api import Api, answering, calling, user
from tests.turns.test_streams import CUT, RESPONSE, SSE, STREAM, WHOLE

LIST = "/v1/conversations"


def found(api: Api, **params: Any) -> list[str]:
    """The ids, with `metadata__team` for `metadata.team`."""
    named = {name.replace("__", "."): value for name, value in params.items()}
    answer = api.http.get(LIST, params=named)
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["data"]]


def refused(api: Api, **params: Any) -> Any:
    answer = api.http.get(LIST, params=params)
    assert answer.status_code == 422, answer.text
    return answer.json()


def create(api: Api, cid: str, **members: Any) -> None:
    assert api.http.post(LIST, json={"id": cid, **members}).status_code == 201


def pages(api: Api, **params: Any) -> Any:
    """Every page, one after the other, as long as somebody asks for it."""
    while True:
        page = api.http.get(LIST, params=params).json()
        yield [one["id"] for one in page["data"]]
        if not page["has_more"]:
            assert page["next_cursor"] is None
            return
        params["cursor"] = page["next_cursor"]


def test_the_conversation_that_changed_last_comes_first(api: Api) -> None:
    for cid in "abc":
        api.post(user("x"), cid=cid)
    assert found(api, order="updated") == ["c", "b", "a"]
    api.post(user("x"), cid="a")
    api.http.patch(f"{LIST}/b", json={"title": "new"})
    assert found(api, order="updated") == ["b", "a", "c"]
    assert found(api) == found(api, order="id") == ["a", "b", "c"]


def test_thousands_are_paged_without_gap_or_repeat_while_others_append(
    api: Api, database_url: str
) -> None:
    count, busy = 2_100, 20
    ids = [f"c{number:04}" for number in range(count)]

    async def fill(database: Database) -> None:
        await asyncio.gather(*(database.write(Create(cid, None, {"team": "blue"})) for cid in ids))

    with Database(database_url) as database:
        asyncio.run(fill(database))
    for params in ({"order": "updated"}, {"order": "id", "metadata.team": "blue"}):
        seen: list[str] = []
        for number, page in enumerate(pages(api, limit=300, **params)):
            seen += page
            # One that was seen, one that was not, and a new one.
            for cid in (f"c{number:04}", f"c{count - busy + number:04}", f"new{number:04}"):
                api.post(user("x"), cid=cid)
        assert len(seen) == len(set(seen))
        # What changes meanwhile moves to the front of the newest; the others all appear.
        assert set(ids[busy:-busy] if params["order"] == "updated" else ids) <= set(seen)


def test_a_cursor_belongs_to_its_order(api: Api) -> None:
    for cid in "abc":
        api.post(user("x"), cid=cid)
    by_id, by_time = (
        api.http.get(LIST, params={"limit": 1, "order": order}).json()["next_cursor"]
        for order in ("id", "updated")
    )
    assert found(api, order="updated", cursor=by_time) == ["b", "a"]
    for order, cursor in (("id", by_time), ("updated", by_id)):
        said = refused(api, order=order, cursor=cursor)
        assert (said["pointer"], f"order={order}" in said["detail"]) == ("?cursor", True)


def test_another_cursor_is_refused(api: Api) -> None:
    for cursor in ("", "~", "a/b", "1~a/b", "x~y~z", "99999999999999999~a", "\0"):
        for order in ("id", "updated"):
            assert refused(api, order=order, cursor=cursor)["pointer"] == "?cursor"


def test_conversations_are_found_by_metadata(api: Api) -> None:
    create(api, "a", metadata={"team": "blue", "n": 3, "ok": True, "none": None, "in": {"team": 1}})
    create(api, "b", metadata={"team": "red", "n": 3.0, "ok": "true", "a.b": "é"})
    assert found(api, metadata__team="blue") == ["a"]
    assert found(api, metadata__n="3") == ["a"]
    assert found(api, metadata__n="3.0") == ["b"]
    assert found(api, metadata__ok="true") == ["a", "b"]
    assert found(api, metadata__ok="true", metadata__team="red") == ["b"]
    assert found(api, **{"metadata.a.b": "é"}) == ["b"]
    assert found(api, metadata__none="null") == found(api, metadata__team="b") == []


def test_a_changed_member_is_found_under_its_new_value_alone(api: Api) -> None:
    create(api, "a", metadata={"team": "blue", "n": 1})
    api.http.patch(f"{LIST}/a", json={"metadata": {"team": "red"}})
    assert found(api, metadata__team="red") == ["a"]
    assert found(api, metadata__team="blue") == found(api, metadata__n="1") == []
    api.http.patch(f"{LIST}/a", json={"title": "other"})
    assert found(api, metadata__team="red", title="other") == ["a"]


def test_conversations_are_found_by_tool_and_by_provider(api: Api) -> None:
    api.post(user("x"), calling(("call_1", "read", "{}"), ("call_2", "write", "{}")), cid="a")
    api.post(calling(("call_1", "read", "{}")), cid="b", provider="kimi")
    assert found(api, tool="read") == ["a", "b"]
    assert found(api, tool=["read", "write"]) == ["a"]
    assert found(api, provider="kimi", tool="read") == ["b"]
    assert found(api, tool="rea") == found(api, provider="KIMI") == []


def test_filters_combine_in_any_order(api: Api) -> None:
    for cid, team in (("a", "blue"), ("b", "blue"), ("c", "red")):
        create(api, cid, title=f"About {cid}{cid}", metadata={"team": team})
        api.post(user("apples and pears"), calling(("call_1", "eat", "{}")), cid=cid)
    every = {"q": "pears", "title": "about", "tool": "eat", "provider": "openai"}
    for order in ("id", "updated"):
        seen = list(pages(api, limit=1, order=order, **{"metadata.team": "blue"}))
        assert sorted(seen) == [["a"], ["b"]]
        assert len(found(api, order=order, metadata__team="blue", **every)) == 2
    assert found(api, title="about aa", **{"q": "pears", "metadata.team": "blue"}) == ["a"]


SAID = {
    "code": "Please call readFile on src/app_main.py, then git_status.",
    "german": "Über Größen und Maße",
    "japanese": "今日の天気はどうですか。",
    "chinese": "请总结北京的天气",
    "russian": "Сводка погоды",
    "arabic": "ملخص الطقس",
    "hindi": "मौसम का सारांश",
    "korean": "날씨 요약해줘",
    "odd": "before\0after \ud83d lone",
    "signs": 'it\'s "quoted" & 100% (NOT) a-b:c*',
}


@pytest.fixture
def said(api: Api) -> Api:
    for cid, text in SAID.items():
        # ASCII only: a lone surrogate travels as its escape.
        body = json.dumps({"provider": "openai", "messages": [user(text)]})
        headers = {"content-type": "application/json"}
        done = api.http.post(f"{LIST}/{cid}/turns", content=body, headers=headers)
        assert done.status_code == 201
    return api


QUESTIONS = [
    ("readfile", ["code"]),
    ("READ file", ["code"]),
    ("app_main.py", ["code"]),
    ("status git", ["code"]),
    ("readfile nothing", []),
    ("git stat", ["code"]),
    ("stat git", []),
    ("groß", ["german"]),
    ("uber masse", ["german"]),
    ("天気", ["japanese"]),
    ("天气", ["chinese"]),
    ("北京", ["chinese"]),
    ("京北", []),
    ("どう", ["japanese"]),
    ("погод", ["russian"]),
    ("الطقس", ["arabic"]),
    ("मौसम", ["hindi"]),
    ("요약", ["korean"]),
    ("after before", ["odd"]),
    ("lone", ["odd"]),
    ("it's quoted", ["signs"]),
    ("not 100%", ["signs"]),
]


def test_words_are_found(said: Api) -> None:
    for question, ids in QUESTIONS:
        assert found(said, q=question) == ids, question


HOSTILE = [
    '"',
    "'",
    '"" OR ""',
    "a* OR b*",
    "NEAR(a b, 2)",
    "words : x",
    "-x",
    "^a",
    "(((",
    "a AND",
    "NOT",
    "\\",
    "a\\'b",
    "'a':*",
    "a & | !",
    "%",
    "\0",
    "\x7f\x1b",
    "\uffff\U0010ffff",
    "\u202e",
    "x" * 20_000,
    " ".join(f"w{n}" for n in range(5_000)),
    "'; DROP TABLE turns; --",
    "{}[]",
    "~`@#$",
]


def test_any_text_is_a_question(said: Api) -> None:
    for question in HOSTILE:
        for name in ("q", "title"):
            found(said, order="updated", **{name: question})
    for raw in (b"\xff\xfe", b"\xed\xa0\x80", b"\xc3"):
        assert said.http.get(f"{LIST}?q={quote_from_bytes(raw)}").status_code == 200


def test_a_question_without_words_finds_nothing_and_a_blank_one_is_none(said: Api) -> None:
    assert found(said, q="?!") == found(said, title="…") == []
    assert found(said, q="") == found(said, q="  ") == found(said) == sorted(SAID)


def test_all_words_must_occur_in_one_turn(api: Api) -> None:
    api.post(user("apples"), user("pears"), cid="apart")
    api.post(user("apples and pears"), cid="together")
    assert found(api, q="apples pears") == ["together"]


def test_every_id_is_found(api: Api) -> None:
    api.post(user("x"), cid="other")
    create(api, "Project-7", title="T")
    body = api.post(
        calling(("call_raw-9", "read", "{}")), cid="Project-7", turn_id="my-turn-1"
    ).json()
    canonical = body["turns"][0]["tool_calls"][0]["id"]
    [call] = api.get("tool-calls", cid="Project-7").json()["data"]
    ids = {"Project-7", "Proj", "project", "my-turn-1", "call_raw-9", canonical}
    for one in ids | set(call["ids"].values()):
        assert found(api, q=one) == ["Project-7"], one
    assert found(api, q="call_" + canonical[10:-1] + "?") == []
    assert found(api, title="Project-7") == []


def test_a_call_and_its_result_are_searched(api: Api) -> None:
    api.post(calling(("call_1", "get_weather", '{"city": "Bonn"}')), cid="a")
    api.post(answering("call_1", '{"sky": "cloudy"}'), cid="a")
    assert found(api, q="weather bonn") == found(api, q="cloudy") == ["a"]


def test_an_old_title_is_not_found_any_more(api: Api) -> None:
    create(api, "a", title="First name")
    assert found(api, title="first") == found(api, q="name first") == ["a"]
    api.http.patch(f"{LIST}/a", json={"title": "Second"})
    assert found(api, title="first") == found(api, q="first") == []
    assert found(api, title="sec") == ["a"]
    api.http.patch(f"{LIST}/a", json={"title": None})
    assert found(api, title="second") == []


def test_what_is_erased_is_not_found(api: Api) -> None:
    create(api, "c1", title="gone", metadata={"team": "blue"})
    api.post(user("apples"), calling(("call_1", "eat", "{}")))
    api.post(user("apples"), cid="c2")
    api.http.delete(f"{LIST}/c1")
    assert found(api, q="apples") == ["c2"]
    for params in ({"q": "c1"}, {"title": "gone"}, {"tool": "eat"}, {"metadata.team": "blue"}):
        assert found(api, **params) == []
    create(api, "c1")
    assert found(api, q="apples") == ["c2"]


def test_a_completed_turn_is_found_by_what_it_says_in_the_end(api: Api) -> None:
    query = {"provider": "anthropic", "turn_id": "t1"}
    api.http.post(STREAM, params=query, content=WHOLE[:CUT], headers=SSE)
    assert found(api, q="look uber") == found(api, tool="weather") == ["c1"]
    assert found(api, q="zone CET") == []
    body = {"provider": "anthropic", "turn_id": "t1", "response": RESPONSE}
    assert api.http.post(f"{LIST}/c1/turns", json=body).status_code == 200
    assert found(api, q="zone CET") == found(api, tool="time") == ["c1"]


def test_a_very_long_turn_is_stored_and_found_by_its_beginning(api: Api) -> None:
    long = " ".join(f"word{number}" for number in range(200_000))
    assert api.post(user(long)).status_code == 201
    assert api.post(user("\ufdfa" * 300_000)).status_code == 201
    assert found(api, q="word77") == ["c1"]
    assert found(api, q="word199999") == []


def test_a_refused_post_leaves_nothing_to_find(api: Api) -> None:
    api.post(user("apples"), turn_id="t1")
    assert api.post(user("pears"), turn_id="t1").status_code == 409
    assert found(api, q="pears") == []
    assert found(api, q="apples") == ["c1"]


def test_unknown_parameters_and_too_many_are_refused(lite: Api) -> None:
    assert refused(lite, metadate="x")["pointer"] == "?metadate"
    assert refused(lite, order="newest")["pointer"] == "?order"
    assert found(lite, tool=["x"] * 16) == []
    assert "16" in refused(lite, tool=["x"] * 17)["detail"]


def test_the_parameters_are_described(lite: Api) -> None:
    described = lite.http.get("/openapi.json").json()["paths"][LIST]["get"]["parameters"]
    names = ["limit", "cursor", "order", "q", "title", "tool", "provider"]
    names += ["state", "metadata.{key}"]
    assert [one["name"] for one in described] == names


def test_words_are_indexed_while_nobody_asks(api: Api) -> None:
    api.post(user("pears"))
    database = api.http.app.state.context.database  # type: ignore[attr-defined]
    for _ in range(200):
        head = database.read_now(lambda store: store.conversations.head("c1"))
        if head.indexed == head.version:
            return
        time.sleep(0.05)
    pytest.fail("nothing was indexed for ten seconds")


def test_a_search_says_when_the_index_is_far_behind(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "_WAIT", -1.0)
    monkeypatch.setattr(indexer.Indexer, "run", lambda _: asyncio.sleep(0))
    with TestClient(create_app(Settings(database_url=sqlite_database_url))) as http:
        Api(http).post(user("pears"))
        answer = http.get(LIST, params={"q": "pears"})
        assert answer.status_code == 503
        assert "indexed" in answer.json()["detail"]
        assert [one["id"] for one in http.get(LIST, params={"q": "pears"}).json()["data"]] == ["c1"]


@pytest.mark.parametrize("name", ["q", "limit", "order"])
def test_a_parameter_that_is_no_list_must_be_given_once(lite: Api, name: str) -> None:
    refused = lite.http.get(f"/v1/conversations?{name}=1&{name}=1")
    assert refused.status_code == 422
    assert f"`{name}` must be given once, not 2 times." in refused.json()["detail"]


def test_a_parameter_of_another_name_inside_must_be_given_once_too(lite: Api) -> None:
    body = {"provider": "openai", "messages": [{"role": "user", "content": "hello"}]}
    path = "/v1/conversations/c1/turns?return=turns&return=turns"
    assert "`return` must be given once" in lite.http.post(path, json=body).json()["detail"]


def test_conversations_are_found_by_calls_that_wait_for_a_result(api: Api) -> None:
    api.post(user("x"), cid="quiet")
    api.post(calling(("a", "f", "{}"), ("b", "g", "{}")), cid="busy")
    api.post(calling(("c", "f", "{}")), answering("c", "1"), cid="done")

    def counted() -> dict[str, int]:
        return {one["id"]: one["open_calls"] for one in api.http.get(LIST).json()["data"]}

    assert counted() == {"quiet": 0, "busy": 2, "done": 0}
    assert found(api, state="open") == ["busy"]
    assert found(api, state="open", tool="f") == ["busy"]
    assert found(api, state="open", tool="h") == []
    api.post(answering("a", "1"), cid="busy")
    assert (counted()["busy"], found(api, state="open", order="updated")) == (1, ["busy"])
    api.post(answering("b", "1"), cid="busy")
    assert (counted()["busy"], found(api, state="open")) == (0, [])
    assert refused(api, state="closed")["pointer"] == "?state"


def test_open_calls_are_counted_through_all_versions_of_a_turn(api: Api) -> None:
    """Calls that a later version leaves out do not count, one that comes back counts again, and a
    result that waited is taken off."""

    def told(*raw_ids: str, status: str = "interrupted") -> None:
        calls = [
            {"type": "tool_call", "raw_id": one, "name": "f", "arguments": "{}"} for one in raw_ids
        ]
        turn = {"turn_id": "t1", "speaker": "ai", "blocks": calls, "status": status}
        assert api.post(turn, cid="c", provider="neutral").is_success

    def counted() -> int:
        [one] = api.http.get(LIST).json()["data"]
        assert api.http.get("/v1/conversations/c/verify").json()["ok"]
        return int(one["open_calls"])

    api.post(answering("late", "1"), cid="c")
    told("a", "b")
    assert counted() == 2
    told("a")
    assert counted() == 1
    api.post(answering("a", "1"), cid="c")
    assert counted() == 0
    told("a", "b", "late")
    assert counted() == 1
    told("a", status="complete")
    assert counted() == 0


def test_conversations_are_found_by_turns_that_were_not_completed(api: Api) -> None:
    turn = {"turn_id": "t1", "speaker": "ai", "blocks": [{"type": "text", "text": "x"}]}
    broken = turn | {"status": "interrupted"}
    for cid in "ab":
        api.post(broken, cid=cid, provider="neutral")
    api.post(user("x"), cid="c")
    assert found(api, state="interrupted") == ["a", "b"]
    longer = {"blocks": [{"type": "text", "text": "xy"}]}
    api.post(broken | longer, cid="a", provider="neutral")
    assert found(api, state="interrupted") == ["a", "b"]
    api.post(turn | longer, cid="a", provider="neutral")
    assert found(api, state="interrupted") == ["b"]
    assert [one["id"] for one in api.http.get(LIST, params={"state": "open"}).json()["data"]] == []


@pytest.mark.parametrize("few", [1_000, 1])
def test_how_many_have_it_changes_nothing_but_the_way(
    api: Api, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.search.sql._FEW", few)
    for number in range(6):
        create(api, f"c{number}", metadata={"even": number % 2 == 0})
        api.post(calling((f"r{number}", "f", "{}")), cid=f"c{number}")
        if number < 3:
            api.post(answering(f"r{number}", "1"), cid=f"c{number}")
    for params in ({"state": "open"}, {"state": "open", "metadata.even": "true"}):
        expected = ["c3", "c4", "c5"] if len(params) == 1 else ["c4"]
        assert list(pages(api, limit=1, **params)) == [[cid] for cid in expected]
        newest = list(pages(api, limit=1, order="updated", **params))
        assert newest == [[cid] for cid in expected[::-1]]


def test_words_of_the_metadata_are_found(api: Api) -> None:
    create(api, "a", metadata={"team": "Blue Whales", "deep": {"list": ["plankton", 4711]}})
    create(api, "b", title="whales")
    assert found(api, q="blue whales") == found(api, q="plankton") == found(api, q="4711") == ["a"]
    assert found(api, q="team") == ["a"]
    assert found(api, q="whales") == ["a", "b"]
    assert found(api, title="whales") == ["b"]
    api.http.patch(f"{LIST}/a", json={"metadata": {"team": "red"}})
    assert found(api, q="plankton") == []
    assert found(api, q="red") == ["a"]
    assert api.get("verify", cid="a").json()["ok"]
