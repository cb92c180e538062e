"""From a plain database URL to connections that begin their transactions as we want them.

Both drivers are told to begin nothing by themselves; the `begin` event sends our own BEGIN, and
those who only read send it themselves (see `snapshots`). The modules `sqlite` and `postgres` hold
what differs, part by part.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import unquote

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError

from . import sqlite
from .verdicts import POOLED, Ending, Purpose, Verdict

# What a connection is told before its transaction begins, and what it tells then.
TENANT = "turnkeep tenant"
TRANSACTION = "turnkeep transaction"

_SEVERAL_HOSTS = re.compile(r"([^:/]+://(?:[^@/]*@)?)([^@/?]*,[^@/?]*)((?:[/?].*)?)")
_ADDRESS = re.compile(r"(\[[^\]]+\]|[^:\[\]]*)(?::(\d*))?")


class DatabaseUrlError(ValueError):
    """The URL names no database that we can keep conversations in. It is never shown whole."""


class Kind(Protocol):
    """What the modules `sqlite` and `postgres` both have."""

    DRIVER: str
    # How many commands one transaction may hold.
    GROUP: int
    # What is raised where the database refuses.
    Error: tuple[type[Exception], ...]

    def connect(
        self, purpose: Purpose, ending: Ending, args: tuple[Any, ...], options: dict[str, Any], /
    ) -> DBAPIConnection | None: ...

    def watch(self, url: URL, /) -> Callable[[], None]: ...

    def unfit(self, driver: DBAPIConnection, *, unsafe: bool) -> str | None: ...

    def caveat(self, driver: DBAPIConnection) -> str | None: ...

    def connect_args(self, given: Mapping[str, object], /, *, prepared: bool) -> dict[str, Any]: ...

    def on_connect(self, driver: DBAPIConnection, purpose: Purpose) -> None: ...

    def begin(self, driver: DBAPIConnection, purpose: Purpose, tenant_id: str) -> str | None: ...

    def end(self, driver: DBAPIConnection) -> None: ...

    def act_for(self, driver: DBAPIConnection, tenant_id: str) -> None: ...

    def together(self, driver: DBAPIConnection) -> AbstractContextManager[object]: ...

    def is_undone(self, driver: DBAPIConnection) -> bool: ...

    def scrubbing(self, driver: DBAPIConnection, /) -> Iterator[None]: ...

    def index_fault(self, driver: DBAPIConnection, /) -> str | None: ...

    def mend_index(self, driver: DBAPIConnection, /) -> bool: ...

    def rebuild_index(self, driver: DBAPIConnection, /) -> None: ...

    def migrated(self, driver: DBAPIConnection) -> None: ...

    def verdict(self, error: BaseException) -> Verdict: ...

    def committed(self, driver: DBAPIConnection, transaction: str) -> bool | None: ...

    def confirm(self, driver: DBAPIConnection) -> None: ...


# By scheme: the module of each. It is imported when it is needed: psycopg takes its time.
_MODULES = {"sqlite": "sqlite", "postgresql": "postgres", "postgres": "postgres"}


def engine_url(url: str) -> URL:
    """The URL with our driver: people write `sqlite:///file` or `postgresql://user@host/db`."""
    try:
        parsed = _parsed(url)
        scheme = parsed.drivername.partition("+")[0]
        if scheme in _MODULES:
            parsed = parsed.set(drivername=_kind(scheme).DRIVER)
            _connect_args(parsed)
    except (ArgumentError, ValueError):
        raise DatabaseUrlError(
            "the database URL cannot be read; it should look like sqlite:///file"
            " or postgresql://user@host/database, with several hosts"
            " postgresql://user@host:port,host:port/database?target_session_attrs=read-write"
        ) from None
    if scheme not in _MODULES:
        raise DatabaseUrlError(
            f"no database {scheme!r} is known; use sqlite:///file"
            " or postgresql://user@host/database"
        )
    if scheme == "sqlite" and _in_memory(parsed):
        raise DatabaseUrlError(
            "an SQLite database in memory would keep nothing; name a file: sqlite:///turnkeep.db"
        )
    return parsed


def is_sqlite(url: str) -> bool:
    return kind_of(engine_url(url)) is sqlite


def database_file(url: str) -> Path:
    """The file of an SQLite database."""
    return Path(engine_url(url).database or "").absolute()


def without_password(url: str) -> str:
    """The URL for a command line that others may read."""
    parsed = engine_url(url)
    plain = parsed.difference_update_query(["password", "sslpassword"])
    scheme = parsed.get_backend_name()
    return plain._replace(password=None, drivername=scheme).render_as_string()


def described(url: str) -> str:
    """The database in words for people: never with its password."""
    parsed = engine_url(url)
    if is_sqlite(url):
        return str(database_file(url))
    options = _connect_args(parsed)
    hosts, ports = (str(options.get(name, "")).split(",") for name in ("host", "port"))
    names = [f"[{host}]" if ":" in host else host or "this machine" for host in hosts]
    pairs = zip_longest(names, ports, fillvalue="")
    addresses = [f"{host}:{port}" if port else host for host, port in pairs]
    return f"PostgreSQL {parsed.database} on {', '.join(addresses)}"


def _parsed(url: str) -> URL:
    """Reads the URL. Several hosts (`postgresql://user@a:1,b:2/database`) become the options `host`
    and `port`, because SQLAlchemy reads them only there."""
    match = _SEVERAL_HOSTS.fullmatch(url)
    if not match:
        return make_url(url)
    before, hosts, after = match.groups()
    addresses = [_ADDRESS.fullmatch(unquote(host)) for host in hosts.split(",")]
    pairs = [address.groups(default="") for address in addresses if address]
    if len(pairs) < len(addresses):
        raise ValueError("an address cannot be read")
    names, ports = (",".join(part) for part in zip(*pairs, strict=True))
    options = {"host": names.replace("[", "").replace("]", ""), "port": ports}
    return make_url(before + after).update_query_dict(options)


def _connect_args(url: URL) -> dict[str, Any]:
    """Returns the driver's arguments. Raises `ArgumentError` unless each host has its port."""
    return dict(url.get_dialect()().create_connect_args(url)[1])


