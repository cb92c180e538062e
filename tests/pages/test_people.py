"""The pages for people, as HTTP: what they refer to, who may see them, and what they refuse.

What browsers do with them is tested in `tests/browser`.
"""

import sqlite3
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from app.access.commands import made
from app.database.database import Database
from app.main import create_app
from app.model.api_keys import KeyScope
from app.settings import Settings
from tests.http_api import Api, answering, calling, user
from tests.pages.test_pages import Page

HOST = "http://testserver"
# One for every page; a route that is missing here fails a test.
PATHS = {
    "/": "/",
    "/go": "/go?id=call_1",
    "/login": "/login",
    "/c/{cid}": "/c/c1",
    "/c/{cid}/turns": "/c/c1/turns?after=0",
    "/c/{cid}/turns/{turn_id}": "/c/c1/turns/t-1",
    "/c/{cid}/identity": "/c/c1/identity",
    "/c/{cid}/replay": "/c/c1/replay",
    "/c/{cid}/picture": "/c/c1/picture",
    "/c/{cid}/verify": "/c/c1/verify",
}
LINK = 'href="/c/c1"'
OF_CONVERSATION = [path for path in PATHS.values() if "/c1" in path]


def filled(api: Api) -> Api:
    assert api.post(user("hello"), turn_id="t-1").status_code == 201
    api.post(calling(("call_1", "read", '{"path": "a"}')), answering("call_1", "done"))
    api.http.follow_redirects = False
    return api


@pytest.fixture
def pages(api: Api) -> Api:
    return filled(api)


@pytest.mark.parametrize("path", PATHS.values())
def test_a_page_is_html_under_a_policy_without_script_inside(lite: Api, path: str) -> None:
    shown = filled(lite).http.get(path, follow_redirects=True)
    assert shown.status_code == 200
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert shown.headers["cache-control"] == "no-store"
    policy = shown.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
    assert "unsafe" not in policy
    assert Page(shown.text).inside == []


def test_every_page_has_its_tests() -> None:
    hidden = {
        route.path
        for route in create_app(Settings()).router.routes
        if isinstance(route, APIRoute)
        and not route.include_in_schema
        and "GET" in (route.methods or ())
    }
    shown = {path for path in hidden if not path.startswith(("/docs", "/static", "/openapi"))}
    assert shown == set(PATHS)


def test_every_link_leads_somewhere_on_this_host(pages: Api) -> None:
    """From the first page to whatever it refers to, and on from there."""
    waiting, seen = ["/"], set[str]()
    while waiting:
        path = waiting.pop()
        answer = pages.http.get(path)
        assert answer.status_code in (200, 303), path
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        for address in Page(answer.text).addresses:
            found = urlsplit(urljoin(HOST + path, address))
            assert f"{found.scheme}://{found.netloc}" == HOST, address
            following = found.path + (f"?{found.query}" if found.query else "")
            if following not in seen and "/events" not in following:
                seen.add(following)
                waiting.append(following)
    assert {"/c/c1/identity", "/c/c1?at=2", "/static/style.css"} <= seen


@pytest.mark.parametrize("path", OF_CONVERSATION)
def test_what_is_not_there_is_a_page_that_says_so(lite: Api, path: str) -> None:
    absent = filled(lite).http.get(path.replace("/c1", "/nobody"))
    assert absent.status_code == 404
    assert "No such conversation" in absent.text
    assert absent.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/?wrong=1", "wrong"),
        ("/?cursor=~", "cursor"),
        ("/c/c1?at=-1", "at"),
        ("/c/c1/identity?state=odd", "state"),
        ("/c/c1/turns/nobody", "No such turn"),
    ],
)
def test_what_cannot_be_meant_is_told_as_a_page(lite: Api, path: str, said: str) -> None:
    refused = filled(lite).http.get(path)
    assert refused.status_code in (404, 422)
    assert refused.headers["content-type"].startswith("text/html")
    assert said in refused.text


def test_an_empty_conversation_has_all_pages(pages: Api) -> None:
    pages.http.post("/v1/conversations", json={"id": "empty"})
    for path in OF_CONVERSATION:
        if "t-1" not in path:
            assert pages.http.get(path.replace("/c1", "/empty")).status_code == 200


def test_they_can_be_switched_off(sqlite_database_url: str) -> None:
    with TestClient(create_app(Settings(database_url=sqlite_database_url, pages=False))) as http:
        for path in (*PATHS.values(), "/static/style.css"):
            assert http.get(path).status_code == 404


def created(url: str, *scopes: KeyScope, tenant: str = "default", prefix: str = "") -> str:
    """The text of a new key."""
    key, text = made(tenant, "test", scopes or ("admin",), prefix=prefix)
    with Database(url) as database:
        database.change_keys(lambda keys: keys.add(key))
    return text


