"""`turnkeep doctor`: whether all is well where the service runs, and what to do where it is not."""

import argparse
import errno
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from ..settings import Settings, client_from_environment
from ..start import loaded
from .asking import Refused, Told, add_asking, asks_service
from .flags import settings_of
from .json_io import json_line
from .looks import Cell, Look, add_looks, state_cell
from .over_http import Service

State: TypeAlias = Literal["ok", "warning", "bad"]
# Seconds that two clocks may differ.
APART = 5.0


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and what was seen; where it is not well, also what to do."""

    name: str
    state: State
    said: str


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "doctor",
        description="Looks at the database, its schema, its full-text index and how durable it is,"
        " at the disk, the port, the clock and the keys; or, with --url, at a running service. It"
        " changes nothing.",
        epilog="Exit status: 0 nothing is bad; 1 something is; 2 a wrong flag or setting.",
    )
    parser.add_argument("--host", help="the address of `serve` (default 127.0.0.1)")
    parser.add_argument("--port", help="the port of `serve` (default 8420)")
    add_looks(parser)
    add_asking(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if url := asks_service(args):
        key = args.key or client_from_environment().key
        found = list(_of_service(Service(url, key)))
    else:
        settings = settings_of(args)
        found = [*loaded(".cli.databasechecks").checks(settings), _port(settings)]
    bad = any(check.state == "bad" for check in found)
    if args.json:
        checks = [{"name": one.name, "state": one.state, "said": one.said} for one in found]
        print(json_line({"ok": not bad, "checks": checks}))
        return 1 if bad else 0
    rows = [[state_cell(one.state), Cell(one.name, "bold"), Cell(one.said)] for one in found]
    for line in Look(args).table(("STATE", "WHAT", "SEEN"), rows):
        print(line)
    return 1 if bad else 0


def _of_service(service: Service) -> Iterator[Check]:
    questions: dict[str, Callable[[], Told]] = {
        "service": lambda: service.get("/healthz", "status"),
        "database": lambda: service.get("/readyz", "schema"),
        "key": lambda: service.conversations(limit=1, order="updated"),
    }
    for name, question in questions.items():
        try:
            told = question()
        except Refused as refused:
            yield Check(name, "bad", str(refused))
            if name == "service":
                return
        else:
            note = told.get("note")
            yield Check(name, "warning", note) if note else Check(name, "ok", _WELL[name])
            if name == "key":
                yield newest(max((one["updated_at"] for one in told["data"]), default=None))


_WELL = {
    "service": "it is alive",
    "database": "it can be used, its schema is the newest, and it keeps what it has acknowledged",
    "key": "conversations may be read",
}


def newest(updated_at: str | None) -> Check:
    """Whether what was stored last was stored in the past."""
    if updated_at is None:
        return Check("clock", "ok", "nothing is stored yet that it could be compared with")
    ahead = datetime.fromisoformat(updated_at) - datetime.now(UTC)
    if ahead > timedelta(seconds=APART):
        return Check(
            "clock",
            "warning",
            f"the newest turn was stored {ahead} from now: set this machine's clock, or that of the"
            " machine that stored it (timedatectl status)",
        )
    return Check("clock", "ok", f"the newest turn was stored at {updated_at[:19]} UTC")


def _port(settings: Settings) -> Check:
    """Whether `serve` could listen there, or who does."""
    host, port = settings.host, settings.port
    where = f"port {port} on {host}"
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            why = f"{where} cannot be listened on: {error.strerror}; choose another with --port"
            return Check("port", "bad", why)
        return _listener(host, port, where)
    free = f"{where} is free: no service runs there; --port or TURNKEEP_PORT names another one"
    return Check("port", "ok", free)


def _listener(host: str, port: int, where: str) -> Check:
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    named = f"[{here}]" if ":" in here else here
    try:
        Service(f"http://{named}:{port}").get("/readyz", "schema")
    except Refused as refused:
        if refused.code == "unavailable":
            return Check("port", "bad", f"the service on {where} is not ready: {refused}")
        return Check(
            "port", "bad", f"another program listens on {where}; choose another one with --port"
        )
    return Check("port", "ok", f"a service runs on {where}; `turnkeep doctor --url` asks it")