def kind_of(url: URL) -> Kind:
    return _kind(url.get_backend_name())


def _kind(scheme: str) -> Kind:
    return cast(Kind, import_module(f".{_MODULES[scheme]}", __package__))


def make_engine(
    url: str, purpose: Purpose, *, prepared: bool = False, ending: Ending | None = None
) -> Engine:
    """An engine whose transactions all begin for one purpose. `prepared`: the server may keep the
    statements that are sent often, which most poolers cannot pass on."""
    parsed = engine_url(url)
    kind = kind_of(parsed)
    engine = create_engine(
        parsed,
        connect_args=kind.connect_args(parsed.query, prepared=prepared),
        # Errors are logged, and parameters are message content.
        hide_parameters=True,
        # Whoever needs connections again keeps them.
        poolclass=NullPool,
        **({} if kind is sqlite else {"use_native_hstore": False}),
    )
    _listen(engine, kind, purpose, ending or Ending())
    return engine


def driver_of(connection: Connection) -> DBAPIConnection:
    driver: DBAPIConnection | None = connection.connection.driver_connection
    assert driver is not None
    return driver


def rebuild_index(engine: Engine) -> None:
    """Builds the full-text index from nothing, on a connection of its own."""
    with engine.connect() as connection:
        kind_of(engine.url).rebuild_index(driver_of(connection))


@contextmanager
def connected(engine: Engine, tenant_id: str = "") -> Iterator[Connection]:
    """A connection of its own, closed afterwards. That ends its transaction if it was not
    committed; a connection that is broken is asked for nothing more."""
    connection = engine.connect()
    try:
        connection.info[TENANT] = tenant_id
        yield connection
    finally:
        discard(connection)


def discard(connection: Connection) -> None:
    """Closes a connection that may be broken, or in the middle of a transaction."""
    connection.invalidate()
    connection.close()


def reason(error: BaseException) -> str:
    """Why, in a line: the other lines of a driver may show values of the rows."""
    line = (str(original(error)).strip().splitlines() or [type(error).__name__])[0]
    if getattr(original(error), "sqlstate", None) in POOLED:
        return f"{line}; behind a pooler set TURNKEEP_PG_PREPARED_STATEMENTS=false"
    return line


def original(error: BaseException) -> BaseException:
    """The driver's own error."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        return error.orig
    return error


def _listen(engine: Engine, kind: Kind, purpose: Purpose, ending: Ending) -> None:
    # Whoever migrates makes the file.
    check = kind.watch(engine.url) if purpose != "migrate" else lambda: None

    def do_connect(_: object, __: object, args: Any, options: Any) -> DBAPIConnection | None:
        check()
        return kind.connect(purpose, ending, tuple(args), options)

    def connect(driver: DBAPIConnection, _: object) -> None:
        kind.on_connect(driver, purpose)

    def begin(connection: Connection) -> None:
        try:
            check()
            tenant_id = connection.info.get(TENANT, "")
            connection.info[TRANSACTION] = kind.begin(driver_of(connection), purpose, tenant_id)
        except kind.Error:
            # SQLAlchemy does not watch this statement, so it must hear of a broken connection.
            connection.invalidate()
            raise

    event.listen(engine, "do_connect", do_connect)
    event.listen(engine, "connect", connect)
    if purpose != "read":
        event.listen(engine, "begin", begin)


def _in_memory(url: URL) -> bool:
    name = url.database or ""
    return name in ("", ":memory:") or "mode=memory" in str(url) or name.startswith("file::memory:")
