"""`turnkeep verify`: recompute every id, hash and mapping of stored conversations."""

import argparse
import sys
from functools import partial

from app.cli.options import add_database, check_schema, settings_of
from app.core.jsontext import dumps_utf8
from app.core.records import ConversationRecord
from app.service.verify import verify
from app.storage.database import Database
from app.storage.store import ReadStore

_PAGE = 200


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "verify",
        help="recompute every id, hash and mapping",
        description="Recomputes stored conversations and prints what disagrees; exits 1 if any.",
    )
    parser.add_argument("conversation", nargs="*", help="conversation ids (default: all)")
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    url = settings_of(args).database_url
    check_schema(url)
    database = Database(url)
    try:
        good = bad = 0
        for cid in args.conversation or _all(database):
            report = database.read_now(partial(verify, cid=cid))
            if report["ok"]:
                good += 1
                continue
            bad += 1
            print(f"{cid}: {dumps_utf8(report['problems']).decode()}")
    finally:
        database.close()
    print(f"{good} conversations agree, {bad} do not.", file=sys.stderr if bad else sys.stdout)
    return 1 if bad else 0


def _page(store: ReadStore, after: str | None) -> list[ConversationRecord]:
    return store.conversations(_PAGE, after)


def _all(database: Database) -> list[str]:
    found: list[str] = []
    while True:
        after = found[-1] if found else None
        page = database.read_now(partial(_page, after=after))
        found.extend(record.id for record in page)
        if len(page) < _PAGE:
            return found
