"""The same over HTTP, on both databases: bytes are kept, facts are shown, nothing is a 500."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.streams.posts import from_stream, sized
from tests.streams.recordings import CLEAN, OTHER_FORMS, RECORDINGS, Recording
from tests.streams.sdks import SDKS

# One of each wire is cut at many places, all others at one.
FIRST = list({one.provider: one for one in reversed(RECORDINGS)}.values())


def streamed(client: TestClient, cid: str, provider: str, *pieces: bytes, **params: str) -> Any:
    return client.post(
        f"/v1/conversations/{cid}/turns/stream",
        params={"provider": provider, **params},
        content=iter(pieces),
        headers={"Content-Type": "text/event-stream"},
    )


def turn(client: TestClient, cid: str) -> Any:
    (one,) = client.get(f"/v1/conversations/{cid}/turns", params={"raw": "true"}).json()["data"]
    return one


def test_streams_that_end_anywhere_are_stored_byte_for_byte(client: TestClient) -> None:
    for at, (one, cut) in enumerate(cuts()):
        sent = one.stream[:cut]
        answer = streamed(client, f"c{at}", one.provider, *sized(sent, 37))
        assert answer.status_code == 201, (one.label, cut, answer.text)
        expected = from_stream(one.provider, [sent])
        kept = turn(client, f"c{at}")
        assert kept.get("status", "complete") == expected.status, (one.label, cut)
        assert raw(kept) == sent, (one.label, cut)
        codes = [note["code"] for note in answer.json()["notes"]]
        assert {note.code for note in expected.notes} <= set(codes)


def cuts() -> Iterator[tuple[Recording, int]]:
    for one in RECORDINGS:
        places = range(40, len(one.stream), len(one.stream) // 4) if one in FIRST else ()
        yield from ((one, place) for place in {*places, len(one.stream)})


def raw(kept: Any) -> bytes:
    """The stream as it is shown: as a text, or in base64 where it is none."""
    if "payload_base64" in kept:
        return base64.b64decode(kept["payload_base64"])
    return kept["payload_text"].encode() if "payload_text" in kept else b""


def test_a_finished_answer_shows_its_facts(client: TestClient) -> None:
    for at, one in enumerate(CLEAN):
        body = {"provider": one.provider, "response": one.finished, "metadata": {"run": 1}}
        answer = client.post(f"/v1/conversations/c{at}/turns", json=body)
        assert answer.status_code == 201, (one.label, answer.text)
        kept = turn(client, f"c{at}")
        facts = from_stream(one.provider, [one.stream]).facts
        assert kept["metadata"] == {"run": 1, "response": json.loads(json.dumps(facts))}
        assert "status" not in kept


def test_an_interrupted_turn_is_completed_by_what_an_sdk_gave(
    client: TestClient, provider: str
) -> None:
    one = next(one for one in CLEAN if one.label == "anthropic: text, then parallel calls")
    broken = streamed(client, "c1", one.provider, one.stream[:900], turn_id="t1")
    assert broken.status_code == 201
    assert turn(client, "c1")["status"] == "interrupted"
    place = RECORDINGS.index(one)
    dump = next(SDKS[one.provider].finals(f"{provider}/{place}", one))
    body = {"provider": one.provider, "turn_id": "t1", "response": dump}
    assert client.post("/v1/conversations/c1/turns", json=body).status_code in (200, 201)
    kept = turn(client, "c1")
    assert "status" not in kept
    assert [block["type"] for block in kept["blocks"]] == ["text", "tool_call", "tool_call"]


@pytest.mark.parametrize("one", FIRST, ids=lambda one: one.label)
def test_the_model_that_was_asked_for_is_the_turns_model(
    client: TestClient, one: Recording
) -> None:
    assert streamed(client, "c1", one.provider, one.stream, model="asked").status_code == 201
    assert turn(client, "c1")["model"] == "asked"


DECLARED = {"gemini": "application/json", "bedrock": "application/vnd.amazon.eventstream"}


def test_streams_in_other_forms_are_stored_byte_for_byte(client: TestClient) -> None:
    for at, one in enumerate(OTHER_FORMS):
        cut = len(one.stream) if at % 2 else len(one.stream) * 2 // 3
        sent = one.stream[:cut]
        answer = client.post(
            f"/v1/conversations/c{at}/turns/stream",
            params={"provider": one.provider, "turn_id": "t1"},
            content=sized(sent, 37),
            headers={"Content-Type": DECLARED[one.provider]},
        )
        assert answer.status_code == 201, (one.label, answer.text)
        expected = from_stream(one.provider, [sent])
        kept = client.get(f"/v1/conversations/c{at}/turns/t1")
        assert kept.json().get("status", "complete") == expected.status, one.label
        # An array is JSON: it stands in the answer as it came.
        assert raw(kept.json()) == sent or b'"payload":' + sent.strip() in kept.content
        assert client.get(f"/v1/conversations/c{at}/verify").json()["ok"]


@pytest.mark.parametrize("declared", ["text/event-stream", "application/x-ndjson"])
def test_the_form_of_a_stream_is_seen_and_not_believed(client: TestClient, declared: str) -> None:
    for at, one in enumerate({one.provider: one for one in reversed(OTHER_FORMS)}.values()):
        answer = client.post(
            f"/v1/conversations/c{at}/turns/stream",
            params={"provider": one.provider},
            content=one.stream,
            headers={"Content-Type": declared},
        )
        assert answer.status_code == 201, answer.text
        assert "status" not in turn(client, f"c{at}")
