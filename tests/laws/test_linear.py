"""Four times as much takes four times as long: operations are counted, at n and at 4n."""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from app.jsontext.reading import loads_object
from app.ledger.slice import Custom, History, Slice
from app.model.errors import HistoryDiffers
from app.model.limits import Limits
from app.replay.options import ReplayOptions
from app.replay.rendering import render
from app.replay.unstored import Remembered, remember
from app.sync.commands import Sync, news
from app.sync.messagelist import read_list
from app.sync.seeing import look
from app.turns.commands import Append
from app.turns.posting import Post, read_post
from app.turns.turnform import made_ready
from tests.long import IS_LONG
from tests.operations import operations

# What does not grow makes the quotient smaller than four, heaps and small caches a little larger; a
# square makes it sixteen.
MOST = 5
N = 40
TARGETS = ("anthropic", "openai", "mistral", "gemini", "neutral")
# What a window shows is found in one way for all targets; hence for one, unless there is time.
WINDOWS = [
    (window, target)
    for window in ("all", "last", "max_tokens")
    for target in TARGETS
    if window == "all" or target == "mistral" or IS_LONG
]
LIMITS = Limits()
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
Turns = list[dict[str, Any]]


def text(speaker: str) -> dict[str, Any]:
    return {"speaker": speaker, "blocks": [{"type": "text", "text": "x"}]}


def calls(*names: str) -> dict[str, Any]:
    blocks = [{"type": "tool_call", "id": name, "name": "f"} for name in names]
    return {"speaker": "ai", "blocks": blocks}


def results(*names: str) -> dict[str, Any]:
    blocks = [{"type": "tool_result", "call_id": name, "result": 0} for name in names]
    return {"speaker": "tool", "blocks": blocks}


HISTORIES: dict[str, Callable[[int], Turns]] = {
    "one speaker": lambda n: [text("human")] * n,
    "only the system": lambda n: [text("system")] * n,
    "only notes": lambda n: [*[text("note")] * n, text("human")],
    "orphans in one turn": lambda n: [results(*["x"] * n)],
    "orphans in turns": lambda n: [results("x")] * n,
    "calls of one id in one turn": lambda n: [calls(*["x"] * n)],
    "calls of one id in turns": lambda n: [calls("x")] * n,
    "calls of one id with results": lambda n: [calls("x"), results("x")] * n,
    "results before their calls": lambda n: [
        *(results(f"x{number}") for number in range(n)),
        *(calls(f"x{number}") for number in range(n)),
    ],
    "results long after their calls": lambda n: [
        *(calls(f"x{number}") for number in range(n)),
        *(results(f"x{number}") for number in range(n)),
    ],
    "many results of one call": lambda n: [calls("x"), *[results("x")] * n],
}
every = pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)


def assert_linear(work_of: Callable[[int], Callable[[], object]]) -> None:
    work_of(N)()
    few, many = operations(work_of(N)), operations(work_of(4 * N))
    assert many / few < MOST, (few, many)


def read(turns: Turns) -> Post:
    body = json.dumps({"provider": "neutral", "messages": turns})
    return read_post(*loads_object(body, LIMITS), LIMITS)


@cache
def stored(history: Callable[[int], Turns], n: int) -> Remembered:
    return remember(read(history(n)).drafts, "c")


@every
def test_an_append_is_linear(history: Callable[[int], Turns]) -> None:
    def append(n: int) -> Callable[[], object]:
        turns = history(n)

        def work() -> object:
            post = read(turns)
            command = Append("c", made_ready(post.drafts))
            command.keys(0, waiting=True)
            return command.decide(Slice.absent("c", NOON, Custom()))

        return work

    assert_linear(append)


@pytest.mark.parametrize("told", HISTORIES.values(), ids=HISTORIES)
@pytest.mark.parametrize("parts", [0, 1, 2] if IS_LONG else [0, 2])
def test_a_sync_is_linear(told: Callable[[int], Turns], parts: int) -> None:
    """Nothing is stored yet, a half, or all of it."""

    def sync(n: int) -> Callable[[], object]:
        turns = told(n)
        body = json.dumps({"provider": "neutral", "messages": turns})
        there = turns[: len(turns) * parts // 2]
        known = Slice.absent("c", NOON, Custom())
        if there:
            post = read(there)
            known = known.after(Append("c", made_ready(post.drafts)).decide(known))
        head = known.head.head_hash if known.head else b""
        links = Remembered([], known.book).links()
        history = History(head, list(known.turns.values()), links, known.book)

        def work() -> object:
            messages = read_list(*loads_object(body, LIMITS), LIMITS)
            seen = look(history, messages)
            command = Sync("c", messages, seen, news(messages, seen))
            command.keys(known.version, waiting=True)
            # Results that stand in the list before their calls are told at another place.
            with suppress(HistoryDiffers):
                return command.decide(known)
            return None

        return work

    assert_linear(sync)


@every
@pytest.mark.parametrize(("window", "target"), WINDOWS)
def test_a_render_is_linear(history: Callable[[int], Turns], target: str, window: str) -> None:
    def rendered(n: int) -> Callable[[], object]:
        told = stored(history, n)
        last, most = (n // 2 if window == one else None for one in ("last", "max_tokens"))
        options = ReplayOptions(target, last=last, max_tokens=most)
        loaded = told.loaded(target)
        return lambda: render(loaded, options)

    assert_linear(rendered)
