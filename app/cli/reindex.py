"""`turnkeep reindex`: what conversations are found by, made again from what is stored."""

import argparse
from functools import partial

from ..database.damage import may_be_damage
from ..database.database import Database
from ..database.migrations import rebuild_index
from ..database.store import ReadStore
from ..model.errors import ConversationNotFound
from ..search.indexing import Reindex, behind
from ..verify.queries import verify
from .databases import add_tenant, all_ids, opened
from .flags import add_database, settings_of
from .text import Progress


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "reindex",
        description="Makes again what conversations are found by, and removes their words where"
        " TURNKEEP_SEARCH is false. Without names it first builds SQLite's full-text index from"
        " nothing. Safe to run again, and while the service runs.",
        epilog="Exit status: 0 done; 1 some are damaged; 2 a wrong setting, or what was"
        " asked for cannot be read: no such file, no such conversation, an old schema.",
    )
    parser.add_argument("conversation", nargs="*", help="conversation ids (default: all)")
    add_tenant(parser)
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    progress = Progress(0)
    count = bad = 0
    with opened(settings, args.tenant) as database:
        for cid in args.conversation:
            database.read_now(partial(_demand, cid=cid))
        if not args.conversation:
            rebuild_index(settings.database_url)
        for count, cid in enumerate(args.conversation or all_ids(database), 1):
            if not _reindexed(database, cid):
                bad += 1
                progress.say(f"{cid}: it is damaged; turnkeep verify says where")
            progress.show(count, f"{count} conversations")
    progress.clear()
    what = "with their texts" if settings.search else "without their texts: search is switched off"
    print(f"{count - bad} conversations can be found, {what}.")
    return 1 if bad else 0


def _demand(store: ReadStore, cid: str) -> None:
    if not store.damage.has_head(cid):
        raise ConversationNotFound(cid)


def _reindexed(database: Database, cid: str) -> bool:
    """Whether all of it could be read."""
    try:
        database.write_now(Reindex(cid))
        catch_up(database)
        head = database.read_now(lambda store: store.conversations.head(cid))
        if head is None or head.indexed == head.version:
            return True
    except Exception as error:
        if not may_be_damage(error) or database.read_now(partial(verify, cid=cid))["ok"]:
            raise
        return False
    # A turn that came meanwhile is not indexed yet; one that is damaged never will be.
    return database.read_now(partial(verify, cid=cid))["ok"] is True


def catch_up(database: Database) -> None:
    """Indexes all that is not indexed yet."""
    while found := database.read_now(behind):
        for one in found:
            database.write_now(one)
