"""What stands behind the end of a response is none of it: it is not read, and that is said."""

from typing import Any

import pytest

from app.model.conversation import Draft, Text
from tests.formats.gemini import recordings as gemini
from tests.streams.posts import from_stream, meaning, of_each, sized
from tests.streams.recordings import CLEAN, OTHER_FORMS, Recording
from tests.streams.recordings.frames import Event, sse
from tests.streams.test_dirt import lines

whole = of_each([one for one in CLEAN + OTHER_FORMS if one.whole])
HELLO = (Text("Hello"),)


def told(draft: Draft) -> list[str]:
    return [note.detail for note in draft.notes if note.code == "EVENTS_NOT_READ"]


@whole
def test_a_second_response_behind_the_first_changes_nothing_but_the_notes(one: Recording) -> None:
    # Gemini's chunks have no beginning; only their name tells two responses apart.
    other = one.stream.replace(b'"r-1"', b'"r-2"')
    alone = from_stream(one.provider, [one.stream])
    for size in (len(one.stream), 7):
        draft = from_stream(one.provider, sized(one.stream + other, size))
        assert meaning(draft) == meaning(alone)
        assert draft.raw == one.stream + other
        (said,) = told(draft)
        assert "behind the end of the response" in said


def chunk(id: str | None, finish: str | None = None, **delta: Any) -> Event:
    return {"id": id, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_chunks_behind_the_last_word_are_not_read() -> None:
    stream = sse(chunk("a", "stop", content="Hello"), last="[DONE]")
    draft = from_stream("openai", [stream + sse(chunk("a", content="!"), "data: <html>")])
    assert (draft.blocks, draft.status) == (HELLO, "complete")
    assert told(draft)[0].startswith("2 events")


def test_a_completion_under_another_id_is_another_one() -> None:
    first = [chunk("a", content="Hello"), chunk("a", "stop")]
    usage = {"id": "u", "choices": [], "usage": {"total_tokens": 3}}
    second = [chunk("b", role="assistant", content=""), chunk("b", "stop", content="Bye")]
    draft = from_stream("openai", [lines(*first, usage, *second, usage)])
    assert draft.blocks == HELLO
    assert draft.facts is not None
    assert draft.facts["usage"] == {"total_tokens": 3}
    assert told(draft)[0].startswith("3 events")


def test_the_end_of_a_completion_may_have_another_id() -> None:
    ids = ("a", "b", "c", "d")
    stream = [*(chunk(id, content=id) for id in ids), chunk("e", "stop"), chunk("f", "stop")]
    draft = from_stream("openai", [lines(*stream)])
    assert (draft.blocks, draft.status, told(draft)) == ((Text("abcd"),), "complete", [])
    (note,) = draft.notes
    assert (note.code, "id of the response changed" in note.detail) == ("STREAM_REASSEMBLED", True)


def test_of_a_gateway_that_renames_chunks_the_usage_behind_the_end_is_read() -> None:
    last = chunk("c", role="assistant", content="") | {"usage": {"total_tokens": 3}}
    stream = [chunk("a", content="Hel"), chunk("b", "stop", content="lo"), last]
    draft = from_stream("openai", [lines(*stream)])
    assert (draft.blocks, told(draft)) == (HELLO, [])
    assert draft.facts is not None
    assert draft.facts["usage"] == {"total_tokens": 3}


def test_what_was_said_behind_the_reason_why_it_ended_is_told() -> None:
    twice = [chunk("a", content="Hel"), chunk("a", "stop", content="lo")]
    draft = from_stream("openai", [lines(*twice, *twice)])
    assert draft.blocks == (Text("HelloHello"),)
    assert [note.code for note in draft.notes] == ["STREAM_REASSEMBLED"]


def start(id: str | None) -> Event:
    return {"type": "message_start", "message": {"id": id, "role": "assistant", "content": []}}


def said(text: str) -> Event:
    block = {"type": "text", "text": text}
    return {"type": "content_block_start", "index": 0, "content_block": block}


def test_another_message_before_the_end_of_the_first_leaves_it_interrupted() -> None:
    events = [start("m1"), said("Hello"), start("m2"), said("Bye"), {"type": "message_stop"}]
    draft = from_stream("anthropic", [sse(*events)])
    assert (draft.blocks, draft.status) == (HELLO, "interrupted")
    assert told(draft)[0].startswith("3 events")


@pytest.mark.parametrize("id", ["m1", "m2", None])
def test_a_message_that_begins_again_goes_on_and_is_told(id: str | None) -> None:
    # A gateway may say an opening of its own first.
    events = [start("m1"), start(id), said("Hello"), {"type": "message_stop"}]
    draft = from_stream("anthropic", [sse(*events)])
    assert (draft.blocks, draft.status) == (HELLO, "complete")
    assert [note.code for note in draft.notes] == ["STREAM_REASSEMBLED"]


def test_an_error_behind_the_end_is_not_of_the_response() -> None:
    stream = sse(chunk("a", "stop", content="Hello"), last="[DONE]")
    draft = from_stream("openai", [stream + sse({"error": {"message": "gone"}})])
    assert (draft.blocks, draft.status) == (HELLO, "complete")
    assert len(told(draft)) == 1


def test_a_last_word_in_front_of_everything_ends_nothing() -> None:
    stream = b"data: [DONE]\n\n" + lines(chunk("a", "stop", content="Hello"))
    draft = from_stream("openai", [stream])
    assert (draft.blocks, told(draft)) == (HELLO, [])


def test_chunks_of_gemini_behind_the_finish_are_of_the_response_they_name() -> None:
    end = gemini.response(gemini.text("Hel"), finish="STOP")
    more = gemini.response(gemini.text("lo"), finish="STOP")
    other = more | {"responseId": "r-2"}
    draft = from_stream("gemini", [sse(end, more, other)])
    assert draft.blocks == HELLO
    assert told(draft)[0].startswith("1 events")
