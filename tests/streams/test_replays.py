"""What came as a stream or as an SDK's object is shown so that every provider accepts it."""

from app.model.conversation import Draft
from app.replay.unstored import remember
from tests import judges
from tests.every import every
from tests.histories import History, posted
from tests.long import IS_LONG
from tests.streams.posts import from_response, from_stream, from_turn, of_each
from tests.streams.recordings import RECORDINGS, Recording
from tests.streams.sdks import SDKS

each = of_each(RECORDINGS)
TARGETS = [target for target in judges.TARGETS if not judges.available(target)]
PLACES = 23 if IS_LONG else 8


def refusals(draft: Draft, targets: list[str]) -> list[tuple[str, int, str]]:
    """What the judges say to a question, this answer, and the next question."""
    asked = from_turn({"role": "user", "content": "Is it an elm?"})
    more = from_turn({"role": "user", "content": "Go on."})
    told = History(remember([asked, draft, more], "c1"))
    return [
        (target, until, complaint)
        for target in targets
        for until in (2, 3)
        for complaint in judges.history_complaints(target, told.render(target, until=until).request)
    ]


@each
def test_every_provider_accepts_a_turn_that_came_as_a_stream(one: Recording) -> None:
    assert refusals(from_stream(one.provider, [one.stream]), TARGETS) == []


@each
def test_every_provider_accepts_a_turn_whose_stream_broke(one: Recording) -> None:
    """At a few places; the target changes with the place, its own provider is always asked."""
    for turn, cut in enumerate(range(29, len(one.stream), max(len(one.stream) // PLACES, 1))):
        broken = from_stream(one.provider, [one.stream[:cut]], hung_up=True)
        target = TARGETS[turn % len(TARGETS)]
        assert refusals(broken, sorted({one.provider, target})) == [], cut


FINISHED = [(at, one) for at, one in enumerate(RECORDINGS) if one.finished is not None]


@every(("at", "one"), FINISHED, by=lambda pair: pair[1].provider)
def test_its_own_provider_accepts_what_an_sdk_gave(provider: str, at: int, one: Recording) -> None:
    for dump in SDKS[one.provider].answers(f"{provider}/{at}"):
        assert refusals(from_response(one.provider, dump), [one.provider]) == []


def test_the_signature_that_ends_a_gemini_stream_goes_back() -> None:
    (one,) = (one for one in RECORDINGS if "signature at the end" in one.name)
    asked = from_turn({"role": "user", "content": "Is it an elm?"})
    told = History(remember([asked, from_stream(one.provider, [one.stream])], "c1"))
    shown = told.render("gemini").request["contents"][1]["parts"]
    assert shown[-1] == {"text": "It is an elm.", "thought_signature": "Cpo+/wFk"}


def test_a_signature_alone_signs_the_text_before_it_in_messages_too() -> None:
    parts = [{"text": "An "}, {"text": "elm."}, {"text": "", "thoughtSignature": "Cpo+/wFk"}]
    contents = [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": parts}]
    shown = posted({"provider": "gemini", "contents": contents}).render("gemini").request
    assert shown["contents"][1]["parts"] == [
        {"text": "An "},
        {"text": "elm.", "thought_signature": "Cpo+/wFk"},
    ]


def test_an_input_of_a_servers_tool_that_cannot_be_read_does_not_go_back() -> None:
    (one,) = (one for one in RECORDINGS if "code that the provider runs, in" in one.name)
    stream = one.stream.replace(b'\\"echo 2\\"}', b'\\"echo 2')
    assert refusals(from_stream(one.provider, [stream]), ["anthropic"]) == []
