"""A replay is a history to be appended to; `ready` makes a request of it that is sent as it is."""

from typing import Any

import pytest

from app.formats.registry import CODECS, TARGETS
from app.formats.shared.placeholders import BRIDGE_USER, EMPTY
from tests import judges
from tests.histories import History, posted, said
from tests.replay.paired import ai, human, system, tool

PROVIDERS = [target for target in TARGETS if not CODECS[target].profile.verbatim]
BRIDGED = [target for target in PROVIDERS if CODECS[target].profile.last == "user"]
ANYBODY = [target for target in PROVIDERS if CODECS[target].profile.last == "anybody"]
of_every_provider = pytest.mark.parametrize("target", PROVIDERS)
ANSWERED = said(human("Who is there?"), ai(text="A friend."))
CALLED = (human("look"), ai("x"), tool("x"))


@pytest.fixture(autouse=True)
def _only_where_the_judge_can_be_asked(request: pytest.FixtureRequest) -> None:
    call_spec = getattr(request.node, "callspec", None)
    if reason := judges.available(call_spec.params.get("target", "") if call_spec else ""):
        pytest.skip(reason)


def messages(history: History, target: str, **options: Any) -> list[Any]:
    found: list[Any] = history.render(target, **options).request[CODECS[target].messages]
    return found


def added(history: History, target: str) -> set[str]:
    """The codes that only the ready render reports."""
    return history.render(target, ready=True).codes - history.render(target).codes


@of_every_provider
def test_a_history_that_ends_with_the_assistant_may_be_appended_to(target: str) -> None:
    last = messages(ANSWERED, target)[-1]
    assert last["role"] in ("assistant", "model")
    assert "prefix" not in last
    assert judges.history_complaints(target, ANSWERED.render(target).request) == []


@of_every_provider
def test_a_history_that_ends_with_the_assistant_can_be_had_ready(target: str) -> None:
    assert judges.complaints(target, ANSWERED.render(target, ready=True).request) == []


@pytest.mark.parametrize("target", BRIDGED)
def test_where_the_user_must_speak_last_a_marked_message_does(target: str) -> None:
    *history, last = messages(ANSWERED, target, ready=True)
    assert history == messages(ANSWERED, target)
    assert judges.texts(target, {CODECS[target].messages: [last]}) == [BRIDGE_USER]
    render = ANSWERED.render(target, ready=True)
    assert [one.code for one in render.repairs] == ["BRIDGE_USER"]


def test_mistral_goes_on_with_what_the_assistant_began() -> None:
    *history, last = messages(ANSWERED, "mistral", ready=True)
    assert history == messages(ANSWERED, "mistral")[:-1]
    assert last == {"role": "assistant", "content": "A friend.", "prefix": True}
    assert added(ANSWERED, "mistral") == {"MARKED_AS_PREFIX"}


def test_blanks_stay_where_they_are_not_at_the_end_any_more() -> None:
    history = said(human("sing"), ai(text="La la. \n"))
    render = history.render("anthropic", ready=True)
    assert render.request["messages"][-2]["content"] == "La la. \n"
    assert "TRAILING_TRIMMED" in history.render("mistral", ready=True).codes


@pytest.mark.parametrize("target", ANYBODY)
def test_who_takes_the_assistant_last_is_given_nothing_more(target: str) -> None:
    assert ANSWERED.render(target, ready=True) == ANSWERED.render(target)


@of_every_provider
@pytest.mark.parametrize("turns", [CALLED, (*CALLED, human("so?"))], ids=["results", "the user"])
def test_who_has_spoken_is_given_nothing_more(target: str, turns: tuple[Any, ...]) -> None:
    history = said(*turns)
    assert history.render(target, ready=True) == history.render(target)


@of_every_provider
def test_an_empty_history_is_ready_with_a_marked_message(target: str) -> None:
    render = posted().render(target, ready=True)
    assert judges.complaints(target, render.request) == []
    assert judges.texts(target, render.request) == [EMPTY]
    assert render.codes == {"EMPTY_HISTORY", "BRIDGE_USER"}


def test_no_system_turn_speaks_last_to_deepseek() -> None:
    history = said(human("h"), ai(text="a"), system("It is night."))
    assert messages(history, "deepseek")[-1]["role"] == "system"
    assert messages(history, "deepseek", ready=True)[-1]["role"] == "user"
    assert added(history, "deepseek") == {"BRIDGE_USER"}
