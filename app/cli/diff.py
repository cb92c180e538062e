"""`turnkeep diff`: what two providers are shown, turn by turn.

A replay does not say which turn a message comes from. But it shows the texts of the turns, and the
calls under ids that the audit knows; so the messages are found again by what they hold.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from app.cli.asking import Asking, Told, add_asking, all_turns, asking, conversation_id
from app.cli.jsontext import json_line, json_lines
from app.cli.looks import Look, add_looks
from app.cli.replay import add_options, options_of, repairs
from app.cli.targets import OneOf
from app.cli.timeline import calls_of
from app.cli.words import complain
from app.codecs import CODECS, TARGETS

# Lines around a difference that are shown with it.
_AROUND = 3


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "diff",
        description="Shows where the requests for two providers differ, turn by turn, and what it"
        " took on each side.",
        epilog="Exit status: 0 done, whether they differ or not; 1 there is no such conversation or"
        " turn; 2 a wrong flag or setting, or nobody to ask.",
    )
    parser.add_argument("conversation", metavar="CONVERSATION", type=conversation_id)
    parser.add_argument(
        "--between",
        required=True,
        type=_two,
        metavar="NAME,NAME",
        help=f"two of {', '.join(TARGETS)}",
    )
    add_options(parser)
    add_looks(parser)
    add_asking(parser)
    parser.set_defaults(run=run)


@dataclass(frozen=True, slots=True)
class Side:
    """What one provider is shown: by the number of a turn, the messages that come from there. 0:
    what stands beside the messages."""

    provider: str
    replay: Told
    messages: Mapping[int, list[Any]]

    @classmethod
    def of(cls, replay: Told, said: Mapping[str, list[int]], calls: Iterable[Told]) -> "Side":
        """`said`: the numbers of the turns that a text stands in."""
        provider, request = replay["provider"], replay["request"]
        name = CODECS[provider].messages
        made = {one: call["seq"] for call in calls for one in (call["id"], call["ids"][provider])}
        left = {text: iter(turns) for text, turns in said.items()}
        beside = {key: value for key, value in request.items() if key != name}
        found: dict[int, list[Any]] = {0: [beside] if beside else []}
        turn = 0
        for message in request[name]:
            strings = list(_strings(message))
            # What was said twice is shown twice, and later turns are shown later.
            by_text = [next((at for at in left.get(one, ()) if at >= turn), 0) for one in strings]
            by_call = [made[one] for one in strings if one in made]
            turn = min(by_call or [at for at in by_text if at] or [turn])
            found.setdefault(turn, []).append(message)
        return cls(provider, replay, found)


def run(args: argparse.Namespace) -> int:
    with asking(args) as ask:
        sides, turns = _sides(ask, args)
    one, other = sides
    if args.json:
        found = [_json(number, one, other) for number in sorted({*one.messages, *other.messages})]
        told = {side.provider: side.replay["repairs"] for side in sides}
        print(json_line({"between": [*told], "turns": found, "repairs": told}))
        return 0
    look = Look(args)
    for line in _lines(one, other, turns, look):
        print(line)
    for side in sides:
        for line in repairs(side.replay):
            complain(f"{side.provider}: {line}")
    return 0


def _sides(ask: Asking, args: argparse.Namespace) -> tuple[tuple[Side, Side], Mapping[int, str]]:
    cid, options = args.conversation, options_of(args)
    replays = [ask.replay(cid, provider=provider, **options) for provider in args.between]
    calls = calls_of(ask, cid).values()
    said: dict[str, list[int]] = {}
    turns: dict[int, str] = {}
    for turn in all_turns(ask, cid):
        turns[turn["seq"]] = f"{turn['speaker']}, {turn['provider']}, {turn['turn_id']}"
        for block in turn["blocks"]:
            if block["type"] == "text":
                said.setdefault(block["text"], []).append(turn["seq"])
    one, other = (Side.of(replay, said, calls) for replay in replays)
    return (one, other), turns


def _lines(one: Side, other: Side, turns: Mapping[int, str], look: Look) -> Iterator[str]:
    yield look.paint(f"--- {one.provider}", "red")
    yield look.paint(f"+++ {other.provider}", "green")
    for number in sorted({*one.messages, *other.messages}):
        before, after = (
            [line for message in side.messages.get(number, ()) for line in json_lines(message)]
            for side in (one, other)
        )
        changed = list(unified_diff(before, after, lineterm="", n=_AROUND))[2:]
        where = (
            f"turn {number} ({turns.get(number, 'unknown')})" if number else "beside the messages"
        )
        same = "" if changed else ": the same"
        yield look.paint(f"@@ {where}{same} @@", "cyan")
        for line in changed:
            if not line.startswith("@@"):
                yield look.paint(line, {"-": "red", "+": "green"}.get(line[:1], ""))


def _json(number: int, one: Side, other: Side) -> Told:
    shown = {side.provider: side.messages.get(number, []) for side in (one, other)}
    return {"turn": number, "messages": shown}


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for element in value:
                yield from _strings(element)
        case dict():
            for member in value.values():
                yield from _strings(member)


def _two(given: str) -> tuple[str, str]:
    names = [name.strip() for name in given.split(",")]
    if len(names) != 2 or names[0] == names[1]:
        raise argparse.ArgumentTypeError(f"must be two names, like anthropic,openai, not {given!r}")
    known = OneOf(TARGETS)
    return known(names[0]), known(names[1])
