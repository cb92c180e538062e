"""`turnkeep sweep`: remove what has expired, now."""

import argparse
from collections import Counter
from datetime import UTC, datetime, timedelta

from ..database.database import all_tenants
from ..model.errors import Unavailable
from ..model.json_values import JsonObject
from .databases import opened
from .flags import add_database, settings_of
from .json_io import json_line
from .looks import add_json
from .text import Progress, complain


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "sweep",
        description="Removes conversations that have expired, and idempotency keys that are older"
        " than TURNKEEP_KEEP_KEYS, and prints what was removed. The service does the same by"
        " itself; safe to run again, and while it runs.",
        epilog="Exit status: 0 done; 1 something could not be removed now; 2 a wrong setting, no"
        " such file, an old schema.",
    )
    add_json(parser)
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    progress = Progress(0)
    removed: Counter[str] = Counter()
    left, why = 0, ""
    keys_before = datetime.now(UTC) - timedelta(seconds=settings.keep_keys)
    with opened(settings) as database:
        for mine in map(database.of, database.ask_keys_now(all_tenants)):
            try:
                while step := mine.sweep_now(keys_before=keys_before):
                    removed += step
                    progress.show(removed.total(), f"{removed.total()} rows")
            except Unavailable as error:
                why = error.reason
                left += mine.read_now(lambda store: store.conversations.expired())
    progress.clear()
    if args.json:
        counts: JsonObject = {"removed": dict(sorted(removed.items())), "rows": removed.total()}
        print(json_line({**counts, "left": left} if why else counts))
    else:
        _tell(removed)
    if why:
        complain(
            f"Not everything could be removed: {why}. {left} conversations are left. Run this"
            " again; a running service also goes on by itself."
        )
    return 1 if why else 0


def _tell(removed: Counter[str]) -> None:
    print(f"{removed['conversations']} conversations were removed, {removed.total()} rows in all.")
    for part, count in sorted(removed.items()):
        print(f"  {part}: {count}")
