"""`turnkeep export`: conversations as JSON lines, neutral or for a provider."""

import argparse
import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from ..database.damage import may_be_damage
from ..database.database import Database
from ..formats.registry import TARGETS
from ..model.errors import ConversationNotFound
from ..replay.options import ReplayOptions
from ..transfer.queries import export
from ..verify.queries import verify
from .databases import add_tenant, all_ids, opened
from .flags import add_database, settings_of
from .output import output
from .targets import OneOf
from .text import Progress, complain


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "export",
        description="Writes one conversation a line. The neutral form can be imported again and"
        " gives the same ids and the same replays; a provider's form is the request it takes.",
        epilog="Exit status: 0 all is written; 1 something cannot be read and is left out, or the"
        " reader of the output has gone; 2 nothing was begun, or FILE cannot be written.",
    )
    parser.add_argument("conversation", nargs="*", help="conversation ids")
    parser.add_argument("--all", action="store_true", help="every conversation, by id")
    parser.add_argument(
        "--provider",
        default="neutral",
        type=OneOf(TARGETS),
        metavar="NAME",
        help=f"one of {', '.join(TARGETS)} (default neutral)",
    )
    parser.add_argument("--model", help="the model that will read a provider's form")
    parser.add_argument(
        "--output", metavar="FILE", help="where to write (default: standard output)"
    )
    add_tenant(parser)
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if bool(args.conversation) == args.all:
        complain("name conversations, or give --all (not both)")
        return 2
    try:
        with opened(settings_of(args), args.tenant) as database, output(args.output) as out:
            ids = all_ids(database) if args.all else iter(args.conversation)
            return _write(database, ids, args, out)
    except BrokenPipeError:
        # Whoever read the output has enough; nothing may be written to it at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        complain(f"{args.output or 'standard output'}: {error.strerror}")
        return 2


def _write(database: Database, ids: Iterator[str], args: argparse.Namespace, out: BinaryIO) -> int:
    options = ReplayOptions(args.provider, model=args.model)
    progress = Progress(0, quiet=args.output in (None, "-") and sys.stdout.isatty())
    conversations = turns = 0
    bad = False
    for cid in ids:
        try:
            done = database.read_now(partial(export, cid=cid, options=options))
        except ConversationNotFound:
            if not args.all:
                raise
            # It was erased since its page was read.
            continue
        except Exception as error:
            if not may_be_damage(error) or database.read_now(partial(verify, cid=cid))["ok"]:
                raise
            bad = True
            progress.say(f"{cid}: it is damaged and left out; turnkeep verify says where")
            continue
        out.write(done.line + b"\n")
        conversations += 1
        turns += done.turns
        for what in done.unreadable:
            bad = True
            progress.say(f"{cid}: {what} cannot be read and is left out")
        progress.show(conversations, f"{conversations} conversations")
    progress.clear()
    out.flush()
    print(f"{conversations} conversations, {turns} turns exported.", file=sys.stderr)
    return 1 if bad else 0
