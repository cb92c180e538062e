"""Law 3 for any wire: each call has exactly one result, adjacent, in call order.

A provider's module turns its request into a flat line of events. `Break` stands wherever
something other than a result would part a call from its answer on that wire. Everything about
pairing is then said once, here, in the rule numbers that the module hands over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Call:
    where: str
    id: object
    name: object
    arguments: object


@dataclass(frozen=True)
class Result:
    where: str
    id: object
    value: object
    name: object = None


@dataclass(frozen=True)
class Break:
    where: str


Event: TypeAlias = Call | Result | Break
Pair: TypeAlias = tuple[object, object, object, object]


@dataclass(frozen=True)
class Rules:
    """The provider's numbers for the ways in which pairing fails."""

    unanswered: str
    orphan: str
    twice: str = "law 3"
    order: str = "law 3"
    reused: str = "ids are unique per call"


def pairing_faults(events: Iterable[Event], rules: Rules) -> list[str]:
    """Walk the line once; `open_calls` are the calls that still wait for their result."""
    faults: list[str] = []
    open_calls: list[Call] = []
    group: list[Call] = []
    answered: set[str] = set()
    used: set[str] = set()
    for event in [*events, Break("end of the request")]:
        match event:
            case Call():
                if group and len(open_calls) < len(group) and open_calls:
                    faults.append(
                        f"{event.where}: call among the results of others ({rules.order})"
                    )
                if not open_calls:
                    group, answered = [], set()
                if repr(event.id) in used:
                    faults.append(f"{event.where}: id {event.id!r} used twice ({rules.reused})")
                used.add(repr(event.id))
                open_calls.append(event)
                group.append(event)
            case Result():
                faults += _result_faults(event, open_calls, answered, rules)
            case Break():
                for call in open_calls:
                    faults.append(
                        f"{call.where}: call {call.id!r} has no result before {event.where} "
                        f"({rules.unanswered})"
                    )
                open_calls, group, answered = [], [], set()
    return faults


def _result_faults(
    result: Result, open_calls: list[Call], answered: set[str], rules: Rules
) -> list[str]:
    """Take the answered call out of `open_calls`, and say what was wrong with the answer."""
    key = repr(result.id)
    place = next((at for at, call in enumerate(open_calls) if repr(call.id) == key), None)
    if place is None:
        if key in answered:
            return [f"{result.where}: second result for {result.id!r} ({rules.twice})"]
        return [f"{result.where}: result {result.id!r} answers no call before it ({rules.orphan})"]
    call = open_calls.pop(place)
    answered.add(key)
    faults = []
    if place:
        faults.append(f"{result.where}: results are not in call order ({rules.order})")
    if result.name is not None and result.name != call.name:
        faults.append(
            f"{result.where}: result is named {result.name!r}, its call {call.name!r} (law 3)"
        )
    return faults


def paired(events: Iterable[Event]) -> list[Pair]:
    """(call id, name, arguments, result) of every call in order; no result shows as None."""
    calls: list[Call] = []
    results: dict[int, object] = {}
    waiting: list[int] = []
    for event in events:
        if isinstance(event, Call):
            waiting.append(len(calls))
            calls.append(event)
        elif isinstance(event, Result):
            mine = next((at for at in waiting if calls[at].id == event.id), None)
            if mine is not None:
                results[mine] = event.value
                waiting.remove(mine)
    return [(c.id, c.name, c.arguments, results.get(at)) for at, c in enumerate(calls)]
