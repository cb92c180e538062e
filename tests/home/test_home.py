"""The tenth law: a replay for the provider that issued a turn is what was posted.

Every kind of the SDKs' own input types is posted, with every optional member, inside a conversation
that its provider accepts. The replay for the same provider must have the same values in the same
order; only ids of calls differ. Then every other target must accept its replay of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from app.codecs import CODECS
from tests import judges
from tests.histories import History, posted
from tests.home.conversations import around
from tests.home.instances import CALL_IDS, Builder
from tests.home.sources import SOURCES

# Members of request bodies that hold the system texts of a conversation.
_SYSTEM = {
    "anthropic": "system",
    "bedrock": "system",
    "gemini": "system_instruction",
    "vercel": "system",
    "vercel-v4": "system",
}
# Members that hold the id of a call, besides those that say so in their name.
_IDS = (*CALL_IDS, "id", "approvalId")


@dataclass(frozen=True)
class Case:
    """A conversation that holds one instance of an input type. `label`: which one."""

    target: str
    label: str
    messages: list[dict[str, Any]]
    system: Any = None

    def history(self) -> History:
        body = {"provider": self.target, "model": "a-model", "messages": self.messages}
        if self.system is not None:
            body[_SYSTEM[self.target]] = self.system
        return posted(body)


@cache
def cases(target: str) -> list[Case]:
    roots = SOURCES[target]()
    builder = Builder()
    found = [
        Case(target, one.label, around(target, one.value, roots["message"]))
        for one in builder.instances(roots["message"])
    ]
    return found


def home(case: Case) -> tuple[Any, Any]:
    """What was posted, and what comes back."""
    render = case.history().render(case.target, model="a-model")
    request = render.request
    shown = request[CODECS[case.target].messages]
    return case.messages, shown


def differences(posted: Any, shown: Any, renamed: dict[str, str], at: str = "") -> Iterator[str]:
    name = at.rpartition("/")[2]
    match posted, shown:
        case dict(), dict():
            if posted.keys() != shown.keys():
                yield f"{at}: members {list(posted)} came back as {list(shown)}"
            for key in posted.keys() & shown.keys():
                yield from differences(posted[key], shown[key], renamed, f"{at}/{key}")
        case list(), list():
            if len(posted) != len(shown):
                yield f"{at}: {len(posted)} elements came back as {len(shown)}: {shown}"
            for place, (one, other) in enumerate(zip(posted, shown, strict=False)):
                yield from differences(one, other, renamed, f"{at}/{place}")
        case str(), str() if posted != shown and name in _IDS:
            if renamed.setdefault(posted, shown) != shown:
                yield f"{at}: {posted} came back as {renamed[posted]} and as {shown}"
        case _:
            if posted != shown or type(posted) is not type(shown):
                yield f"{at}: {posted!r} came back as {shown!r}"


@pytest.mark.parametrize("target", SOURCES)
def test_home(target: str) -> None:
    pass
