"""Histories without a database, for tests of what is shown: post messages, look at renders."""

import json
from dataclasses import dataclass, replace
from typing import Any

from app.jsontext.reading import loads_object
from app.model.conversation import Draft
from app.model.limits import Limits
from app.model.repairs import Repair
from app.replay.options import ReplayOptions
from app.replay.rendering import render, with_model
from app.replay.unstored import Remembered, remember
from app.turns.posting import read_post


@dataclass(frozen=True)
class Render:
    """A rendered request as the bytes that are served, as a value, and with its repairs and the
    model that it is for."""

    raw: bytes
    request: dict[str, Any]
    repairs: list[Repair]
    model: str | None = None

    @property
    def codes(self) -> set[str]:
        return {repair.code for repair in self.repairs}


@dataclass(frozen=True)
class History:
    remembered: Remembered

    def render(self, target: str, *, until: int | None = None, **options: Any) -> Render:
        """`until` is a seq here: the history as of that turn."""
        turns = [turn for turn in self.remembered.turns if until is None or turn.seq <= until]
        loaded = replace(self.remembered.loaded(target), turns=turns)
        done = render(loaded, with_model(ReplayOptions(target, **options), turns))
        raw = b"".join(done.request())
        return Render(raw, json.loads(raw), list(done.repairs), done.model)


def posted(*bodies: dict[str, Any] | str, conversation_id: str = "c1") -> History:
    """The history after these POST bodies (values, or JSON texts where every byte matters)."""
    drafts: list[Draft] = []
    for body in bodies:
        text = body if isinstance(body, str) else json.dumps(body)
        members, texts = loads_object(text, Limits())
        drafts.extend(read_post(members, texts, Limits()).drafts)
    return History(remember(drafts, conversation_id))


def said(*turns: dict[str, Any], provider: str = "neutral") -> History:
    """The history of turns in the neutral form, all by one provider."""
    return posted({"provider": provider, "format": "neutral", "messages": list(turns)})
