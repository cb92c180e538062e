"""`turnkeep migrate`: the database's schema to the newest one."""

import argparse

from ..database.engines import described
from ..database.migrations import current_and_head, grant, upgrade
from .flags import add_database, settings_of


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "migrate",
        description="Brings the schema to the newest one. Safe to run again, and by two at once.",
        epilog="Exit status: 0 done; 2 a wrong setting, or the database cannot be reached.",
    )
    parser.add_argument(
        "--grant",
        metavar="ROLE",
        help="let this role of PostgreSQL serve: it sees the rows of one tenant at a time",
    )
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    url = settings_of(args).database_url
    before = upgrade(url)
    after, _ = current_and_head(url)
    what = "was" if before == after else "is now"
    if args.grant:
        grant(url, args.grant)
    print(f"The schema of {described(url)} {what} at {after}.")
    return 0
