"""`turnkeep diff`: what two providers are shown, turn by turn."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from ..formats.registry import CODECS, TARGETS
from ..pages.aligned import grouped
from .asking import Told, add_asking, all_turns, asking, conversation_id
from .json_io import json_line, json_lines
from .looks import Look, add_looks
from .replay import add_options, assumed, options_of, repairs
from .targets import OneOf
from .text import complain

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
class Part:
    """What two providers are shown of some turns. Without turns: what stands beside messages."""

    turns: Sequence[str]
    one: Sequence[Any]
    other: Sequence[Any]


def parts(one: Told, other: Told) -> Iterator[Part]:
    sides = [_request(replay) for replay in (one, other)]
    (beside, messages), (other_beside, other_messages) = sides
    yield Part((), [beside] if beside else [], [other_beside] if other_beside else [])
    for group in grouped(one["turns"], other["turns"]):
        yield Part(
            group.turns,
            [messages[place] for place in group.left],
            [other_messages[place] for place in group.right],
        )


def _request(replay: Told) -> tuple[Told, list[Any]]:
    """What stands beside the messages, and these."""
    name, request = CODECS[replay["provider"]].messages, replay["request"]
    return {key: one for key, one in request.items() if key != name}, request[name]


def run(args: argparse.Namespace) -> int:
    cid = args.conversation
    with asking(args) as ask:
        options = {**options_of(args, ask), "tokens": True}
        replays = [ask.replay(cid, provider=provider, **options) for provider in args.between]
        told = {} if args.json else {turn["turn_id"]: turn for turn in all_turns(ask, cid)}
    found = list(parts(*replays))
    if args.json:
        repaired = {replay["provider"]: replay["repairs"] for replay in replays}
        shown = [_json(part, args.between) for part in found]
        models = {one["provider"]: one["model"] for one in replays if "model" in one}
        about = {"between": args.between, "models": models}
        print(json_line(about | {"parts": shown, "repairs": repaired}))
        return 0
    look = Look(args)
    print(look.paint(f"--- {args.between[0]}", "red"))
    print(look.paint(f"+++ {args.between[1]}", "green"))
    for part in found:
        for line in _lines(part, told, look):
            print(line)
    for replay in replays:
        for line in (*assumed(replay, args.model), *repairs(replay)):
            complain(f"{replay['provider']}: {line}")
    return 0


def _lines(part: Part, told: Mapping[str, Told], look: Look) -> Iterator[str]:
    before, after = (
        [line for message in messages for line in json_lines(message)]
        for messages in (part.one, part.other)
    )
    changed = list(unified_diff(before, after, lineterm="", n=_AROUND))[2:]
    same = "" if changed else ": the same"
    yield look.paint(f"@@ {_where(part, told)}{same} @@", "cyan")
    for line in changed:
        if not line.startswith("@@"):
            yield look.paint(line, {"-": "red", "+": "green"}.get(line[:1], ""))


def _where(part: Part, told: Mapping[str, Told]) -> str:
    if not part.turns:
        return "beside the turns"
    turns = [told[one] for one in part.turns if one in told]
    about = "; ".join(f"{one['speaker']}, {one['provider']}, {one['turn_id']}" for one in turns)
    numbers = ", ".join(str(one["seq"]) for one in turns)
    return f"turn {numbers} ({about})" if len(turns) == 1 else f"turns {numbers} ({about})"


def _json(part: Part, names: Sequence[str]) -> Told:
    shown = dict(zip(names, (part.one, part.other), strict=True))
    return {"turns": part.turns, "messages": shown}


def _two(given: str) -> tuple[str, str]:
    names = [name.strip() for name in given.split(",")]
    if len(names) != 2 or names[0] == names[1]:
        raise argparse.ArgumentTypeError(f"must be two names, like anthropic,openai, not {given!r}")
    known = OneOf(TARGETS)
    return known(names[0]), known(names[1])
