"""The tenth law: a replay for the provider that issued a turn is what was posted.

Every kind of the SDKs' own input types is posted, with every optional member, inside a conversation
that its provider accepts. The replay for the same provider must have the same values in the same
order; only ids of calls differ. Then every other target must accept its replay of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from app.formats.registry import CODECS
from app.model.errors import RuleBroken
from app.replay.unstored import remember
from tests import judges
from tests.histories import History, posted
from tests.home.conversations import around
from tests.home.instances import CALL_IDS, Builder
from tests.home.sources import SOURCES
from tests.streams.posts import from_response, from_stream, from_turn, of_each
from tests.streams.recordings import CLEAN, Recording

# The formats with an SDK of their own. Others are spoken through OpenAI's, whose types allow more
# than those providers do.
TARGETS = [
    *("openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral"),
    *("vercel", "vercel-v4"),
]
Messages = list[dict[str, Any]]
MODEL = "a-model"
# Members that hold the id of a call, besides those that say so in their name.
_IDS = (*CALL_IDS, "id", "approvalId")
# openai: the items whose ids are left out; a call is known by its `call_id`.
_CALLS = ("function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output")

# Instances that do not come home, with the rule of their provider. A label that begins so is meant.
EXCEPTIONS: dict[str, dict[str, str]] = {
    "openai-responses": {
        "FunctionCallOutput.call_id null": "the API pairs outputs with calls by `call_id`",
        "ResponseReasoningItemParam.encrypted_content null": "R9: without its encrypted content"
        " the item is looked up among what the provider stored",
        "ItemReference": "R9: it only refers to what the provider may have stored",
    },
    "anthropic": {
        "BetaSystemMessageParam": "A8: the role system is refused inside the conversation",
    },
    "mistral": {
        "UserMessageTypedDict.content null": "mistral-common: a user message must say something",
    },
}


@dataclass(frozen=True)
class Case:
    """A conversation that holds one instance of an input type. `label`: which one."""

    target: str
    label: str
    messages: Messages

    def history(self) -> History:
        return posted({"provider": self.target, "model": MODEL, "messages": self.messages})

    def home(self) -> Messages:
        """What the provider is shown; system messages that moved out of the list come first."""
        request = self.history().render(self.target, model=MODEL).request
        system = request.get("system")
        moved = system if isinstance(system, list) and self.messages[0] in system else []
        messages: Messages = request[CODECS[self.target].messages]
        return [*moved, *messages]


@cache
def cases(target: str) -> list[Case]:
    message = SOURCES[target]()["message"]
    return [
        Case(target, one.label.strip(), around(target, one.value, message))
        for one in Builder().instances(message)
    ]


def histories(case: Case) -> Iterator[History]:
    """The history of a case; none where posting it is refused."""
    with suppress(RuleBroken):
        yield case.history()


def is_exception(case: Case) -> bool:
    return any(map(case.label.startswith, EXCEPTIONS.get(case.target, {})))


def differences(posted: Any, shown: Any, renamed: dict[str, str], at: str = "") -> Iterator[str]:
    """What differs between two values; an id may have another name, the same one everywhere."""
    if isinstance(posted, dict) and isinstance(shown, dict):
        if posted.get("type") in _CALLS and "id" not in shown:
            posted = {name: value for name, value in posted.items() if name != "id"}
        if posted.keys() != shown.keys():
            yield f"{at}: the members {list(posted)} came back as {list(shown)}"
        for name in posted.keys() & shown.keys():
            yield from differences(posted[name], shown[name], renamed, f"{at}/{name}")
    elif isinstance(posted, list) and isinstance(shown, list):
        if len(posted) != len(shown):
            yield f"{at}: {len(posted)} elements came back as {len(shown)}: {shown}"
        for place, (one, other) in enumerate(zip(posted, shown, strict=False)):
            yield from differences(one, other, renamed, f"{at}/{place}")
    elif posted != shown or type(posted) is not type(shown):
        is_id = isinstance(posted, str) and isinstance(shown, str) and _names_id(at)
        if not is_id or renamed.setdefault(posted, shown) != shown:
            yield f"{at}: {posted!r} came back as {shown!r}"


def _names_id(at: str) -> bool:
    return at.rpartition("/")[2] in _IDS


@pytest.mark.parametrize("target", TARGETS)
def test_every_input_type_comes_home_as_it_was_posted(target: str) -> None:
    if reason := judges.available(target):
        pytest.skip(reason)
    different = {
        case.label: found
        for case in cases(target)
        if not is_exception(case)
        if (found := list(differences(case.messages, case.home(), {})))
    }
    assert different == {}


@pytest.mark.parametrize("target", EXCEPTIONS)
def test_the_exceptions_are_needed_and_few(target: str) -> None:
    if reason := judges.available(target):
        pytest.skip(reason)
    excepted = list(filter(is_exception, cases(target)))
    for label in EXCEPTIONS[target]:
        assert any(case.label.startswith(label) for case in excepted), label
    for case in excepted:
        with suppress(RuleBroken):
            assert any(differences(case.messages, case.home(), {})), case.label
    assert len(excepted) <= 0.02 * len(cases(target))


@pytest.mark.parametrize("target", TARGETS)
def test_every_other_target_accepts_its_replay(target: str) -> None:
    refused = {
        f"{case.label} on {other}": complaints
        for case in cases(target)
        for history in histories(case)
        for other in judges.TARGETS
        if other != target and not judges.available(other)
        if (complaints := judges.history_complaints(other, history.render(other).request))
    }
    assert refused == {}


@pytest.mark.parametrize("target", [one for one in TARGETS if not one.startswith("vercel")])
def test_a_block_of_an_unknown_kind_goes_back_whole_and_to_nobody_else(target: str) -> None:
    rays: dict[str, Any] = {"rays": [1, {"z": None}]}
    block = {"hologram": rays} if target in ("gemini", "bedrock") else {"type": "hologram", **rays}
    said = {"role": "user", "parts" if target == "gemini" else "content": [block]}
    history = posted({"provider": target, "messages": [said]})
    assert history.render(target).request[CODECS[target].messages] == [said]
    for other in judges.TARGETS:
        assert other == target or b"hologram" not in history.render(other).raw


# Finished answers whose stream never says this: null or "" for no content, or "" for no arguments.
EMPTY = {"content", "refusal", "tool_calls", "arguments"}


@of_each(CLEAN)
def test_a_streamed_answer_comes_home_like_the_finished_one(one: Recording) -> None:
    asked = from_turn({"role": "user", "content": "Is it an elm?"})
    streamed, finished = (
        History(remember([asked, draft], "c1")).render(one.provider).request
        for draft in (
            from_stream(one.provider, [one.stream]),
            from_response(one.provider, one.finished),
        )
    )
    assert without_empty(streamed) == without_empty(finished)


def without_empty(value: Any) -> Any:
    """The value without the members that say that there is nothing."""
    if isinstance(value, dict):
        members = {name: without_empty(member) for name, member in value.items()}
        return {
            name: member
            for name, member in members.items()
            if name not in EMPTY or member not in (None, "", [], "{}")
        }
    return [without_empty(element) for element in value] if isinstance(value, list) else value
