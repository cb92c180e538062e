"""Usage on turns and receipts, in one shape; the provider's own words stay as they came."""

from typing import Any

from app.api.schemas import AppendedOut, TurnListOut, TurnOut
from tests.api.conftest import Api, user
from tests.api.test_streams import CUT, RESPONSE, WHOLE, respond, stream

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
    AppendedOut.model_validate(receipt)
    [turn] = receipt["turns"]
    return turn


def test_a_response_and_its_stream_say_what_they_took(api: Api) -> None:
    assert the_turn(respond(api).json())["usage"] == TOOK
    assert the_turn(stream(api, WHOLE).json())["usage"] == TOOK
    listed = api.get("turns").json()
    TurnListOut.model_validate(listed)
    for turn in listed["data"]:
        assert turn["usage"] == TOOK
        assert turn["metadata"]["response"]["usage"] == RESPONSE["usage"]
        one = api.get(f"turns/{turn['turn_id']}").json()
        TurnOut.model_validate(one)
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
