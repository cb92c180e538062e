"""`turnkeep keys`: who may use a service that others can reach."""

import argparse
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..access.commands import made
from ..access.sql import ApiKeys
from ..model.api_keys import SCOPES, ApiKey, KeyScope, read
from .databases import add_tenant, opened
from .flags import add_database, settings_of
from .json_io import json_line
from .looks import Cell, Look, add_json
from .text import complain, printable

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_STATUS = """\
Exit status: 0 done; 1 there is no such key, or it was revoked before; 2 a wrong setting, or the
database cannot be reached or has an old schema.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "keys",
        description="Keys for the HTTP interface. As soon as there is one, every request needs one;"
        " before that the service can only be reached from its own machine.",
        epilog=_STATUS,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    create = actions.add_parser(
        "create", help="make a key and print it, once", epilog=_STATUS, description=_CREATE
    )
    create.add_argument("name", nargs="?", default="", help="what it is for, in your words")
    add_tenant(create)
    create.add_argument(
        "--scopes",
        type=_scopes,
        default=("read", "write"),
        metavar="LIST",
        help=f"of {', '.join(SCOPES)}, with commas (default read,write); admin erases"
        " conversations and includes the others",
    )
    create.add_argument(
        "--prefix", default="", help="only for conversations whose ids begin like this"
    )
    create.add_argument(
        "--expires-in", type=_duration, metavar="TIME", help="such as 30m, 12h or 90d"
    )
    create.add_argument("--requests", type=_number, metavar="N", help="at most N requests a minute")
    create.add_argument(
        "--body-bytes", type=_number, metavar="N", help="at most N bytes of bodies a minute"
    )
    create.add_argument(
        "--conversations", type=_number, metavar="N", help="make no conversation beyond N"
    )
    create.add_argument(
        "--if-none",
        action="store_true",
        help="only if there is no key at all yet; a key in FILE is moved to FILE.old then",
    )
    create.add_argument(
        "--output", metavar="FILE", help="write the key to a new file that only you can read"
    )
    add_database(create)
    create.set_defaults(run=_create)

    listing = actions.add_parser("list", help="show all keys, without their secrets")
    add_json(listing)
    add_database(listing)
    listing.set_defaults(run=_list)

    revoke = actions.add_parser(
        "revoke", help="end a key; running services know in a second", epilog=_STATUS
    )
    revoke.add_argument("id", nargs="+", help="the ids that `turnkeep keys list` shows")
    add_database(revoke)
    revoke.set_defaults(run=_revoke)


_CREATE = "Makes a key and prints it. Only its hash is stored: nobody can show it again."


def _create(args: argparse.Namespace) -> int:
    key, text = made(
        args.tenant,
        args.name,
        args.scopes,
        prefix=args.prefix,
        expires_in=args.expires_in,
        requests=args.requests,
        body_bytes=args.body_bytes,
        conversations=args.conversations,
    )
    with opened(settings_of(args)) as database:
        if args.if_none and database.ask_keys_now(lambda keys: keys.any()):
            print("There is a key already; none is made.")
            return 0
        is_first = not database.ask_keys_now(lambda keys: keys.any())
        if args.output:
            try:
                if args.if_none:
                    _move_aside(Path(args.output))
                _write(Path(args.output), text)
            except OSError as error:
                complain(f"{args.output}: {error.strerror}")
                return 2
        try:
            database.change_keys(lambda keys: keys.add(key))
        except BaseException:
            if args.output:
                Path(args.output).unlink()
            raise
    if is_first:
        complain("this is the first key: from now on every request to the service needs one")
    print(f"The key {key.id} is in {printable(args.output)}." if args.output else text)
    return 0


def _list(args: argparse.Namespace) -> int:
    with opened(settings_of(args)) as database:
        found = database.ask_keys_now(lambda keys: keys.every())
        damaged = database.ask_keys_now(lambda keys: keys.damaged())
    now = datetime.now(UTC)
    if args.json:
        for key in found:
            print(json_line(_told(key, now)))
        for one in damaged:
            print(json_line({"id": one, "state": "damaged"}))
        return 0
    rows = [_row(key, now) for key in found]
    rows += [(one, "-", "-", "damaged", "-", "-", "-") for one in damaged]
    for line in Look(args).table(_HEADINGS, [list(map(Cell, row)) for row in rows]):
        print(line)
    return 0


_HEADINGS = ("ID", "TENANT", "SCOPES", "STATE", "CREATED", "LIMITS", "NAME")


def _told(key: ApiKey, now: datetime) -> dict[str, object]:
    """A key for programs, without its secret."""
    times = {
        name: None if at is None else at.isoformat()
        for name in ("created_at", "expires_at", "revoked_at")
        for at in [getattr(key, name)]
    }
    limits = {name: getattr(key, name) for name in ("requests", "body_bytes", "conversations")}
    state = "valid" if key.holds(now) else "revoked" if key.revoked_at else "expired"
    about = {"id": key.id, "tenant": key.tenant_id, "name": key.name, "state": state}
    return {**about, "scopes": list(key.scopes), "prefix": key.prefix, **times, **limits}


def _row(key: ApiKey, now: datetime) -> tuple[str, ...]:
    state = "valid"
    if key.revoked_at is not None:
        state = f"revoked {key.revoked_at:%Y-%m-%d}"
    elif key.expires_at is not None:
        state = f"{'expires' if key.holds(now) else 'expired'} {key.expires_at:%Y-%m-%d}"
    limits = [
        f"{name}={value}"
        for name in ("prefix", "requests", "body_bytes", "conversations")
        if (value := getattr(key, name))
    ]
    return (
        key.id,
        key.tenant_id,
        ",".join(key.scopes),
        state,
        f"{key.created_at:%Y-%m-%d}",
        " ".join(limits) or "-",
        key.name,
    )


def _revoke(args: argparse.Namespace) -> int:
    now = datetime.now(UTC)

    def revoked(keys: ApiKeys) -> list[str]:
        return [one for one in args.id if keys.revoke(one, now)]

    with opened(settings_of(args)) as database:
        done = database.change_keys(revoked)
    for one in args.id:
        if one in done:
            print(f"The key {one} is revoked.")
        else:
            complain(f"there is no valid key {one}; `turnkeep keys list` shows all")
    return 0 if len(done) == len(args.id) else 1


def _move_aside(path: Path) -> None:
    """A key that is left of another database, where this one has none; or what a start left that
    was ended in the middle. Other files stay."""
    if path.is_file():
        left = path.read_bytes().decode("ascii", "replace").strip()
        if not left or read(left):
            aside = path.replace(path.with_name(f"{path.name}.old"))
            complain(f"{path} held no key of this database; it is now {aside}")


def _write(path: Path, text: str) -> None:
    """A new file: what is there already may be a key that somebody uses."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "w") as file:
        file.write(f"{text}\n")


def _scopes(given: str) -> Sequence[KeyScope]:
    named = [one.strip() for one in given.split(",")]
    found = tuple(scope for scope in SCOPES if scope in named)
    if len(found) != len(named):
        raise argparse.ArgumentTypeError(f"must be some of {', '.join(SCOPES)}, not {given!r}")
    return found


def _duration(given: str) -> timedelta:
    found = re.fullmatch(r"([1-9][0-9]{0,4})([mhd])", given)
    if not found:
        raise argparse.ArgumentTypeError(f"must be a time such as 30m, 12h or 90d, not {given!r}")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _number(given: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,14}", given):
        raise argparse.ArgumentTypeError(f"must be a number from 1 on, not {given!r}")
    return int(given)
