"""What is posted as a stream and is none is refused with a reason; what may be one is kept."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.model.errors import RuleBroken
from app.model.limits import Limits
from app.settings import Settings
from app.turns.streaming import Stream
from tests.every import every
from tests.formats.test_provider_errors import ERRORS
from tests.http_api import Api
from tests.streams.posts import from_stream
from tests.streams.recordings import OTHER_FORMS, RECORDINGS, Recording
from tests.streams.recordings.frames import sse
from tests.turns.test_no_responses import REPLYING, shape
from tests.turns.test_streams import WHOLE, codes, event, is_valid_everywhere, stream, verified

DECLARED = [
    ("openai", "text/event-stream"),
    ("anthropic", "application/x-ndjson"),
    ("gemini", "application/json"),
    ("bedrock", "application/vnd.amazon.eventstream"),
]
NOTHING = [
    b"<html>502</html>",
    b"<html>502</html>\n",
    b"<html>\r\n<body>502 Bad Gateway</body>\r\n</html>\r\n",
    b"hello world",
    b"hello world\n",
    b"event not found",
    b"data: hello",
    b"data: hello\n\n",
    b": keepalive\n\n: keepalive\n\n",
    b": keepalive",
    b"event: ping\n\n",
    b"retry: 3000\n\n",
    b"[]",
    b"[]\n",
    b"[ \r\n ]",
    b"[1, 2]",
    b'"hello"',
    b"null",
    b"{}",
    b'{"weather": "fine"}\n',
    b'{\n  "weather": "fine"\n}\n',
    b" \r\n\r\n",
    b"\xef\xbb\xbf",
    b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d",
    b"\x1f\x8b\x08\x00\x00",
    "hello".encode("utf-16"),
]


@every("body", NOTHING)
@pytest.mark.parametrize(("provider", "declared"), DECLARED)
def test_a_body_in_which_nothing_of_a_stream_is_leaves_nothing(
    lite: Api, provider: str, declared: str, body: bytes
) -> None:
    answer = stream(lite, body, {"content-type": declared}, provider=provider)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), answer.text
    assert lite.get("").status_code == 404


PINGS: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "ping"},
    "openai-responses": {"type": "keepalive", "sequence_number": 3},
}


@pytest.mark.parametrize("provider", PINGS)
def test_pings_alone_are_no_answer(lite: Api, provider: str) -> None:
    answer = stream(lite, sse(*[PINGS[provider]] * 3, named=True), provider=provider)
    assert answer.status_code == 422
    assert "pings" in answer.json()["detail"]


@pytest.mark.parametrize("provider", REPLYING)
@every("name", ERRORS)
def test_an_error_instead_of_a_stream_is_told_by_its_type(
    lite: Api, provider: str, name: str
) -> None:
    error, kind = ERRORS[name]
    bodies = [json.dumps(error), json.dumps(error, indent=2)]
    if isinstance(error, dict):
        bodies += [f"event: error\ndata: {json.dumps(error)}\n\n", f": hi\n\n{bodies[0]}\n"]
    for body in bodies:
        answer = stream(lite, body.encode(), provider=provider)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (422, "error_response"), body
        assert problem.get("error_type", "") == kind
        assert "nothing to store" in problem["detail"]
        assert "No." not in answer.text
        assert "SECRET" not in answer.text
    assert lite.get("").status_code == 404


def test_an_exception_in_a_frame_of_its_own_is_an_error_too(lite: Api) -> None:
    body = b'{"throttlingException": {"message": "slow down"}}\n'
    answer = stream(lite, body, provider="bedrock")
    assert (answer.status_code, answer.json()["error_type"]) == (422, "throttlingException")


FIRST = {one.provider: one for one in reversed([*RECORDINGS, *OTHER_FORMS])}


@pytest.mark.parametrize("one", FIRST.values(), ids=FIRST)
def test_a_stream_under_another_name_is_told_whose_it_is(one: Recording) -> None:
    for other in REPLYING:
        if shape(other) is shape(one.provider):
            continue
        with pytest.raises(RuleBroken) as refused:
            from_stream(other, [one.stream])
        whose = refused.value.facts["looks_like"]
        assert isinstance(whose, list)
        assert one.provider in whose
        assert other not in whose
        assert one.provider in refused.value.detail


CHUNK = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("event", [CHUNK, {"weather": "fine"}], ids=["chunk", "weather"])
def test_events_over_several_lines_are_told_that_each_must_be_on_one(
    lite: Api, number: int, event: dict[str, Any]
) -> None:
    body = "\n".join([json.dumps(event, indent=2)] * number).encode()
    answer = stream(lite, body, {"content-type": "application/x-ndjson"}, provider="openai")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert answer.json()["detail"].startswith("Each line must be one JSON value")
    assert "looks_like" not in answer.json()
    assert lite.get("").status_code == 404


def test_a_whole_completion_over_several_lines_is_told_where_it_belongs(lite: Api) -> None:
    message = {"role": "assistant", "content": "Hi"}
    whole = {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    answer = stream(lite, json.dumps(whole, indent=2).encode(), provider="openai")
    assert "post it to …/turns, as `response`" in answer.json()["detail"]


def test_one_event_of_another_wire_over_several_lines_is_told_whose_it_is(lite: Api) -> None:
    answer = stream(lite, json.dumps(CHUNK, indent=2).encode(), provider="anthropic")
    assert "openai" in answer.json()["looks_like"]


def test_a_stream_of_which_one_event_is_understood_is_kept(api: Api) -> None:
    start = event(type="message_start", message={"role": "assistant", "content": []})
    foreign = FIRST["openai"].stream
    answer = stream(api, start + foreign)
    assert answer.status_code == 201
    assert codes(answer.json()["notes"]) == {"EVENTS_NOT_READ", "STREAM_INTERRUPTED"}
    assert api.get("turns", raw=True).json()["data"][0]["payload_text"].encode() == start + foreign
    is_valid_everywhere(api)


def test_a_whole_response_is_told_where_it_belongs(lite: Api) -> None:
    response = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    for body in (json.dumps(response), json.dumps(response, indent=1)):
        answer = stream(lite, body.encode())
        assert (answer.status_code, answer.json()["looks_like"]) == (422, ["anthropic"])
        assert "`response`" in answer.json()["detail"]


# What cannot be read is kept.


@pytest.fixture(params=[Limits(blocks=2), Limits(raw_id_bytes=12)], ids=["blocks", "ids"])
def narrow(database_url: str, request: pytest.FixtureRequest) -> Iterator[Api]:
    """A service that takes two blocks a turn, or short ids."""
    settings = Settings(database_url=database_url, limits=request.param)
    with TestClient(create_app(settings)) as http:
        yield Api(http)


def test_a_finished_stream_beyond_a_limit_is_kept(narrow: Api) -> None:
    body = WHOLE
    answer = stream(narrow, body, turn_id="t1")
    assert answer.status_code == 201, answer.text
    assert codes(answer.json()["notes"]) == {"STREAM_UNREADABLE", "STREAM_INTERRUPTED"}
    kept = narrow.get("turns/t1").json()
    assert (kept["status"], kept["blocks"]) == ("interrupted", [])
    assert kept["payload_text"].encode() == body
    assert kept["metadata"]["response"]["id"] == "msg_1"
    assert verified(narrow)
    is_valid_everywhere(narrow)


RUINS = [
    b'data: {"type": NaN}\n\n',
    b'{"type": oops}\n',
    b'data: {"choices": [}]}\n\ndata: {"cho',
    b'{"a": 1, }\r\n{"b": 1, }\r\n',
]


@pytest.mark.parametrize("body", RUINS)
def test_events_of_which_none_can_be_read_are_kept(api: Api, body: bytes) -> None:
    answer = stream(api, body, turn_id="t1")
    assert answer.status_code == 201
    assert {"STREAM_UNREADABLE", "STREAM_INTERRUPTED"} <= codes(answer.json()["notes"])
    again = stream(api, body, turn_id="t1")
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
    # Other bytes say something else, though nobody knows what.
    assert stream(api, body + body, turn_id="t1").status_code == 200
    kept = api.get("turns/t1").json()
    assert kept["payload_text"].encode() == body + body
    assert [one["payload_text"].encode() for one in kept["earlier"]] == [body]
    assert stream(api, WHOLE, turn_id="t1").status_code == 200
    assert verified(api)


def test_what_is_wrong_with_the_query_is_told_before_anything_is_read() -> None:
    with pytest.raises(RuleBroken) as refused:
        Stream({"provider": "openai", "turn_id": "no way"}, Limits())
    assert refused.value.pointer == "?turn_id"


def test_whoever_hung_up_leaves_no_page_of_a_proxy_behind() -> None:
    for body in (b"<html>502</html>", b'data: {"error": {"type": "overloaded"}}\n\n'):
        with pytest.raises(RuleBroken):
            from_stream("openai", [body], hung_up=True)
    kept = from_stream("openai", [WHOLE], hung_up=True)
    assert (kept.status, kept.raw) == ("interrupted", WHOLE)
    assert "STREAM_UNREADABLE" in {note.code for note in kept.notes}


def test_a_part_that_cannot_be_read_does_not_take_the_others_with_it(api: Api) -> None:
    body = WHOLE.replace(b'{"type": "text", "text": ""}', b'{"text": ""}')
    assert body != WHOLE
    answer = stream(api, body, turn_id="t1")
    assert answer.status_code == 201
    assert codes(answer.json()["notes"]) == {"STREAM_UNREADABLE", "STREAM_INTERRUPTED"}
    (told,) = (note for note in answer.json()["notes"] if note["code"] == "STREAM_UNREADABLE")
    assert "/content/0" in told["detail"]
    kept = api.get("turns/t1").json()
    assert kept["status"] == "interrupted"
    assert [block["name"] for block in kept["blocks"]] == ["weather", "time"]
    assert kept["payload_text"].encode() == body
    is_valid_everywhere(api)
    assert stream(api, WHOLE, turn_id="t1").status_code == 200
    assert verified(api)