class Keyed:
    """A service with keys: `mine` and `read` are of one tenant, `other` of another."""

    def __init__(self, url: str) -> None:
        self.mine = created(url)
        self.read = created(url, "read")
        self.other = created(url, tenant="other")
        self.narrow = created(url, prefix="team-")
        self.http: TestClient

    def get(self, path: str, key: str) -> tuple[int, str]:
        answer = self.http.get(path, headers={"Cookie": f"turnkeep_key={key}"})
        return answer.status_code, answer.text


@pytest.fixture
def keyed(database_url: str) -> Iterator[Keyed]:
    keys = Keyed(database_url)
    settings = Settings(database_url=database_url, allow_unsafe=True)
    with TestClient(create_app(settings)) as keys.http:
        keys.http.headers["Authorization"] = f"Bearer {keys.mine}"
        filled(Api(keys.http))
        del keys.http.headers["Authorization"]
        yield keys


@pytest.mark.parametrize("path", OF_CONVERSATION)
def test_pages_of_another_tenant_are_as_if_they_were_not_there(keyed: Keyed, path: str) -> None:
    assert keyed.get(path, keyed.mine)[0] == 200
    theirs = keyed.get(path, keyed.other)
    absent = keyed.get(path.replace("/c1", "/c2"), keyed.other)
    assert theirs[0] == 404
    assert theirs == (absent[0], absent[1].replace("c2", "c1"))


def test_lists_and_lookups_of_another_tenant_show_nothing(keyed: Keyed) -> None:
    assert LINK in keyed.get("/", keyed.mine)[1]
    assert LINK not in keyed.get("/", keyed.other)[1]
    for wanted in ("c1", "t-1", "call_1"):
        go = {"Cookie": f"turnkeep_key={keyed.other}"}
        answer = keyed.http.get("/go", params={"id": wanted}, headers=go)
        assert answer.headers["location"] == f"/?q={wanted}&looked_up=true"


def test_a_key_with_a_prefix_sees_no_other_conversation(keyed: Keyed) -> None:
    assert LINK not in keyed.get("/", keyed.narrow)[1]
    assert keyed.get("/c/c1", keyed.narrow)[0] == 403
    go = {"Cookie": f"turnkeep_key={keyed.narrow}"}
    assert keyed.http.get("/go?id=c1", headers=go).headers["location"] == "/?q=c1&looked_up=true"


@pytest.mark.parametrize("path", [path for path in PATHS.values() if path != "/login"])
def test_who_shows_no_key_is_led_to_the_login(keyed: Keyed, path: str) -> None:
    for cookie in ({}, {"Cookie": "turnkeep_key=tk_nonsense"}):
        answer = keyed.http.get(path, headers=cookie)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login?next=%2F")


def test_the_cookie_reads_and_never_writes(keyed: Keyed) -> None:
    cookie = {"Cookie": f"turnkeep_key={keyed.mine}"}
    assert keyed.http.get("/v1/conversations/c1", headers=cookie).status_code == 200
    body = {"provider": "openai", "messages": [user("x")]}
    for method, path, given in (
        ("POST", "/v1/conversations/c1/turns", body),
        ("POST", "/v1/conversations", {}),
        ("PATCH", "/v1/conversations/c1", {"title": "x"}),
        ("DELETE", "/v1/conversations/c1", None),
        ("PUT", "/v1/conversations/c1/tools", {"provider": "openai", "tools": []}),
        ("POST", "/v1/convert/messages", {}),
    ):
        assert keyed.http.request(method, path, json=given, headers=cookie).status_code == 401, path
    # A header that is there counts alone, also when it is wrong.
    both = {**cookie, "Authorization": "Bearer wrong"}
    assert keyed.http.get("/v1/conversations/c1", headers=both).status_code == 401


