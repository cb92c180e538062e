"""Every failure class, in several variants, for every target: as expected, and within the laws."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

from app.formats.registry import TARGETS
from app.model import ids
from app.model.errors import RuleBroken
from tests import judges
from tests.every import Test, every
from tests.histories import History, Render
from tests.long import IS_LONG
from tests.zoo import cases, laws
from tests.zoo.expecting import Expect, Refused, Seen, Variant

CLASSES: dict[str, ModuleType] = {
    found.name: import_module(f"{cases.__name__}.{found.name}")
    for found in iter_modules(cases.__path__)
}
# Told over HTTP only: they are about retries and streams, not about histories.
HTTP_ONLY = {"z59", "z61"}


@dataclass(frozen=True)
class Case:
    """One variant of a class, and whoever it is shown to. A test looks at all of them at once."""

    number: str
    variant: Variant
    targets: tuple[str, ...]
    is_first: bool

    def __str__(self) -> str:
        return f"{self.number}-{self.variant.name}"


def _cases() -> list[Case]:
    """Variants that can be told and targets that can be shown; others wait for their codecs."""
    return [
        Case(name.partition("_")[0], variant, targets, variant is module.VARIANTS[0])
        for name, module in CLASSES.items()
        for variant in module.VARIANTS
        if variant.formats() <= set(TARGETS)
        if (targets := tuple(t for t in variant.targets or module.TARGETS if t in TARGETS))
    ]


def of_each(chosen: Sequence[Case]) -> Callable[[Test], Test]:
    """One test for all variants of a class."""
    return every("case", chosen, by=lambda one: one.number, label=str)


CASES = _cases()
# What takes megabytes is told once and not again for every window.
LIGHT = [one for one in CASES if not one.variant.huge]
of_every_case = of_each(CASES)
of_every_light_case = of_each(LIGHT)
# The first variant of a class stands for it where one is enough.
of_every_class = of_each([one for one in LIGHT if one.is_first])


@pytest.mark.parametrize("target", sorted({one for case in CASES for one in case.targets}))
def test_its_judge_can_be_asked(target: str) -> None:
    """Where this is skipped, the tests below pass over the target."""
    if reason := judges.available(target):
        pytest.skip(reason)


def judged(case: Case) -> list[str]:
    return [target for target in case.targets if not judges.available(target)]


# Of so many targets one is shown each part of a history.
APART = 3 if IS_LONG else 5


def third(case: Case, targets: Sequence[str]) -> Sequence[str]:
    """Every third target, other ones for the next case; all where there is time.

    For what is the same for every target unless the history itself has changed.
    """
    return targets if IS_LONG else targets[CASES.index(case) % 3 :: 3]


@cache
def _whole(number: str, name: str) -> History:
    (case, *_) = (one for one in CASES if (one.number, one.variant.name) == (number, name))
    return laws.history(case.variant.posts)


@cache
def _rendered(number: str, name: str, target: str, options: tuple[tuple[str, Any], ...]) -> Render:
    """Several tests look at the same render of a history."""
    return _whole(number, name).render(target, **dict(options))


def _shown(case: Case, target: str, options: Mapping[str, Any]) -> Render:
    if case.variant.huge:
        return _whole(case.number, case.variant.name).render(target, **options)
    return _rendered(case.number, case.variant.name, target, tuple(sorted(options.items())))


def _seen(case: Case, target: str) -> Seen:
    whole = _whole(case.number, case.variant.name)
    return Seen(target, whole, _shown(case, target, case.variant.options))


def _complaints(case: Case, seen: Seen) -> list[str]:
    options = case.variant.options
    is_ready = bool(options.get("ready"))
    return _judged(seen.target, seen.render.raw, options.get("model"), is_ready=is_ready)


@cache
def _judged(target: str, raw: bytes, model: str | None, *, is_ready: bool) -> list[str]:
    """Windows of one history often come out alike; nobody needs to judge them twice."""
    judge = judges.complaints if is_ready else judges.history_complaints
    return judge(target, json.loads(raw), model=model)


def _some(count: int) -> list[int]:
    """1 to count; of long histories the ends and some in between."""
    every = range(1, count + 1)
    return [one for one in every if count <= 16 or one <= 6 or one > count - 6 or one % 7 == 0]


@of_every_case
def test_it_is_shown_as_it_should_be(case: Case) -> None:
    missed = {}
    for target in case.targets:
        seen = _seen(case, target)
        expects = [one for one in case.variant.expects if not one.on or target in one.on]
        missed[target] = [miss for expect in expects for miss in expect.misses(seen)]
    assert {target: misses for target, misses in missed.items() if misses} == {}


@of_every_case
def test_it_is_valid_and_whole_and_gives_the_same_bytes_again(case: Case) -> None:
    options = case.variant.options
    again = laws.history(case.variant.posts)
    stored = laws.history(case.variant.posts).render("neutral").raw
    arrived = [laws.history([arrival]) for arrival in case.variant.arrivals]
    for target in judged(case):
        seen = _seen(case, target)
        turns = seen.history.remembered.turns
        assert _complaints(case, seen) == [], target
        if not options.keys() & {"last", "max_tokens"}:
            assert laws.lost(target, turns, seen.render) == [], target
            if options.get("tools") != "flatten":
                assert laws.unpaired(target, turns, seen.render) == [], target
        if target in third(case, case.targets):
            same = again.render(target, **options)
            assert (same.raw, same.repairs) == (seen.render.raw, seen.render.repairs), target
        for history in arrived:
            assert history.render(target, **options).raw == seen.render.raw, target
        if target in third(case, case.targets):
            ready = _shown(case, target, {**options, "ready": True})
            faults = _judged(target, ready.raw, options.get("model"), is_ready=True)
            assert faults == [], f"{target}, ready to be sent"
    for target in set(TARGETS) - set(judged(case)):
        again.render(target, **options)
    # No render for anybody has changed what is stored.
    assert again.render("neutral").raw == stored


@of_every_light_case
def test_every_part_of_it_is_valid(case: Case) -> None:
    """Each window and each earlier end is tried on some targets, other ones each time.

    What is cut off is the same turns for everybody; the laws try it on all at random.
    """
    whole = _whole(case.number, case.variant.name)
    turns = whole.remembered.turns
    options = {k: v for k, v in case.variant.options.items() if k not in ("last", "max_tokens")}
    for place, target in enumerate(judged(case)):
        shown = Seen(target, whole, _shown(case, target, options))
        known = {one for one, *_ in shown.calls}
        for last in _some(len(turns)):
            if last % APART != place % APART:
                continue
            seen = Seen(target, whole, whole.render(target, last=last, **options))
            assert _complaints(case, seen) == [], f"{target}, last={last}"
            assert laws.lost(target, turns[-last:], seen.render) == [], f"{target}, last={last}"
            # A moving window must not rename calls.
            assert {one for one, *_ in seen.calls} <= known, f"{target}, last={last}"
    for until in _some(len(turns)):
        so_far = laws.history(case.variant.posts, until)
        for target in judged(case)[until % APART :: APART]:
            then = so_far.render(target, **case.variant.options)
            now = whole.render(target, until=until, **case.variant.options)
            where = f"{target}, until={until}"
            assert _complaints(case, Seen(target, whole, now)) == [], where
            assert (now.raw, now.repairs) == (then.raw, then.repairs), where


@of_every_class
def test_an_unreadable_turn_of_it_is_left_out_and_named(case: Case) -> None:
    whole = _whole(case.number, case.variant.name)
    for place in _some(len(whole.remembered.turns)):
        broken = laws.without_turn(whole, place - 1)
        for target in judged(case):
            seen = Seen(target, broken, broken.render(target))
            where = f"{target}, turn {place}"
            assert _complaints(case, seen) == [], where
            assert laws.lost(target, broken.remembered.turns, seen.render) == [], where
            gone = [one.turn_id for one in seen.render.repairs if one.code == "TURN_QUARANTINED"]
            assert gone == [whole.remembered.turns[place - 1].turn_id], where


@of_every_case
def test_its_export_gives_it_back(case: Case) -> None:
    whole = _whole(case.number, case.variant.name)
    again = laws.history([laws.exported(whole)])
    assert again.render("neutral").raw == _shown(case, "neutral", {}).raw
    for target in third(case, TARGETS):
        assert again.render(target).raw == _shown(case, target, {}).raw, target


_REFUSED = [
    (name, refused)
    for name, module in CLASSES.items()
    for refused in getattr(module, "REFUSED", ())
]


@pytest.mark.parametrize(
    "refused", [one for _, one in _REFUSED], ids=[f"{n[:3]}-{one.name}" for n, one in _REFUSED]
)
def test_what_no_history_can_hold_is_refused_with_its_place(refused: Refused) -> None:
    with pytest.raises(RuleBroken) as broken:
        laws.history([refused.post])
    assert broken.value.pointer == refused.pointer


def test_every_class_is_here_in_at_least_four_variants() -> None:
    assert {name[:3] for name in CLASSES} | HTTP_ONLY == {f"z{n:02}" for n in range(1, 64)}
    few = [
        name
        for name, module in CLASSES.items()
        if len(module.VARIANTS) + len(getattr(module, "REFUSED", ())) < 4
    ]
    assert few == []


def test_every_variant_has_a_name_of_its_own_and_expects_something() -> None:
    for name, module in CLASSES.items():
        assert re.fullmatch(r"z\d\d_[a-z0-9_]+", name)
        assert module.TITLE
        names = [one.name for one in module.VARIANTS]
        assert len(names) == len(set(names)), name
        for one in module.VARIANTS:
            assert one.expects, (name, one.name)
            assert all(expect != Expect(on=expect.on) for expect in one.expects), (name, one.name)


def test_two_calls_never_share_a_hash_input() -> None:
    fields = [
        ("openai", "one|two", "three", "t", 0),
        ("openai", "one", "two|three", "t", 0),
        ("openai|one", "two", "three", "t", 0),
        ("openai", "one\\", "two|three", "t", 0),
        ("openai", "one\\|two", "three", "t", 0),
        ("openai", "", "one|two|three", "t", 0),
        ("openai", "one|two|three", "", "t", 0),
    ]
    assert len({ids.canonical_id(*one) for one in fields}) == len(fields)
