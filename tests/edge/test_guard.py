"""Who is refused by the headers alone: other hosts, other sites' pages, doubled and coded ones."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.edge.guard import allowed_hosts
from app.main import create_app
from app.settings import Settings
from tests.http_api import Api, calling, user

TURNS = "/v1/conversations/c1/turns"
BODY = {"provider": "openai", "messages": [user("hi")]}


@pytest.fixture
def open_to_some(sqlite_database_url: str) -> Iterator[TestClient]:
    settings = Settings(
        database_url=sqlite_database_url,
        allowed_hosts="turnkeep, api.example",
        cors_origins="https://app.example",
    )
    with TestClient(create_app(settings)) as http:
        yield http


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8420", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8420"]
)
def test_names_of_this_machine_are_served(lite: Api, host: str) -> None:
    assert lite.http.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8420",
        "127.0.0.1.evil.example",
        "localhost@evil",
        "[::1]x",
        "::",
    ],
)
def test_another_name_is_refused_on_a_loopback_address(lite: Api, host: str) -> None:
    lite.post(user("hi"))
    refused = lite.http.delete("/v1/conversations/c1", headers={"host": host})
    assert (refused.status_code, refused.json()["code"]) == (421, "foreign_host")
    assert lite.get("").status_code == 200


def test_names_can_be_allowed(open_to_some: TestClient) -> None:
    for host in ("turnkeep:8420", "API.example", "localhost"):
        assert open_to_some.get("/healthz", headers={"host": host}).status_code == 200
    assert open_to_some.get("/healthz", headers={"host": "evil.example"}).status_code == 421


@pytest.mark.parametrize(
    ("bound_to", "named", "everybody"),
    [
        ("127.0.0.1", "", False),
        ("::1", "", False),
        ("localhost", "", False),
        ("127.0.0.1", "*", True),
        ("0.0.0.0", "", True),
        ("0.0.0.0", "a.example", False),
    ],
)
def test_who_is_asked_for_a_name(bound_to: str, named: str, everybody: bool) -> None:
    assert (allowed_hosts(bound_to, named.split()) is None) == everybody


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000"])
def test_a_page_of_another_site_does_not_write(lite: Api, origin: str) -> None:
    refused = lite.http.post(TURNS, json=BODY, headers={"origin": origin})
    assert (refused.status_code, refused.json()["code"]) == (403, "foreign_origin")
    assert lite.get("").status_code == 404
    assert "access-control-allow-origin" not in refused.headers
    assert lite.http.get("/healthz", headers={"origin": origin}).status_code == 200


def test_the_pages_of_the_service_itself_write(lite: Api) -> None:
    headers = {"host": "localhost:8420", "origin": "http://localhost:8420"}
    assert lite.http.post(TURNS, json=BODY, headers=headers).status_code == 201


def test_a_site_that_is_allowed_writes_and_reads(open_to_some: TestClient) -> None:
    site = {"origin": "https://app.example"}
    stored = open_to_some.post(TURNS, json=BODY, headers=site)
    assert stored.status_code == 201
    assert stored.headers["access-control-allow-origin"] == "https://app.example"
    assert "ETag" in stored.headers["access-control-expose-headers"]
    evil = {"origin": "https://evil.example"}
    assert open_to_some.post(TURNS, json=BODY, headers=evil).status_code == 403


@pytest.mark.parametrize(
    "header", ["If-Match", "Idempotency-Key", "Host", "Content-Type", "Authorization"]
)
def test_a_header_that_counts_is_given_once(lite: Api, header: str) -> None:
    value = {"If-Match": '"0"', "Host": "localhost"}.get(header, "application/json")
    headers: Any = [("content-type", "application/json")] if header != "Content-Type" else []
    headers += [(header, value), (header, value)]
    refused = lite.http.post(TURNS, content=b'{"provider":"openai"}', headers=headers)
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        f"`{header}` must be given once.",
    )


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Content-Encoding", "gzip"),
        ("Content-Encoding", "br, identity"),
        ("Transfer-Encoding", "gzip, chunked"),
    ],
)
def test_a_coded_body_is_refused(lite: Api, header: str, value: str) -> None:
    refused = lite.http.post(TURNS, json=BODY, headers={header: value})
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported_media_type")
    assert f"`{header}`" in refused.json()["detail"]


def test_a_body_that_is_said_to_be_plain_is_read(lite: Api) -> None:
    headers = {"Content-Encoding": "Identity"}
    assert lite.http.post(TURNS, json=BODY, headers=headers).status_code == 201


def test_a_slash_too_many_leads_to_the_path_and_to_no_host(open_to_some: TestClient) -> None:
    moved = open_to_some.get("/v1/conversations/?limit=1", follow_redirects=False)
    assert (moved.status_code, moved.headers["location"]) == (307, "/v1/conversations?limit=1")
    moved = open_to_some.get("/v1/conversations/a%20b/", follow_redirects=False)
    assert moved.headers["location"] == "/v1/conversations/a%20b"
    doubled = "http://testserver//evil.example/"
    assert open_to_some.get(doubled, follow_redirects=False).status_code == 404


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/v1/conversations/c1", 200, "application/json"),
        ("/v1/conversations/c1/replay?provider=openai", 200, "application/json"),
        ("/v1/conversations/c1/tool-calls?format=csv", 200, "text/csv"),
        ("/v1/conversations/c1/export", 404, "application/problem+json"),
        ("/openapi.json", 200, "application/json"),
        ("/metrics", 200, "text/plain"),
        ("/", 200, "text/html"),
    ],
)
def test_no_browser_guesses_what_a_response_is(
    lite: Api, path: str, status: int, kind: str
) -> None:
    lite.post(user("hi"), calling(("a", "<script>", "{}")))
    answer = lite.http.get(path, headers={"accept": kind})
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (status, kind)
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_a_request_of_http_1_1_must_name_its_host(lite: Api) -> None:
    request = lite.http.build_request("GET", "/healthz")
    del request.headers["host"]
    refused = lite.http.send(request)
    assert (refused.status_code, refused.json()["code"]) == (400, "bad_request")
    assert "`Host`" in refused.json()["detail"]
