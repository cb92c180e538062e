"""`turnkeep list`: conversations, the newest first."""

import argparse
from itertools import islice
from typing import get_args

from ..ledger.wanted import State
from .asking import Told, add_asking, all_of, asking, number
from .json_io import json_line
from .looks import Cell, Look, add_looks, excerpt, moment
from .text import complain

_WISHES = ("q", "title", "tool", "provider", "metadata", "state")
_HEADINGS = ("CONVERSATION", "TURNS", "OPEN", "UPDATED (UTC)", "TOKENS IN", "OUT", "TITLE")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "list",
        description="Lists conversations, the one that changed last first. Everything that is asked"
        " for must hold.",
        epilog="Exit status: 0 done, also where nothing is found; 1 some cannot be read and are"
        " left out; 2 a wrong flag or setting, or nobody to ask. With --json a line for each.",
    )
    parser.add_argument(
        "--q", metavar="WORDS", help="words of a turn, of the title or of an id; all must occur"
    )
    parser.add_argument("--title", metavar="WORDS", help="words of the title")
    parser.add_argument(
        "--tool", action="append", default=[], metavar="NAME", help="a tool that was called"
    )
    parser.add_argument(
        "--provider", action="append", default=[], metavar="NAME", help="a provider of turns"
    )
    parser.add_argument(
        "--metadata",
        action="append",
        default=[],
        type=_pair,
        metavar="KEY=VALUE",
        help="a member of the metadata; these three may be given again",
    )
    parser.add_argument(
        "--state",
        choices=get_args(State),
        help="open: has calls without a result; interrupted: has a turn that broke off",
    )
    parser.add_argument(
        "--limit", type=number(1), default=50, metavar="N", help="at most so many (default 50)"
    )
    add_looks(parser)
    add_asking(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    damaged: dict[str, None] = {}
    with asking(args) as ask:
        wish = {name: getattr(args, name) for name in _WISHES}
        # One more than is shown tells whether there are more.
        most = args.limit + 1
        found = all_of(ask.conversations, most, damaged=damaged, order="updated", **wish)
        if args.json:
            for one in islice(found, args.limit):
                print(json_line(one))
        else:
            _print(list(found), args)
    for cid in damaged:
        complain(f"{cid} cannot be read; `turnkeep verify {cid}` says where it is damaged")
    return 1 if damaged else 0


def _print(found: list[Told], args: argparse.Namespace) -> None:
    if not found:
        complain("there is no such conversation")
        return
    for line in Look(args).table(_HEADINGS, [_row(one) for one in found[: args.limit]]):
        print(line)
    if len(found) > args.limit:
        complain(f"only the newest {args.limit} are shown; --limit {args.limit * 10} shows more")


def _row(one: Told) -> list[Cell]:
    usage = one["usage"]
    return [
        Cell(one["id"], "cyan"),
        Cell(f"{one['version']:>5}"),
        # A service of an earlier release does not say it.
        Cell(f"{one.get('open_calls', '-'):>4}", "yellow" if one.get("open_calls") else ""),
        Cell(moment(one["updated_at"])),
        Cell(f"{usage['input_tokens']:>9}"),
        Cell(f"{usage['output_tokens']:>6}"),
        Cell(" ".join(excerpt(one["title"] or "", 60))),
    ]


def _pair(given: str) -> tuple[str, str]:
    key, sign, value = given.partition("=")
    if not key or not sign:
        raise argparse.ArgumentTypeError(f"must be KEY=VALUE, not {given!r}")
    return key, value
