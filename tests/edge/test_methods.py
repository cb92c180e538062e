"""Methods and paths: HEAD like GET, a whole `Allow`, and where one probably wanted to go."""

import re
from typing import Any

import pytest

from tests.http_api import Api, user

IDS = {"cid": "c1", "turn_id": "t1"}
PARAMETERS = {"replay": "provider=kimi", "tools": "provider=kimi", "lookup": "id=x"}


def operations(api: Api) -> dict[str, dict[str, Any]]:
    paths: dict[str, dict[str, Any]] = api.http.get("/openapi.json").json()["paths"]
    return paths


def gets(api: Api) -> list[str]:
    """A request for every path that has GET."""
    paths = [path for path, methods in operations(api).items() if "get" in methods]
    asked = [path.format(**IDS) for path in paths]
    return [f"{path}?{PARAMETERS.get(path.rsplit('/', 1)[1], '')}".rstrip("?") for path in asked]


def test_head_answers_like_get_wherever_there_is_get(lite: Api) -> None:
    lite.post(user("hello"), turn_id="t1")
    for path in gets(lite):
        got, head = lite.http.get(path), lite.http.head(path)
        assert (path, got.status_code) == (path, 200)
        assert (path, head.status_code, head.content) == (path, 200, b"")
        # The numbers themselves change with every request.
        if path != "/metrics":
            assert (path, head.headers) == (path, got.headers)
        # What a listener is told has no end.
        assert ("content-length" in head.headers) != path.endswith("/events")


def test_head_of_a_replay_has_its_tag_and_takes_conditions(lite: Api) -> None:
    lite.post(user("hello"))
    path = "/v1/conversations/c1/replay?provider=kimi"
    tag = lite.http.head(path).headers["etag"]
    assert tag == lite.http.get(path).headers["etag"]
    assert lite.http.head(path, headers={"If-None-Match": tag}).status_code == 304


def test_head_of_what_is_absent_is_absent(lite: Api) -> None:
    for path in ("/v1/conversations/c1", "/v1/conversations/c1/turns", "/v1/nothing"):
        got, head = lite.http.get(path), lite.http.head(path)
        assert (head.status_code, head.content, head.headers) == (404, b"", got.headers)


def test_head_is_counted_as_head_under_its_route(lite: Api) -> None:
    lite.http.head("/v1/conversations/never-counted")
    label = 'method="HEAD",route="/v1/conversations/{cid}",status="404"'
    assert f"turnkeep_requests_total{{{label}}}" in lite.http.get("/metrics").text


def test_allow_names_every_method_of_a_path(lite: Api) -> None:
    every = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}
    for template, methods in operations(lite).items():
        offered = {name.upper() for name in methods} | ({"HEAD"} if "get" in methods else set())
        if template.endswith("/turns/stream"):
            # A turn may be called `stream`, too.
            offered |= {"GET", "HEAD"}
        for method in every - offered:
            refused = lite.http.request(method, template.format(**IDS))
            assert (template, method, refused.status_code) == (template, method, 405)
            assert set(refused.headers["allow"].split(", ")) == offered


def test_a_wrong_method_is_told_the_right_ones(lite: Api) -> None:
    refused = lite.http.put("/v1/conversations/c1/turns").json()
    assert refused["detail"] == "`PUT` is not a method of this path. It has: GET, HEAD, POST."
    refused = lite.http.post("/docs")
    assert refused.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1/conversations/c1/turn", "/v1/conversations/{cid}/turns"),
        ("/conversations/c1/turns", "/v1/conversations/{cid}/turns"),
        ("/v1/conversation", "/v1/conversations"),
        ("/v1/conversations/c1/tool_calls", "/v1/conversations/{cid}/tool-calls"),
        ("/v1/conversations/c1/message", None),
        ("/v1/Conversations", "/v1/conversations"),
        ("/health", "/healthz"),
        ("/v1/chat/completions", None),
        ("/v2", None),
    ],
)
def test_an_unknown_path_is_told_the_nearest(lite: Api, path: str, meant: str | None) -> None:
    refused = lite.http.get(path)
    found = re.search(r"did you mean `(.*)`\?", refused.json()["detail"])
    assert refused.status_code == 404
    assert (found and found[1]) == meant


def test_an_id_with_a_slash_is_told_so(lite: Api) -> None:
    refused = lite.http.get("/v1/conversations/a%2Fb/turns")
    assert "must not hold a slash" in refused.json()["detail"]


def test_a_long_path_does_not_come_back(lite: Api) -> None:
    assert len(lite.http.get("/v1/" + "x" * 5000).text) < 500
