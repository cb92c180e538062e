"""What the providers' SDKs make of a recording gives the turn that the recording gives."""

import json
from collections.abc import Callable
from dataclasses import replace

from app.model.conversation import Draft
from tests.every import Test, every
from tests.streams.posts import from_response, from_stream, meaning
from tests.streams.recordings import RECORDINGS, Recording, noted
from tests.streams.recordings.frames import sse
from tests.streams.sdks import MISTRALAI, SDKS, can_be_helped

CLEAN = [(at, one) for at, one in enumerate(RECORDINGS) if one.whole]
FINISHED = [(at, one) for at, one in CLEAN if one.finished is not None]


def over(recordings: list[tuple[int, Recording]]) -> Callable[[Test], Test]:
    return every(
        ("at", "one"), recordings, by=lambda pair: pair[1].provider, label=lambda p: p[1].label
    )


def told(draft: Draft) -> Draft:
    """Without the number of a request, which is botocore's and no part of the answer."""
    facts = {key: fact for key, fact in (draft.facts or {}).items() if key != "id"}
    return replace(meaning(draft), facts=facts) if draft.provider == "bedrock" else meaning(draft)


def without_usage(draft: Draft) -> Draft:
    """Kimi's usage stands on a choice, where OpenAI's SDK loses it."""
    if draft.provider != "kimi":
        return draft
    facts = {key: fact for key, fact in (draft.facts or {}).items() if key != "usage"}
    return replace(draft, facts=facts)


@over(CLEAN)
def test_an_sdk_reads_the_stream_and_its_dumped_events_give_the_same_turn(
    provider: str, at: int, one: Recording
) -> None:
    events = SDKS[one.provider].events(f"{provider}/{at}")
    lines = "".join(json.dumps(event) + "\n" for event in events)
    again = from_stream(one.provider, [lines.encode()])
    assert meaning(again) == meaning(from_stream(one.provider, [one.stream]))
    assert {note.code for note in again.notes} <= noted(one)


@over([(at, one) for at, one in CLEAN if SDKS[one.provider].helped and can_be_helped(one)])
def test_events_of_an_sdks_helper_give_the_same_turn(
    provider: str, at: int, one: Recording
) -> None:
    helped = SDKS[one.provider].helped
    assert helped
    lines = "".join(json.dumps(event) + "\n" for event in helped(f"{provider}/{at}"))
    again = from_stream(one.provider, [lines.encode()])
    assert meaning(again) == meaning(from_stream(one.provider, [one.stream]))
    assert {note.code for note in again.notes} <= noted(one)


@over(FINISHED)
def test_what_an_sdk_puts_together_from_a_stream_is_the_same_turn(
    provider: str, at: int, one: Recording
) -> None:
    expected = without_usage(meaning(from_stream(one.provider, [one.stream])))
    for dump in SDKS[one.provider].finals(f"{provider}/{at}", one):
        assert without_usage(meaning(from_response(one.provider, dump))) == expected


@over(FINISHED)
def test_what_an_sdk_gives_for_a_finished_answer_is_the_same_turn(
    provider: str, at: int, one: Recording
) -> None:
    expected = meaning(from_stream(one.provider, [one.stream]))
    for dump in SDKS[one.provider].answers(f"{provider}/{at}"):
        assert told(from_response(one.provider, dump)) == expected


@over([(at, one) for at, one in CLEAN if one.provider == "mistral"])
def test_events_of_mistrals_own_sdk_give_the_same_turn(
    provider: str, at: int, one: Recording
) -> None:
    dumped = MISTRALAI.events(f"{provider}/{at}")
    assert all(list(event) == ["data"] for event in dumped)
    lines = "".join(json.dumps(event) + "\n" for event in dumped).encode()
    again = from_stream("mistral", [lines])
    assert meaning(again) == meaning(from_stream("mistral", [one.stream]))
    assert again.notes == ()
    as_events = from_stream("mistral", [sse(*dumped, last="[DONE]")])
    assert meaning(as_events) == meaning(again)


@over([(at, one) for at, one in FINISHED if one.provider == "mistral"])
def test_what_mistrals_own_sdk_gives_for_a_finished_answer_is_the_same_turn(
    provider: str, at: int, one: Recording
) -> None:
    expected = meaning(from_stream("mistral", [one.stream]))
    for dump in MISTRALAI.answers(f"{provider}/{at}"):
        assert meaning(from_response("mistral", json.loads(json.dumps(dump)))) == expected
