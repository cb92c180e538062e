"""`POST …/turns/stream` and `response`: what is stored, what breaks off, what completes it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.formats.registry import TARGETS
from tests import judges
from tests.http_api import Api, answering, calling, user

STREAM = "/v1/conversations/c1/turns/stream"
SSE = {"content-type": "text/event-stream"}
MODEL = "claude-sonnet-4-5"


def event(**members: Any) -> bytes:
    return f"event: {members['type']}\ndata: {json.dumps(members)}\n\n".encode()


def events() -> Iterator[bytes]:
    """A text and two calls, as Anthropic streams them."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": []}
    yield event(type="message_start", message={**message, "usage": {"input_tokens": 9}})
    yield event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
    for piece in ("Let me ", "look – über."):
        delta = {"type": "text_delta", "text": piece}
        yield event(type="content_block_delta", index=0, delta=delta)
    yield event(type="content_block_stop", index=0)
    for index, (name, pieces) in enumerate(
        {"weather": ('{"city": ', '"Bonn"}'), "time": ('{"zo', 'ne":"CET"}')}.items(), 1
    ):
        use = {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": {}}
        yield event(type="content_block_start", index=index, content_block=use)
        for piece in pieces:
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield event(type="content_block_delta", index=index, delta=delta)
        yield event(type="content_block_stop", index=index)
    yield event(
        type="message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 31}
    )
    yield event(type="message_stop")


WHOLE = b"".join(events())
# In the middle of the second call's arguments.
CUT = WHOLE.index(b'"ne') - 40
RESPONSE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": MODEL,
    "content": [
        {"type": "text", "text": "Let me look – über.", "citations": None},
        {"type": "tool_use", "id": "toolu_weather", "name": "weather", "input": {"city": "Bonn"}},
        {"type": "tool_use", "id": "toolu_time", "name": "time", "input": {"zone": "CET"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 9, "output_tokens": 31},
}


def stream(api: Api, body: bytes, headers: Any = None, **query: Any) -> Any:
    params = {"provider": "anthropic", **query}
    return api.http.post(STREAM, params=params, content=body, headers={**SSE, **(headers or {})})


def respond(api: Api, response: Any = None, **members: Any) -> Any:
    body = {"provider": "anthropic", "response": response or RESPONSE, **members}
    return api.http.post("/v1/conversations/c1/turns", json=body)


def codes(items: list[dict[str, Any]]) -> set[str]:
    return {item["code"] for item in items}


def ids_of(turn: Any) -> list[str]:
    return [call["id"] for call in turn["tool_calls"]]


def verified(api: Api) -> bool:
    report = api.get("verify").json()
    assert report["problems"] == []
    return bool(report["ok"])


def is_valid_everywhere(api: Api) -> None:
    for target in TARGETS:
        if target != "neutral":
            assert (
                judges.history_complaints(target, api.replay(target)["request"], model=None) == []
            )


def test_a_stream_gives_the_turn_of_the_whole_response(api: Api) -> None:
    answer = stream(api, WHOLE)
    assert answer.status_code == 201, answer.text
    assert answer.json()["notes"] == []
    assert respond(api).status_code == 201
    first, second = api.get("turns").json()["data"]
    strip = ("id", "turn_id", "seq", "hash", "created_at", "call_id")
    assert [
        [{k: v for k, v in block.items() if k not in strip} for block in turn["blocks"]]
        for turn in (first, second)
    ] == [
        [
            {"type": "text", "text": "Let me look – über."},
            {"type": "tool_call", "raw_id": "toolu_weather", "name": "weather"}
            | {"parameters": {"city": "Bonn"}},
            {"type": "tool_call", "raw_id": "toolu_time", "name": "time"}
            | {"parameters": {"zone": "CET"}},
        ]
    ] * 2
    assert first["metadata"] == second["metadata"]
    assert first["metadata"]["response"] == {
        "id": "msg_1",
        "model": MODEL,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 9, "output_tokens": 31},
    }
    assert first["model"] == second["model"] == MODEL
    assert verified(api)
    is_valid_everywhere(api)


def test_the_bytes_of_a_stream_can_be_read_back(api: Api) -> None:
    turn_id = stream(api, WHOLE).json()["turns"][0]["turn_id"]
    assert api.get(f"turns/{turn_id}").json()["payload_text"].encode() == WHOLE
    assert api.get("turns", raw=True).json()["data"][0]["payload_text"].encode() == WHOLE


def test_bytes_that_are_no_text_can_be_read_back_too(api: Api) -> None:
    turn_id = stream(api, WHOLE[:CUT] + b"\xff\xfe").json()["turns"][0]["turn_id"]
    assert "payload_base64" in api.get(f"turns/{turn_id}").json()
    is_valid_everywhere(api)


def test_a_stream_that_ends_too_early_is_kept(api: Api) -> None:
    api.post(user("Bonn?"))
    answer = stream(api, WHOLE[:CUT], turn_id="t1")
    assert answer.status_code == 201
    assert codes(answer.json()["notes"]) == {"STREAM_INTERRUPTED"}
    (turn,) = answer.json()["turns"]
    assert turn["status"] == "interrupted"
    shown = api.get("turns/t1").json()
    assert shown["status"] == "interrupted"
    assert shown["payload_text"].encode() == WHOLE[:CUT]
    assert shown["blocks"][2]["arguments"] == '{"zo'
    assert shown["blocks"][1]["parameters"] == {"city": "Bonn"}
    assert [call["state"] for call in api.get("tool-calls").json()["data"]] == ["interrupted"] * 2
    for target in TARGETS:
        repairs = api.replay(target)["repairs"]
        assert target == "neutral" or "TURN_INTERRUPTED" in codes(repairs)
    is_valid_everywhere(api)
    assert verified(api)


@pytest.mark.parametrize("by", ["response", "stream"])
def test_the_whole_answer_completes_the_turn_in_its_place(api: Api, by: str) -> None:
    api.post(user("Bonn?"))
    broken = stream(api, WHOLE[:CUT], turn_id="t1").json()
    api.post(user("are you there?"))
    tag = api.get("replay", provider="openai").headers["etag"]
    done = respond(api, turn_id="t1") if by == "response" else stream(api, WHOLE, turn_id="t1")
    assert done.status_code == 200, done.text
    assert codes(done.json()["notes"]) == {"TURN_COMPLETED"}
    assert done.json()["version"] == 3
    (turn,) = done.json()["turns"]
    assert "status" not in turn
    assert ids_of(turn) == ids_of(broken["turns"][0])
    shown = api.get("turns/t1").json()
    assert shown["seq"] == 2
    assert shown["blocks"][2]["parameters"] == {"zone": "CET"}
    (earlier,) = shown["earlier"]
    assert earlier["status"] == "interrupted"
    assert earlier["payload_text"].encode() == WHOLE[:CUT]
    assert earlier["blocks"][2]["arguments"] == '{"zo'
    again = api.get("replay", provider="openai")
    assert again.headers["etag"] != tag
    assert "TURN_COMPLETED" in codes(again.json()["repairs"])
    assert [call["state"] for call in api.get("tool-calls").json()["data"]] == ["open"] * 2
    assert verified(api)
    is_valid_everywhere(api)
    # Later turns go on from there, and what was done twice is stored once.
    api.post(answering("toolu_time", "12:00"))
    repeat = respond(api, turn_id="t1")
    assert repeat.status_code == 200
    assert repeat.headers["Idempotent-Replayed"] == "true"
    assert api.get("").json()["version"] == 4
    assert verified(api)


@pytest.mark.parametrize("by", ["response", "stream"])
def test_a_retried_completion_is_answered_as_the_first_time(api: Api, by: str) -> None:
    def complete() -> Any:
        return respond(api, turn_id="t1") if by == "response" else stream(api, WHOLE, turn_id="t1")

    stream(api, WHOLE[:CUT], turn_id="t1")
    api.post(user("are you there?"))
    first = complete()
    assert first.json()["version"] == 2
    assert complete().content == first.content
    # Its version can be built upon, and stays what it was when others have written.
    assert api.post(user("go on"), headers={"If-Match": '"2"'}).status_code == 201
    assert complete().content == first.content


def test_a_turn_that_broke_again_is_answered_with_the_version_it_has(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="t1")
    api.post(user("are you there?"))
    further = WHOLE[: WHOLE.index(b"event: message_delta")]
    first = stream(api, further, turn_id="t1")
    again = stream(api, further, turn_id="t1")
    assert "Idempotent-Replayed" not in first.headers
    assert (first.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.json()["version"] == first.json()["version"] == 2
    assert "TURN_COMPLETED" not in codes(again.json()["notes"])


def test_a_call_that_comes_with_the_completion_has_a_higher_number_for_kimi(api: Api) -> None:
    """Numbers are given in the order of arrival, and never changed: they need not rise."""
    text = WHOLE[: WHOLE.index(b'{"type": "tool_use"')]
    stream(api, text, turn_id="t1")
    api.post(user("and?"), calling(("c", "read", "{}")))
    respond(api, turn_id="t1")
    messages = api.replay("kimi")["request"]["messages"]
    ids = [call["id"] for one in messages for call in one.get("tool_calls", ())]
    assert ids == ["functions.weather:1", "functions.time:2", "functions.read:0"]
    assert verified(api)


def test_a_retry_with_another_answer_completes_the_turn_too(api: Api) -> None:
    """The stream broke, the runtime asked again: new ids, other calls, perhaps fewer."""
    api.post(user("Bonn?"))
    stream(api, WHOLE[:CUT], turn_id="t1")
    api.post(answering("toolu_weather", "rain"))
    use = {"type": "tool_use", "id": "toolu_new", "name": "time", "input": {}}
    done = respond(api, RESPONSE | {"content": [use]}, turn_id="t1")
    assert done.status_code == 200, done.text
    states = {call["raw_id"]: call["state"] for call in api.get("tool-calls").json()["data"]}
    assert states == {
        "toolu_weather": "superseded",
        "toolu_time": "superseded",
        "toolu_new": "open",
    }
    assert verified(api)
    is_valid_everywhere(api)
    shown = api.replay("anthropic")
    assert "ORPHAN_RESULT" in codes(shown["repairs"])
    api.post(answering("toolu_new", "12:00"))
    assert verified(api)
    is_valid_everywhere(api)
    # Whoever names a call that is not made any more waits for it.
    late = api.post(answering("toolu_weather", "sun")).json()
    assert late["turns"][0]["tool_results"][0]["matched_by"] == "none"
    assert verified(api)
    (page,) = api.get("tool-calls", limit=1).json()["data"]
    cursor = api.get("tool-calls", limit=1).json()["next_cursor"]
    rest = api.get("tool-calls", cursor=cursor).json()["data"]
    assert len({page["id"], *(call["id"] for call in rest)}) == 3


def test_a_turn_may_break_several_times(api: Api) -> None:
    cuts = [WHOLE.index(mark) for mark in (b"Let me", b"toolu_time", b"message_delta")]
    for cut in cuts:
        assert stream(api, WHOLE[:cut], turn_id="t1").json()["turns"][0]["status"] == "interrupted"
        assert verified(api)
    assert stream(api, WHOLE, turn_id="t1").status_code == 200
    shown = api.get("turns/t1").json()
    assert [len(one["payload_text"].encode()) for one in shown["earlier"]] == cuts
    assert api.get("").json()["version"] == 1
    assert verified(api)
    is_valid_everywhere(api)


def test_a_call_that_went_and_came_back_keeps_its_id(api: Api) -> None:
    other = RESPONSE | {"content": [{"type": "tool_use", "id": "x", "name": "y", "input": {}}]}
    cut = WHOLE.index(b"toolu_time")
    (first,) = stream(api, WHOLE[:cut], turn_id="t1").json()["turns"]
    body = WHOLE[:cut].replace(b"toolu_weather", b"toolu_again")
    stream(api, body, turn_id="t1")
    (again,) = stream(api, WHOLE[: cut - 30], turn_id="t1").json()["turns"]
    assert again["tool_calls"] == first["tool_calls"][:1]
    assert respond(api, other, turn_id="t1").status_code == 200
    assert verified(api)
    is_valid_everywhere(api)


def test_a_result_stays_with_its_call_through_every_version(api: Api) -> None:
    cut = WHOLE.index(b"toolu_time") - 60
    first = stream(api, WHOLE[:cut], turn_id="t1").json()["turns"][0]["tool_calls"]
    api.post(answering("toolu_weather", "rain"))
    for _ in range(10):
        stream(api, next(events()), turn_id="t1")
        assert verified(api)
        stream(api, WHOLE[:cut], turn_id="t1")
        assert verified(api)
    done = stream(api, WHOLE, turn_id="t1").json()["turns"][0]["tool_calls"]
    assert done[:1] == first
    shown = api.replay("openai")
    assert not {"ORPHAN_RESULT", "LATE_RESULT_APPLIED"} & codes(shown["repairs"])
    messages = shown["request"]["messages"]
    assert next(m["content"] for m in messages if m["role"] == "tool") == "rain"
    assert verified(api)


def test_a_result_follows_its_call_to_another_place(api: Api) -> None:
    stream(api, WHOLE[: WHOLE.index(b"toolu_time") - 60], turn_id="t1")
    api.post(answering("toolu_weather", "rain"))
    backwards = json.loads(json.dumps(RESPONSE["content"]))[::-1]
    done = respond(api, RESPONSE | {"content": backwards}, turn_id="t1")
    assert done.status_code == 200, done.text
    messages = api.replay("openai")["request"]["messages"]
    assert [m["content"] for m in messages if m["role"] == "tool"][1] == "rain"
    assert verified(api)
    is_valid_everywhere(api)


def test_since_tells_of_a_turn_that_was_completed(api: Api) -> None:
    api.post(user("Bonn?"))
    stream(api, WHOLE[:CUT], turn_id="t1")
    assert api.replay("openai", since=2)["since"]["unchanged"]
    respond(api, turn_id="t1")
    for version, unchanged in ((1, True), (2, False)):
        assert api.replay("openai", since=version)["since"]["unchanged"] is unchanged
    api.post(user("go on"))
    assert not api.replay("openai", since=2)["since"]["unchanged"]
    assert api.replay("openai", since=3)["since"]["unchanged"]


@pytest.mark.parametrize("target", ["anthropic", "openai", "openai-responses", "gemini"])
def test_since_repeats_nothing_of_a_turn_that_broke_before_it_said_anything(
    api: Api, target: str
) -> None:
    api.post(user("Bonn?"))
    stream(api, WHOLE[: WHOLE.index(b"\n\n") + 2], turn_id="t1")
    respond(api, turn_id="t1")
    held = api.replay(target)
    api.post(answering("toolu_weather", "rain"))
    told = api.replay(target, since=held["version"])
    assert told["since"]["unchanged"] is False
    assert told["request"] == api.replay(target)["request"]


NO_STREAMS = [b"<html>\n<body>no</body>\n</html>\n", b'{\n  "a": 1\n}\n', b"data: x\n\n"]


@pytest.mark.parametrize("body", [*NO_STREAMS, "data: {}\n\n".encode("utf-16")])
def test_a_body_without_any_event_is_refused(lite: Api, body: bytes) -> None:
    answer = stream(lite, body)
    assert answer.status_code == 422, answer.text
    assert lite.get("").status_code == 404


def test_a_stream_that_lost_an_event_can_be_completed(lite: Api) -> None:
    damaged = WHOLE.replace(b'"partial_json": "ne', b'"partial_json": ne')
    assert damaged != WHOLE
    (turn,) = stream(lite, damaged, turn_id="t1").json()["turns"]
    assert turn["status"] == "interrupted"
    assert stream(lite, WHOLE, turn_id="t1").status_code == 200
    assert lite.get("turns/t1").json()["blocks"][2]["parameters"] == {"zone": "CET"}


def test_a_last_word_alone_is_no_whole_answer(lite: Api) -> None:
    answer = stream(lite, b"data: [DONE]\n\n", provider="openai")
    assert answer.json()["turns"][0]["status"] == "interrupted"


def test_a_whole_turn_is_not_replaced(api: Api) -> None:
    stream(api, WHOLE, turn_id="t1")
    other = respond(api, RESPONSE | {"content": []}, turn_id="t1")
    assert other.status_code == 409
    assert other.json()["code"] == "turn_id_taken"
    assert stream(api, WHOLE[:CUT], turn_id="t1").status_code == 409
    same = stream(api, WHOLE, turn_id="t1")
    assert (same.status_code, same.headers["Idempotent-Replayed"]) == (200, "true")


def test_another_provider_or_speaker_completes_nothing(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="t1")
    chat = {"choices": [{"message": {"role": "assistant", "content": "hi"}}]}
    body = {"provider": "openai", "turn_id": "t1", "response": chat}
    assert api.http.post("/v1/conversations/c1/turns", json=body).status_code == 409
    assert api.post(user("hi"), provider="anthropic", turn_id="t1").status_code == 409
    assert verified(api)


def test_a_message_completes_a_turn_as_well(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="t1")
    message = {"role": "assistant", "content": RESPONSE["content"]}
    done = api.post(message, provider="anthropic", turn_id="t1")
    assert done.status_code == 200, done.text
    assert codes(done.json()["notes"]) == {"TURN_COMPLETED"}


def test_a_repeated_stream_is_stored_once(api: Api) -> None:
    key = {"Idempotency-Key": "k1"}
    first = stream(api, WHOLE, key)
    again = stream(api, WHOLE, key)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert stream(api, WHOLE[:CUT], key).status_code == 422
    assert stream(api, WHOLE, key, model="other").status_code == 422
    assert api.get("").json()["version"] == 1


def test_a_stream_can_be_bound_to_a_version(api: Api) -> None:
    api.post(user("hi"))
    assert stream(api, WHOLE, {"If-Match": '"7"'}).status_code == 412
    assert stream(api, WHOLE, {"If-Match": '"1"'}).status_code == 201


def test_an_error_in_the_stream_interrupts_the_turn(lite: Api) -> None:
    broken = WHOLE[: WHOLE.index(b"event: content_block_stop")]
    error = {"type": "overloaded_error", "message": "Overloaded"}
    answer = stream(lite, broken + event(type="error", error=error))
    assert answer.json()["turns"][0]["status"] == "interrupted"
    (turn,) = lite.get("turns").json()["data"]
    assert turn["metadata"]["response"]["error"] == error
    is_valid_everywhere(lite)


def test_a_late_result_of_an_interrupted_call_finds_it(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="t1")
    api.post(answering("toolu_weather", "rain"))
    first, second = api.get("tool-calls", order="asc").json()["data"]
    assert (first["state"], second["state"]) == ("answered", "interrupted")
    respond(api, turn_id="t1")
    first, second = api.get("tool-calls", order="asc").json()["data"]
    assert (first["state"], second["state"]) == ("answered", "open")
    assert verified(api)


def test_an_early_result_finds_its_call_when_the_turn_is_completed(api: Api) -> None:
    stream(api, WHOLE[: WHOLE.index(b"toolu_time") - 60], turn_id="t1")
    early = api.post(answering("toolu_time", "12:00")).json()
    assert early["turns"][0]["tool_results"][0]["matched_by"] == "none"
    done = respond(api, turn_id="t1").json()
    assert "EARLY_RESULT_MATCHED" in codes(done["notes"])
    assert verified(api)
    is_valid_everywhere(api)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_only_the_first_pieces_of_a_stream(lite: Api, size: int) -> None:
    answer = stream(lite, WHOLE[:size])
    assert answer.status_code == 201
    (turn,) = lite.get("turns", raw=True).json()["data"]
    assert (turn["blocks"], turn["status"]) == ([], "interrupted")
    assert turn["payload_text"].encode() == WHOLE[:size]


def test_nothing_at_all_is_refused(lite: Api) -> None:
    answer = stream(lite, b"")
    assert (answer.status_code, "is empty" in answer.json()["detail"]) == (422, True)


def test_a_stream_of_another_wire_is_refused(lite: Api) -> None:
    answer = stream(lite, WHOLE, provider="openai")
    assert answer.status_code == 422
    assert "None of the" in answer.json()["detail"]
    assert lite.get("").status_code == 404


def test_json_lines_are_a_stream_too(lite: Api) -> None:
    lines = [line[6:] for line in WHOLE.split(b"\n") if line.startswith(b"data: ")]
    headers = {"content-type": "application/x-ndjson"}
    answer = stream(lite, b"\n".join(lines), headers)
    assert answer.status_code == 201, answer.text
    assert answer.json()["notes"] == []
    assert len(answer.json()["turns"][0]["tool_calls"]) == 2


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"provider": "vercel"}, "?provider"),
        ({"provider": "neutral"}, "?provider"),
        ({"provider": "acme"}, "?provider"),
        ({"provider": "no way"}, "?provider"),
        ({"provider": "acme", "format": "smoke"}, "?format"),
        ({"provider": "acme", "format": "vercel"}, "?format"),
        ({"turn_id": "no way"}, "?turn_id"),
        ({"colour": "red"}, "?colour"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(
    lite: Api, query: dict[str, str], pointer: str
) -> None:
    answer = stream(lite, WHOLE, **query)
    assert (answer.status_code, answer.json()["pointer"]) == (422, pointer)


def test_an_unknown_provider_with_a_known_format_streams(lite: Api) -> None:
    answer = stream(lite, WHOLE, provider="acme", format="anthropic")
    assert answer.status_code == 201
    assert lite.get("turns").json()["data"][0]["provider"] == "acme"


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_a_body_that_is_no_stream_is_refused(lite: Api, kind: str) -> None:
    assert stream(lite, WHOLE, {"content-type": kind}).status_code == 415


# Responses.


def test_of_several_choices_the_first_is_taken(lite: Api) -> None:
    choices = [
        {"index": index, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        for index, text in enumerate(("one", "two", "three"))
    ]
    response = {"id": "x", "object": "chat.completion", "model": "gpt-5", "choices": choices}
    body = {"provider": "openai", "response": response}
    answer = lite.http.post("/v1/conversations/c1/turns", json=body)
    (note,) = answer.json()["notes"]
    assert note["code"] == "CHOICES_NOT_SHOWN"
    (turn,) = lite.get("turns", raw=True).json()["data"]
    assert turn["blocks"] == [{"type": "text", "text": "one"}]
    assert turn["payload"] == response


def test_the_model_of_the_post_goes_before_that_of_the_response(lite: Api) -> None:
    respond(lite, model="claude-latest")
    (turn,) = lite.get("turns").json()["data"]
    assert turn["model"] == "claude-latest"
    assert turn["metadata"]["response"]["model"] == MODEL


def test_metadata_of_the_caller_stands_beside_the_facts(lite: Api) -> None:
    respond(lite, metadata={"run": 7})
    (turn,) = lite.get("turns").json()["data"]
    assert turn["metadata"]["run"] == 7
    assert turn["metadata"]["response"]["id"] == "msg_1"


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"response": 5}, "/response"),
    ({"response": []}, "/response"),
    ({"response": None}, "/response"),
    ({"response": {}}, "/response/content"),
    ({"response": {"content": [5]}}, "/response/content/0"),
    ({"response": {"content": [{"type": "text"}]}}, "/response/content/0/text"),
    ({"response": {"content": []}, "messages": []}, "/messages"),
    ({"response": {"content": []}, "metadata": {"response": 1}}, "/metadata/response"),
    ({"provider": "openai", "response": {"choices": []}}, "/response/choices"),
    ({"provider": "openai", "response": {"error": {}}}, "/response/choices"),
    ({"provider": "openai", "response": {"choices": [{}]}}, "/response/choices/0/message"),
    ({"provider": "openai-responses", "response": {}}, "/response/output"),
    ({"provider": "gemini", "response": {}}, "/response/candidates"),
    ({"provider": "bedrock", "response": {}}, "/response/output"),
    ({"provider": "neutral", "response": {}}, "/response"),
    ({"provider": "vercel", "response": {}}, "/response"),
]


