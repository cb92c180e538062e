"""Every published limit, at its edge and one beyond it."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.model.limits import Limits
from app.settings import Settings
from tests.http_api import Api, answering, calling, user

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "application/x-ndjson"}
STREAM = "/v1/conversations/c1/turns/stream?provider=openai"
_CHUNK = b'{"object":"chat.completion.chunk","model":"short","choices":[{"index":0,'
HEARD = b"".join(
    _CHUNK + rest + b"}]}\n"
    for rest in (
        b'"delta":{"role":"assistant","content":"hi"}',
        b'"delta":{},"finish_reason":"stop"',
    )
)
SMALL = Limits(
    body_bytes=2_000,
    turns=3,
    blocks=4,
    calls=5,
    synced_messages=6,
    synced_calls=14,
    depth=8,
    raw_id_bytes=16,
    model_bytes=12,
    metadata_bytes=30,
    integer_digits=20,
)


@pytest.fixture
def small(sqlite_database_url: str) -> Iterator[Api]:
    settings = Settings(database_url=sqlite_database_url, limits=SMALL)
    with TestClient(create_app(settings)) as http:
        yield Api(http)


def test_the_defaults_are_the_published_ones() -> None:
    assert Limits() == Limits(
        head_bytes=64 * 1024,
        body_bytes=32 * 1024 * 1024,
        stream_bytes=48 * 1024 * 1024,
        turns=1_000,
        blocks=10_000,
        calls=20_000,
        synced_messages=10_000,
        synced_calls=20_000,
        json_values=200_000,
        depth=64,
        raw_id_bytes=64 * 1024,
        model_bytes=1_024,
        metadata_bytes=64 * 1024,
        integer_digits=4_300,
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


def test_calls_and_results_of_a_post(small: Api) -> None:
    calls = [(f"c{number}", "read", "{}") for number in range(3)]
    results = [answering(f"c{number}", "1") for number in range(3)]
    assert small.post(calling(*calls), *results[:2]).status_code == 201
    refused = small.post(calling(*calls), calling(*calls))
    told = refused.json()
    assert (refused.status_code, told["limit"], told["pointer"]) == (422, "calls", "/messages")


def test_a_list_that_is_synced_may_hold_more_calls_than_one_post(small: Api) -> None:
    calls = [(f"c{number}", "read", "{}") for number in range(3)]
    first = [calling(*calls), answering("c0", "1"), answering("c1", "1")]
    assert small.post(*first).status_code == 201
    url = "/v1/conversations/c1/turns?mode=sync"
    whole = [*first, answering("c2", "1")]

    def synced(*messages: object) -> Any:
        return small.http.post(url, json={"provider": "openai", "messages": messages}).json()

    assert synced(*whole)["known"] == 3
    more = [calling(*[(f"d{number}", "read", "{}") for number in range(4)]) for _ in range(2)]
    assert synced(*whole, *more)["limit"] == "calls"


def test_messages_of_a_synced_list_are_counted_before_they_are_read(small: Api) -> None:
    url = "/v1/conversations/c1/turns?mode=sync"
    for provider, key in (("openai", "messages"), ("gemini", "contents")):
        refused = small.http.post(url, json={"provider": provider, key: ["no message"] * 7}).json()
        assert (refused["status"], refused["pointer"]) == (422, f"/{key}")
        assert (refused["limit"], refused["most"]) == ("synced_messages", 6)
        broken = small.http.post(url, json={"provider": provider, key: ["no message"] * 6}).json()
        assert "limit" not in broken


def test_calls_and_results_of_a_synced_list(small: Api) -> None:
    calls = [(f"c{number}", "read", "{}") for number in range(5)]
    body = {"provider": "openai", "messages": [calling(*calls)] * 3}
    told = small.http.post("/v1/conversations/c1/turns?mode=sync", json=body).json()
    assert (told["limit"], told["most"], told["pointer"]) == ("synced_calls", 14, "/messages")


@pytest.mark.parametrize(("name", "good"), [("x" * 12, True), ("ä" * 6, True), ("ä" * 7, False)])
def test_names_of_models(small: Api, name: str, good: bool) -> None:
    own = {"speaker": "ai", "blocks": [], "model": name}
    for answer, pointer in (
        (small.post(user("x"), model=name), "/model"),
        (small.post(own, provider="neutral"), "/messages/0/model"),
        (small.http.post(f"{STREAM}&model={name}", content=HEARD, headers=EVENTS), "?model"),
    ):
        assert answer.status_code == (201 if good else 422)
        told = answer.json()
        assert good or (told["limit"], told["pointer"]) == ("model_bytes", pointer)


def test_a_stream_is_kept_without_the_name_of_a_model_that_is_too_long(small: Api) -> None:
    heard = HEARD.replace(b"short", b"a name of 23 characters")
    answer = small.http.post(STREAM, content=heard, headers=EVENTS)
    assert (answer.status_code, answer.json()["turns"][0]["status"]) == (201, "interrupted")
    assert "STREAM_UNREADABLE" in {note["code"] for note in answer.json()["notes"]}
    assert "model" not in small.get("turns").json()["data"][0]


def test_metadata_of_all_turns_of_a_post(small: Api) -> None:
    fits, more = {"m": "y" * 22}, {"m": "y" * 23}
    assert small.post(user("x"), user("x"), metadata=fits).status_code == 201
    refused = small.post(user("x"), user("x"), metadata=more)
    told = refused.json()
    assert (told["limit"], told["pointer"]) == ("metadata_bytes", "/metadata")
    # What stands in a message is stored once.
    own = {"speaker": "human", "blocks": [], "metadata": {"m": "y" * 200}}
    assert small.post(own, provider="neutral").status_code == 201


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
    for number in ("2,000", "5 tool calls", "16", "12 bytes", "30 bytes", "20"):
        assert number in text
