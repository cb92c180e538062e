"""Every published limit, at its edge and one beyond it."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.core.limits import Limits
from app.main import create_app
from app.settings import Settings
from tests.api.conftest import Api, answering, user

JSON = {"content-type": "application/json"}
SMALL = Limits(body_bytes=2_000, turns=3, blocks=4, depth=8, raw_id_bytes=16, integer_digits=20)


@pytest.fixture
def small(sqlite_database_url: str) -> Iterator[Api]:
    settings = Settings(database_url=sqlite_database_url, limits=SMALL)
    with TestClient(create_app(settings)) as http:
        yield Api(http)


def test_the_defaults_are_the_published_ones() -> None:
    assert Limits() == Limits(
        64 * 1024, 32 * 1024 * 1024, 48 * 1024 * 1024, 1_000, 10_000, 64, 200_000, 64 * 1024, 4_300
    )


def test_a_body_may_have_its_limit_and_not_a_byte_more(small: Api) -> None:
    body = b'{"provider":"openai","messages":[{"role":"user","content":"hi"}]}'
    padded = body + b" " * (SMALL.body_bytes - len(body))
    post = "/v1/conversations/c1/turns"
    assert small.http.post(post, content=padded, headers=JSON).status_code == 201
    refused = small.http.post(post, content=padded + b" ", headers=JSON)
    assert (refused.status_code, refused.json()["limit"]) == (413, "body_bytes")


def test_a_body_of_unknown_length_is_cut_off_at_the_limit(small: Api) -> None:
    pieces = (b" " * 500 for _ in range(1_000))
    refused = small.http.post("/v1/conversations/c1/turns", content=pieces, headers=JSON)
    assert refused.status_code == 413


@pytest.mark.parametrize("length", ["9" * 5000, "0" * 5000 + "9999", "9" * 18])
def test_a_length_of_thousands_of_digits_is_read_for_what_it_is(small: Api, length: str) -> None:
    headers = {**JSON, "content-length": length}
    refused = small.http.post("/v1/conversations/c1/turns", content=b"{}", headers=headers)
    assert (refused.status_code, refused.json()["limit"]) == (413, "body_bytes")


def test_zeros_before_a_length_do_not_count(small: Api) -> None:
    body = b'{"provider":"openai","messages":[{"role":"user","content":"hi"}]}'
    headers = {**JSON, "content-length": "0" * 5000 + str(len(body))}
    done = small.http.post("/v1/conversations/c1/turns", content=body, headers=headers)
    assert done.status_code == 201


def test_turns_of_a_post(small: Api) -> None:
    assert small.post(*[user("x")] * 3).status_code == 201
    assert small.post(*[user("x")] * 4).json()["limit"] == "turns"


def test_blocks_of_a_turn(small: Api) -> None:
    def blocks(count: int) -> dict[str, object]:
        return {"role": "user", "content": [{"type": "text", "text": "x"}] * count}

    assert small.post(blocks(4)).status_code == 201
    assert small.post(blocks(5)).json()["limit"] == "blocks"


def test_depth_of_json(small: Api) -> None:
    def nested(depth: int) -> bytes:
        inner = b"[" * (depth - 3) + b"]" * (depth - 3)
        return (
            b'{"provider":"openai","messages":[{"role":"user","content":"x","n":' + inner + b"}]}"
        )

    post = "/v1/conversations/c1/turns"
    assert small.http.post(post, content=nested(8), headers=JSON).status_code == 201
    refused = small.http.post(post, content=nested(9), headers=JSON)
    assert (refused.status_code, refused.json()["limit"]) == (422, "depth")


def test_very_deep_json_is_a_422_and_no_crash(lite: Api) -> None:
    body = b'{"provider":"openai","messages":' + b"[" * 200_000
    refused = lite.http.post("/v1/conversations/c1/turns", content=body, headers=JSON)
    assert (refused.status_code, refused.json()["limit"]) == (422, "depth")


def test_raw_ids(small: Api) -> None:
    assert small.post(answering("x" * 16, "1")).status_code == 201
    assert small.post(answering("ä" * 9, "1")).json()["limit"] == "raw_id_bytes"


def test_digits_of_integers(small: Api) -> None:
    def body(digits: int) -> bytes:
        number = b"9" * digits
        return (
            b'{"provider":"openai","messages":[{"role":"user","content":"x","n":' + number + b"}]}"
        )

    post = "/v1/conversations/c1/turns"
    assert small.http.post(post, content=body(20), headers=JSON).status_code == 201
    refused = small.http.post(post, content=body(21), headers=JSON)
    assert (refused.status_code, refused.json()["limit"]) == (422, "integer_digits")


def test_the_page_of_the_interface_names_every_limit(small: Api) -> None:
    text = small.http.get("/openapi.json").json()["info"]["description"]
    for number in ("2,000", "16", "20"):
        assert number in text
