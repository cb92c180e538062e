"""`turnkeep reindex`: what conversations are found by, made again from what is stored."""

import argparse
from functools import partial

from app.cli.options import add_database, all_ids, check_schema, settings_of
from app.cli.words import Progress
from app.service.conversations import known
from app.service.indexing import Reindex
from app.storage.database import Database


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "reindex",
        help="make again what conversations are found by",
        description="Makes again what conversations are found by: for those that are older than"
        " the search, and after TURNKEEP_SEARCH was changed. Safe to run again, and while the"
        " service runs.",
        epilog="Exit status: 0 done; 2 a wrong setting, or what was asked for cannot be read: no"
        " such file, no such conversation, an old schema.",
    )
    parser.add_argument("conversation", nargs="*", help="conversation ids (default: all)")
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    check_schema(settings.database_url)
    progress = Progress(0)
    count = 0
    with Database(settings.database_url, pg_writers=1, search=settings.search) as database:
        for cid in args.conversation:
            database.read_now(partial(known, conversation_id=cid))
        for count, cid in enumerate(args.conversation or all_ids(database), 1):
            done: int | None = 0
            while done is not None:
                done = database.write_now(Reindex(cid, done))
            progress.show(count, f"{count} conversations")
    progress.clear()
    what = "with their texts" if settings.search else "without their texts: search is switched off"
    print(f"{count} conversations can be found, {what}.")
    return 0
