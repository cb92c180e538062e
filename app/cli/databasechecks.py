"""What `turnkeep doctor` sees of a database, and of the machine that it is on."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ..access.sql import ApiKeys
from ..conversations.queries import Asked, listed
from ..database.database import Database, all_tenants
from ..database.engines import (
    database_file,
    described,
    driver_of,
    engine_url,
    is_sqlite,
    kind_of,
    make_engine,
)
from ..database.migrations import current_and_head
from ..edge.guard import is_loopback
from ..model.errors import Unavailable
from ..settings import Settings
from .databases import check_file, command, database_of
from .doctor import APART, Check, newest

_MB = 1024 * 1024
# So little is soon used up, and so little is too little for SQLite to write.
_LITTLE, _TOO_LITTLE = 1024 * _MB, 100 * _MB


def checks(settings: Settings) -> Iterator[Check]:
    url = settings.database_url
    try:
        check_file(url)
        current, head = current_and_head(url)
    except Unavailable as error:
        yield Check("database", "bad", error.detail)
        return
    yield Check("database", "ok", f"{described(url)} can be reached")
    if current != head:
        old = Unavailable.behind("it", current, head, command("migrate", url))
        yield Check("schema", "bad", old.detail)
        return
    yield Check("schema", "ok", f"it is at {head}, which is the newest")
    engine = make_engine(url, "read")
    try:
        with engine.connect() as connection:
            # Both drivers have a method of this name.
            driver: Any = driver_of(connection)
            yield _durability(settings, driver)
            yield _disk(url, driver)
            if is_sqlite(url):
                yield _index(url, driver)
            else:
                yield _database_clock(driver)
                yield from _walls(driver, ApiKeys(connection).tenants())
    finally:
        engine.dispose()
    with database_of(settings) as database:
        yield newest(_newest(database))
        yield _keys(database, settings)


def _durability(settings: Settings, driver: Any) -> Check:
    url = settings.database_url
    if why := kind_of(engine_url(url)).unfit(driver, unsafe=False):
        todo = (
            "let this user write the file and its folder"
            if is_sqlite(url)
            else "set fsync and synchronous_commit to on, or use the primary"
        )
        allowed = settings.allow_unsafe and "read-only" not in why
        said = f"{why}; {'TURNKEEP_ALLOW_UNSAFE accepts it' if allowed else todo}"
        return Check("durability", "warning" if allowed else "bad", said)
    if caveat := kind_of(engine_url(url)).caveat(driver):
        return Check("durability", "warning", f"{caveat}; set synchronous_commit to on")
    if not is_sqlite(url):
        return Check("durability", "ok", "fsync and synchronous_commit are on")
    mode = driver.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal":
        said = f"journal_mode is {mode}; `{command('migrate', url)}` switches it to wal"
        return Check("durability", "warning", said)
    return Check("durability", "ok", "journal_mode is wal, synchronous is FULL")


def _index(url: str, driver: Any) -> Check:
    if fault := kind_of(engine_url(url)).index_fault(driver):
        return Check("index", "bad", fault)
    return Check("index", "ok", "the full-text index can be read")


def _disk(url: str, driver: Any) -> Check:
    if not is_sqlite(url):
        size = driver.execute("SELECT pg_database_size(current_database())").fetchone()[0]
        said = f"the database has {size // _MB} MB; what is free there only its machine knows"
        return Check("disk", "ok", said)
    folder = database_file(url).parent
    free = shutil.disk_usage(folder).free
    said = f"{free // _MB} MB are free in {folder}"
    if free < _LITTLE:
        todo = f"{said}; make room, or move the database"
        return Check("disk", "bad" if free < _TOO_LITTLE else "warning", todo)
    return Check("disk", "ok", said)


def _database_clock(driver: Any) -> Check:
    [theirs] = driver.execute("SELECT clock_timestamp()").fetchone()
    apart = abs((datetime.now(UTC) - theirs).total_seconds())
    if apart > APART:
        said = f"it is {apart:.0f} s apart from that of PostgreSQL; set the wrong one"
        return Check("clock", "warning", f"{said} (timedatectl status)")
    return Check("clock", "ok", "it goes with that of PostgreSQL")


def _walls(driver: Any, tenants: set[str]) -> Iterator[Check]:
    """Whether policies keep tenants apart, where there are several."""
    if len(tenants) < 2:
        return
    [active] = driver.execute("SELECT row_security_active('conversations')").fetchone()
    if active:
        yield Check("tenants", "ok", "row-level security keeps them apart")
        return
    said = f"there are {len(tenants)}, and row-level security does not bind the role that asks"
    todo = "serve as one that owns no table and is no superuser (turnkeep migrate --grant ROLE)"
    yield Check("tenants", "warning", f"{said}; {todo}")


def _newest(database: Database) -> str | None:
    """When anything was stored last."""
    found: list[str] = []
    for mine in map(database.of, database.ask_keys_now(all_tenants)):
        page: Any = mine.read_now(lambda store: listed(store, Asked(order="updated", limit=1)))
        found += [one["updated_at"] for one in page["data"]]
    return max(found, default=None)


def _keys(database: Database, settings: Settings) -> Check:
    if damaged := database.ask_keys_now(lambda stored: stored.damaged()):
        said = f"changed in the database, and let in nowhere: {', '.join(damaged)}"
        return Check("keys", "bad", f"{said}; revoke them (turnkeep keys revoke) and make others")
    keys = database.ask_keys_now(lambda stored: stored.every())
    holding = [key for key in keys if key.holds(datetime.now(UTC))]
    create = command("keys create", settings.database_url)
    if keys and not holding:
        said = f"none of them holds any more, so nobody is served; run: {create}"
        return Check("keys", "bad", said)
    if keys:
        return Check("keys", "ok", f"{len(holding)} of {len(keys)} hold")
    if is_loopback(settings.host):
        return Check("keys", "ok", "there are none: whoever is on this machine is served")
    said = f"there are none, and others could reach {settings.host}; run: {create}"
    return Check("keys", "bad", said)
