"""`turnkeep replay`: the request that a provider takes."""

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from ..formats.registry import TARGETS
from ..model.repairs import CODES
from ..replay.options import OPTIONS
from .asking import Asking, Told, add_asking, asking, conversation_id, number, one_turn
from .json_io import json_line, json_lines
from .looks import add_json
from .targets import OneOf
from .text import complain

_FLAGS = {one.name: one for one in OPTIONS if "flag" in one.metadata}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "replay",
        description="Prints the request that a provider takes: the history of a conversation,"
        " always valid. What it took is told on standard error.",
        epilog="Exit status: 0 done; 1 there is no such conversation or turn; 2 a wrong flag or"
        " setting, or nobody to ask. With --json all that the HTTP interface tells.",
    )
    parser.add_argument("conversation", metavar="CONVERSATION", type=conversation_id)
    parser.add_argument(
        "--provider",
        required=True,
        type=OneOf(TARGETS),
        metavar="NAME",
        help=f"one of {', '.join(TARGETS)}",
    )
    add_options(parser)
    _add_flag(parser, "since")
    add_json(parser)
    add_asking(parser)
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What may be said of any replay, and not only of the next one."""
    for name in _FLAGS:
        if name != "since":
            _add_flag(parser, name)


def _add_flag(parser: argparse.ArgumentParser, name: str) -> None:
    one = _FLAGS[name]
    how: dict[str, Any] = {"metavar": one.metadata.get("metavar")}
    if one.type is bool:
        how = {"action": "store_true"}
    elif get_origin(one.type) is Literal:
        how = {"choices": get_args(one.type), "default": one.default}
    elif "least" in one.metadata:
        how["type"] = number(one.metadata["least"])
    parser.add_argument(f"--{name.replace('_', '-')}", help=one.metadata["flag"], **how)


def run(args: argparse.Namespace) -> int:
    with asking(args) as ask:
        replay = ask.replay(args.conversation, provider=args.provider, **options_of(args, ask))
    if args.json:
        print(json_line(replay))
        return 0
    for line in json_lines(replay["request"]):
        print(line)
    for line in (*assumed(replay, args.model), *repairs(replay)):
        complain(line)
    return 0


def options_of(args: argparse.Namespace, ask: Asking) -> dict[str, Any]:
    given = {name: getattr(args, name, None) for name in _FLAGS}
    if args.until is not None and args.until.isdigit():
        given["until"] = one_turn(ask, args.conversation, args.until)["turn_id"]
    return {name: value for name, value in given.items() if value is not None}


def assumed(replay: Told, named: str | None) -> Iterator[str]:
    """A line with the model of a replay, if the command does not name one."""
    if not named and replay.get("model"):
        yield f"model: {replay['model']}, the newest one of its turns; --model names another"


def repairs(replay: Told) -> Iterator[str]:
    """What it took, in words: a line for each kind of repair."""
    told = replay["repairs"]
    places: dict[str, list[str]] = {}
    for repair in told:
        if repair["turn_id"] is not None:
            places.setdefault(repair["code"], []).append(repair["turn_id"])
    for code, count in Counter(repair["code"] for repair in told).items():
        turns = list(dict.fromkeys(places.get(code, ())))
        more = f" and {len(turns) - 3} more" if len(turns) > 3 else ""
        where = f" (in {', '.join(turns[:3])}{more})" if turns else ""
        times = f", {count} times" if count > 1 else ""
        yield f"{code}{times}: {CODES.get(code, 'a newer release knows what')}{where}"
    for call in replay["pending"]:
        yield f"pending: the call {call['call_id']} of {call['name']} has no result yet"