@pytest.mark.parametrize(("members", "pointer"), BROKEN)
def test_a_broken_response_is_refused_with_a_pointer(
    lite: Api, members: dict[str, Any], pointer: str
) -> None:
    body = {"provider": "anthropic", **members}
    answer = lite.http.post("/v1/conversations/c1/turns", json=body)
    assert (answer.status_code, answer.json().get("pointer")) == (422, pointer), answer.text
    assert lite.get("").status_code == 404


# Long streams are stored in pieces.


def long(size: int) -> bytes:
    """One call with a long argument, and a text that is not ASCII."""
    start, *_ = events()
    use = {"type": "tool_use", "id": "toolu_long", "name": "write", "input": {}}
    pieces = ['{"text": "', *["ü\\n" + "x" * 1000] * (size // 1000), '"}']
    deltas = (
        event(
            type="content_block_delta",
            index=0,
            delta={"type": "input_json_delta", "partial_json": piece},
        )
        for piece in pieces
    )
    begun = event(type="content_block_start", index=0, content_block=use)
    stopped = event(type="content_block_stop", index=0)
    return b"".join([start, begun, *deltas, stopped, event(type="message_stop")])


def test_a_long_stream_comes_back_byte_for_byte(api: Api) -> None:
    body = long(1_500_000)
    api.post(user("write it"))
    broken = body[: len(body) - 2_000]
    assert stream(api, broken, turn_id="t1").json()["turns"][0]["status"] == "interrupted"
    assert api.get("turns/t1").json()["payload_text"].encode() == broken
    assert verified(api)
    assert stream(api, body, turn_id="t1").status_code == 200
    shown = api.get("turns/t1").json()
    assert shown["payload_text"].encode() == body
    assert shown["earlier"][0]["payload_text"].encode() == broken
    (call,) = api.replay("openai")["request"]["messages"][1]["tool_calls"]
    arguments = json.loads(call["function"]["arguments"])
    assert arguments == {"text": ("ü\n" + "x" * 1000) * 1500}
    assert verified(api)
    again = stream(api, body, turn_id="t1")
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert api.http.delete("/v1/conversations/c1").status_code == 200
    assert api.get("turns").status_code == 404


def test_a_member_of_an_event_that_is_given_twice_is_named(lite: Api) -> None:
    delta = '{"index": 0, "delta": {"content": "1", "content": "2"}, "finish_reason": "stop"}'
    sse = f'data: {{"choices": [{delta}]}}\n\ndata: [DONE]\n\n'
    turn = stream(lite, sse.encode(), provider="openai", **{"return": "turns"}).json()
    told = "content (in events): given twice; only the last one is read"
    assert [(one["code"], one["detail"]) for one in turn["notes"]] == [("MEMBERS_NOT_READ", told)]
    assert turn["turns"][0]["text"] == "2"
