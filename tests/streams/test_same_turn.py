"""A stream and the finished answer that it stands for are the same turn."""

from collections import Counter

from tests.streams.posts import from_response, from_stream, meaning, of_each
from tests.streams.recordings import CLEAN, OTHER_FORMS, RECORDINGS, Recording, noted

OTHER_CLEAN = [one for one in OTHER_FORMS if one.finished is not None]
each = of_each(RECORDINGS + OTHER_FORMS)
clean = of_each(CLEAN + OTHER_CLEAN)


def test_each_provider_has_at_least_ten_clean_recordings() -> None:
    assert min(Counter(one.provider for one in CLEAN).values()) >= 10


@clean
def test_a_stream_gives_the_turn_of_the_finished_answer(one: Recording) -> None:
    streamed = from_stream(one.provider, [one.stream])
    finished = from_response(one.provider, one.finished)
    assert meaning(streamed) == meaning(finished)


@clean
def test_a_clean_stream_is_read_without_a_complaint(one: Recording) -> None:
    codes = {note.code for note in from_stream(one.provider, [one.stream]).notes}
    assert codes <= noted(one)


@each
def test_only_a_stream_with_its_end_is_complete(one: Recording) -> None:
    draft = from_stream(one.provider, [one.stream])
    assert draft.status == ("complete" if one.whole else "interrupted")
    assert ("error" in (draft.facts or {})) == (not one.whole)
