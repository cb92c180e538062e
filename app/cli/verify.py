"""`turnkeep verify`: recompute every id, hash and mapping of stored conversations."""

import argparse
import sys
from collections.abc import Iterable
from functools import partial

from app.cli.options import add_database, all_ids, check_schema, settings_of
from app.core.json.text import dumps_utf8
from app.service.verify import verify
from app.storage.database import Database


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "verify",
        help="recompute every id, hash and mapping",
        description="Recomputes stored conversations and prints what disagrees.",
        epilog="Exit status: 0 all agree; 1 some do not; 2 a wrong setting, or what it was asked"
        " for cannot be read: no such file, no such conversation, an old schema.",
    )
    parser.add_argument("conversation", nargs="*", help="conversation ids (default: all)")
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    url = settings_of(args).database_url
    check_schema(url)
    with Database(url) as database:
        return 1 if check(database, args.conversation or all_ids(database)) else 0


def check(database: Database, conversations: Iterable[str]) -> int:
    """Prints what disagrees; returns in how many conversations something does."""
    good = bad = 0
    for cid in conversations:
        report = database.read_now(partial(verify, cid=cid))
        if report["ok"]:
            good += 1
            continue
        bad += 1
        print(f"{cid}: {dumps_utf8(report['problems']).decode()}")
    print(f"{good} conversations agree, {bad} do not.", file=sys.stderr if bad else sys.stdout)
    return bad
