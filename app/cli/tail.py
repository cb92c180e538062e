"""`turnkeep tail`: the last turns, and new ones as they come."""

import argparse
from collections.abc import Iterable
from functools import partial
from itertools import islice, takewhile

from .asking import (
    PAGE,
    Asking,
    Told,
    add_asking,
    all_of,
    all_turns,
    asking,
    conversation_id,
    number,
)
from .json_io import json_line
from .looks import Look, add_looks
from .turn_text import Timeline

# Calls that are read at a time, and turns before the first that are looked at for its results.
_CALLS = 50
# Of turns with very many calls, the results of some are not named.
_MOST = 1_000


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "tail",
        description="Shows the last turns of a conversation, and with -f new ones as they come.",
        epilog="Exit status: 0 done; 1 there is no such conversation, or it was erased; 2 a wrong"
        " flag or setting, or nobody to ask; 130 ended by Ctrl-C. With --json a line for each"
        " turn.",
    )
    parser.add_argument("conversation", metavar="CONVERSATION", type=conversation_id)
    parser.add_argument(
        "-n", type=number(0, PAGE), default=10, metavar="N", help="so many turns (default 10)"
    )
    parser.add_argument("-f", action="store_true", help="go on with new turns, until Ctrl-C")
    add_looks(parser)
    add_asking(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    cid = args.conversation
    with asking(args) as ask:
        seen = ask.conversation(cid)["version"]
        if args.n:
            _print(ask, all_turns(ask, cid, max(0, seen - args.n)), args)
        if args.f:
            for _ in ask.versions(cid, seen):
                seen = _print(ask, all_turns(ask, cid, seen), args) or seen
    return 0


def _print(ask: Asking, turns: Iterable[Told], args: argparse.Namespace) -> int | None:
    """Prints turns; returns the number of the last one."""
    seq, timeline = None, None
    for turn in turns:
        if args.json:
            print(json_line(turn), flush=True)
        else:
            timeline = timeline or Timeline(Look(args), _calls(ask, args, turn["seq"]))
            print("\n".join([*timeline.lines(turn), ""]), flush=True)
        seq = turn["seq"]
    return seq


def _calls(ask: Asking, args: argparse.Namespace, seq: int) -> dict[str, Told]:
    """The calls of this turn and later ones, and of some before it: their results come later."""
    newest = islice(all_of(partial(ask.tool_calls, args.conversation), size=_CALLS), _MOST)
    return {call["id"]: call for call in takewhile(lambda one: one["seq"] > seq - _CALLS, newest)}
