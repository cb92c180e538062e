"""`turnkeep verify`: recompute every id, hash and mapping of stored conversations."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from app.cli.options import add_database, all_ids, check_schema, settings_of
from app.cli.words import printable
from app.core.identity.forms import CONVERSATION_ID
from app.core.json.text import dumps_utf8
from app.service.verify import verify
from app.storage.database import DEFAULT_TENANT, Database, all_tenants


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "verify",
        help="recompute every id, hash and mapping",
        description="Recomputes stored conversations and prints what disagrees.",
        epilog="Exit status: 0 all agree; 1 some do not; 2 a wrong setting, or what it was asked"
        " for cannot be read: no such file, no such conversation, an old schema.",
    )
    parser.add_argument("conversation", nargs="*", help="conversation ids (default: all)")
    parser.add_argument(
        "--tenant", help=f"whose (default: all; {DEFAULT_TENANT} where conversations are named)"
    )
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    url = settings_of(args).database_url
    check_schema(url)
    with Database(url) as database:
        return 1 if check(database, args.conversation, args.tenant) else 0


def check(
    database: Database, conversations: Sequence[str] = (), tenant_id: str | None = None
) -> int:
    """Prints what disagrees; returns in how many conversations something does."""
    tenants = [tenant_id or DEFAULT_TENANT]
    if tenant_id is None and not conversations:
        tenants = database.ask_keys_now(all_tenants)
    good = bad = 0
    for mine in map(database.of, tenants):
        # Of the tenant of a service without keys nobody need be told the name.
        whose = "" if mine.tenant_id == DEFAULT_TENANT else f"{mine.tenant_id} "
        for cid in conversations or all_ids(mine):
            if not (conversations or CONVERSATION_ID.fits(cid)):
                bad += 1
                print(printable(f"{whose}{cid}: no conversation can have this id"))
                continue
            report = mine.read_now(partial(verify, cid=cid))
            if report["ok"]:
                good += 1
                continue
            bad += 1
            print(f"{whose}{cid}: {dumps_utf8(report['problems']).decode()}")
    print(f"{good} conversations agree, {bad} do not.", file=sys.stderr if bad else sys.stdout)
    return bad