def test_logging_in_gives_a_cookie_that_scripts_and_other_sites_cannot_use(keyed: Keyed) -> None:
    form = {"key": f" {keyed.read} ", "next": "/c/c1"}
    answer = keyed.http.post("/login", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/c/c1")
    flags = answer.headers["set-cookie"].lower()
    assert "httponly" in flags
    assert "samesite=lax" in flags
    refused = keyed.http.post("/login", data={"key": "tk_wrong"})
    assert refused.status_code == 401
    assert "set-cookie" not in refused.headers
    out = keyed.http.post("/logout")
    assert 'turnkeep_key=""' in out.headers["set-cookie"]


@pytest.mark.parametrize(
    "where", ["//evil.example", "https://evil.example", "/\\evil.example", "", "/a\nb"]
)
def test_the_login_sends_nobody_elsewhere(keyed: Keyed, where: str) -> None:
    answer = keyed.http.post("/login", data={"key": keyed.read, "next": where})
    assert answer.headers["location"] == "/"


def test_another_site_can_log_nobody_in(keyed: Keyed) -> None:
    origin = {"Origin": "https://evil.example"}
    assert keyed.http.post("/login", data={"key": keyed.read}, headers=origin).status_code == 403


def test_a_very_long_login_is_refused(keyed: Keyed) -> None:
    assert keyed.http.post("/login", content=b"key=" + b"x" * 100_000).status_code == 401


def test_a_replay_that_is_too_long_is_not_laid_out(lite: Api) -> None:
    lite.post(user("word " * 400_000))
    shown = lite.http.get("/c/c1/replay")
    assert shown.status_code == 200
    assert len(shown.content) < 20_000
    assert "too long to be laid out" in shown.text
    assert "curl" in shown.text


def test_a_page_of_replays_says_which_model_was_assumed(lite: Api) -> None:
    lite.post(user("a"), {"role": "assistant", "content": "b"}, provider="anthropic", model="m<1>")
    shown = lite.http.get("/c/c1/replay?left=anthropic&right=openai").text
    assert 'anthropic <span class="faint">for m&lt;1&gt;, ' in shown
    assert 'openai <span class="faint">2 messages' in shown


def test_a_page_is_bounded_however_much_a_turn_holds(lite: Api) -> None:
    deep = "[" * 450 + "]" * 450
    calls = [(f"call_{n}", "f", f"[{deep},{deep}]") for n in range(500)]
    for n in range(6):
        lite.post(calling(*calls), turn_id=f"many-{n}")
    shown = lite.http.get("/c/c1")
    assert len(shown.content) < 1_000_000
    # Six turns of 500 blocks are more than a piece holds; the rest is fetched when it is seen.
    assert "/turns?after=5&amp;until=6" in shown.text
    assert "more blocks" in shown.text
    rest = lite.http.get("/c/c1/turns?after=5&until=6")
    assert 'id="turn-6"' in rest.text
    assert len(lite.http.get("/c/c1/turns/many-1").content) < 6_000_000


def test_pictures_are_named_in_the_timeline_and_shown_with_their_turn(lite: Api) -> None:
    picture = "data:image/png;base64," + "iVBORw0KGgo" + "A" * 20_000
    lite.post({"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]})
    assert picture not in lite.http.get("/c/c1").text
    [turn] = lite.get("turns").json()["data"]
    assert picture in lite.http.get(f"/c/c1/turns/{turn['turn_id']}").text


def test_results_of_many_calls_at_once_are_not_late(lite: Api) -> None:
    calls = [f"call_{n}" for n in range(6)]
    lite.post(calling(*((one, "f", "{}") for one in calls)))
    lite.post(*(answering(one, "x") for one in calls))
    assert "0 are out of the ordinary" in lite.http.get("/c/c1/picture").text
    lite.post(calling(("slow", "f", "{}")), calling(("quick", "f", "{}")))
    lite.post(answering("quick", "x"), answering("slow", "x"))
    assert "1 is out of the ordinary" in lite.http.get("/c/c1/picture").text


def test_words_of_other_scripts_can_be_read(lite: Api) -> None:
    lite.post(user("Привет"), calling(("a", "f", '{"x": "мир"}')))
    assert "Привет" in lite.http.get("/c/c1/replay").text
    assert "мир" in lite.http.get("/c/c1").text


def test_what_cannot_be_seen_is_shown(lite: Api) -> None:
    lite.post(user("a\u202eb\u200bc\U000e0041d\x00e"))
    text = lite.http.get("/c/c1").text
    assert "a[U+202E]b[U+200B]c[U+E0041]d\u2400e" in text


def test_the_way_back_from_the_login_may_be_in_any_script(keyed: Keyed) -> None:
    asked = keyed.http.get("/c/%E2%82%AC").headers["location"]
    assert asked == "/login?next=%2Fc%2F%25E2%2582%25AC"
    answer = keyed.http.post("/login", data={"key": keyed.read, "next": "/c/€"})
    assert answer.headers["location"] == "/c/%E2%82%AC"


def test_a_proxy_with_its_own_password_does_not_hide_the_cookie(keyed: Keyed) -> None:
    headers = {"Cookie": f"turnkeep_key={keyed.read}", "Authorization": "Basic cHJveHk6eA=="}
    assert keyed.http.get("/c/c1", headers=headers).status_code == 200


def test_an_id_of_a_damaged_conversation_leads_to_it(lite: Api, sqlite_database_url: str) -> None:
    filled(lite)
    with sqlite3.connect(sqlite_database_url.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE conversations SET version = 'zz'")
    answer = lite.http.get("/go?id=c1")
    assert answer.headers["location"] == "/c/c1"
    assert lite.http.get("/c/c1").status_code == 409
    assert lite.http.get("/c/c1/verify").status_code == 200
