"""Usage on turns and receipts, in one shape; the provider's own words stay as they came."""

from typing import Any

from tests.http_api import Api, user
from tests.turns.test_streams import CUT, RESPONSE, WHOLE, respond, stream

TOOK = {"input_tokens": 9, "output_tokens": 31, "cached_tokens": 0, "reasoning_tokens": 0}
CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-x",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}
    ],
    "usage": {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 4},
    },
}
CHAT_TOOK = {"input_tokens": 7, "output_tokens": 5, "cached_tokens": 4, "reasoning_tokens": 0}


def the_turn(receipt: Any) -> Any:
    [turn] = receipt["turns"]
    return turn


def test_a_response_and_its_stream_say_what_they_took(api: Api) -> None:
    assert the_turn(respond(api).json())["usage"] == TOOK
    assert the_turn(stream(api, WHOLE).json())["usage"] == TOOK
    listed = api.get("turns").json()
    for turn in listed["data"]:
        assert turn["usage"] == TOOK
        assert turn["metadata"]["response"]["usage"] == RESPONSE["usage"]
        one = api.get(f"turns/{turn['turn_id']}").json()
        assert one["usage"] == TOOK


def test_a_gateway_is_read_in_its_format(api: Api) -> None:
    body = {"provider": "my-gateway", "format": "openai", "response": CHAT}
    done = api.http.post("/v1/conversations/c1/turns", json=body)
    assert the_turn(done.json())["usage"] == CHAT_TOOK


def test_a_turn_without_usage_says_none(api: Api) -> None:
    assert "usage" not in the_turn(api.post(user("x")).json())
    silent = {key: value for key, value in RESPONSE.items() if key != "usage"}
    assert "usage" not in the_turn(respond(api, silent).json())
    assert "usage" not in the_turn(respond(api, RESPONSE | {"usage": {"odd": 1}}).json())
    assert all("usage" not in turn for turn in api.get("turns").json()["data"])


def test_an_imported_turn_is_read_in_the_words_of_its_provider(api: Api) -> None:
    respond(api)
    exported = api.replay("neutral")["request"]["turns"]
    done = api.post(*exported, provider="neutral", cid="c2").json()
    assert the_turn(done)["usage"] == TOOK


def test_a_retry_and_a_completion_say_it_too(api: Api) -> None:
    broken = the_turn(stream(api, WHOLE[:CUT], turn_id="t1").json())
    assert broken["usage"]["input_tokens"] == 9
    assert the_turn(respond(api, turn_id="t1").json())["usage"] == TOOK
    assert the_turn(respond(api, turn_id="t1").json())["usage"] == TOOK


def summed(api: Api, cid: str = "c1") -> Any:
    answer = api.get("", cid=cid).json()
    [listed] = [one for one in api.http.get("/v1/conversations").json()["data"] if one["id"] == cid]
    assert listed["usage"] == answer["usage"]
    return answer["usage"]


def test_a_conversation_says_what_all_its_responses_took(api: Api) -> None:
    api.post(user("x"))
    assert summed(api) == dict.fromkeys(TOOK, 0)
    respond(api)
    respond(api)
    body = {"provider": "openai", "response": CHAT}
    api.http.post("/v1/conversations/c1/turns", json=body)
    assert summed(api) == {name: 2 * TOOK[name] + CHAT_TOOK[name] for name in TOOK}
    api.post(*api.replay("neutral")["request"]["turns"], provider="neutral", cid="c2")
    assert summed(api, "c2") == summed(api)


def test_a_retry_takes_nothing_more(api: Api) -> None:
    for _ in range(2):
        respond(api, turn_id="t1")
    body = {"provider": "openai", "response": CHAT}
    for _ in range(2):
        key = {"Idempotency-Key": "k"}
        api.http.post("/v1/conversations/c1/turns", json=body, headers=key)
    assert summed(api) == {name: TOOK[name] + CHAT_TOOK[name] for name in TOOK}


def test_a_completed_turn_counts_as_it_is_now(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="t1")
    [turn] = api.get("turns").json()["data"]
    assert summed(api) == turn["usage"]
    respond(api, turn_id="t1")
    assert summed(api) == TOOK


def test_title_and_metadata_change_no_count(api: Api) -> None:
    respond(api)
    api.http.patch("/v1/conversations/c1", json={"title": "T"})
    assert summed(api) == TOOK
