"""Marks for the prompt cache pile up in what is stored."""

from collections.abc import Iterator
from typing import Any

from tests.zoo.expecting import Expect, Seen, variant
from tests.zoo.spoken import claude, items, neutral, rounds, text, tool_result, tool_use

TITLE = "cache marks pile up"
TARGETS = ("anthropic", "bedrock", "openai", "gemini")
MARK = {"cache_control": {"type": "ephemeral"}}
HIDES = ("cache_control", "cachePoint", "ephemeral")


def unmarked(issuer: str) -> Expect:
    """Only the provider that takes the marks sees them."""
    return Expect(on=tuple(one for one in TARGETS if one != issuer), raw_hides=HIDES)


def marked(issuer: str, *places: str, **more: Any) -> Expect:
    """The blocks that have a mark for the prompt cache, in order, by what is in them."""

    def places_are_marked(seen: Seen) -> list[str]:
        found = [repr(block) for block in _marked(seen.render.request)]
        same = len(found) == len(places) and all(map(str.__contains__, found, places))
        return [] if same else [f"marks are on {found}"]

    return Expect(on=(issuer,), also=places_are_marked, **more)


def _marked(value: Any, before: Any = None) -> Iterator[Any]:
    """The marked blocks; a block that is a mark of its own marks the one before it."""
    if isinstance(value, dict):
        for member in value.values():
            yield from _marked(member)
        if "cache_control" in value:
            yield value
        if "cachePoint" in value:
            yield before
    elif isinstance(value, list):
        for place, element in enumerate(value):
            yield from _marked(element, value[place - 1])


VARIANTS = [
    variant(
        "on every user message",
        claude(
            *(
                message
                for day in range(6)
                for message in (
                    ("user", [text(f"entry of day {day}") | MARK]),
                    ("assistant", [text(f"noted day {day}")]),
                )
            ),
        ),
        unmarked("anthropic"),
        marked(
            "anthropic",
            *(f"entry of day {day}" for day in (2, 3, 4, 5)),
            reports=("CACHE_MARKS_STRIPPED x2",),
        ),
        Expect(shows=("entry of day 0", "noted day 5")),
    ),
    variant(
        "on calls, results and what results hold",
        claude(
            ("user", [text("balance") | MARK]),
            ("assistant", [text("Adding up.") | MARK, tool_use("toolu_1", "add") | MARK]),
            (
                "user",
                [
                    tool_result("toolu_1", [text("sum is 12") | MARK], **MARK),
                    text("and the tax?") | MARK,
                ],
            ),
        ),
        unmarked("anthropic"),
        marked("anthropic", "'add'", "sum is 12", "'toolu_", "and the tax?"),
        Expect(pairs=[("add", "sum is 12")], shows=("and the tax?",)),
    ),
    variant(
        "on the system prompt",
        [
            claude(
                ("user", [text("hello") | MARK]),
                system=[text("rule one") | MARK, text("rule two") | MARK],
            ),
            neutral(*rounds(1)),
        ],
        unmarked("anthropic"),
        marked("anthropic", "rule one", "rule two", "hello"),
        Expect(order=("rule one", "rule two", "hello")),
    ),
    variant(
        "bedrock's own marks",
        items(
            "bedrock",
            {"role": "user", "content": [{"text": "audit"}, {"cachePoint": {"type": "default"}}]},
            {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "t1", "name": "audit", "input": {}}},
                    {"cachePoint": {"type": "default"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "t1", "content": [{"text": "no errors"}]}},
                    {"cachePoint": {"type": "default"}},
                ],
            },
        ),
        unmarked("bedrock"),
        marked("bedrock", "audit", "'audit'", "no errors"),
        Expect(pairs=[("audit", "no errors")]),
    ),
]
