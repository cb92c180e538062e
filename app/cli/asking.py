"""Whom a command asks: a database (the default), or a running service. Both tell the same JSON."""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from ..model.forms import CONVERSATION_ID
from ..settings import SettingsError, client_from_environment
from ..start import loaded
from .flags import add_database

# What was asked for, as the HTTP interface tells it.
Told: TypeAlias = dict[str, Any]
# The largest page that a service gives.
PAGE = 1000
# Turns may be long: this many are held at once.
TURNS = 100
# Seconds between two looks at what may have grown.
PAUSE = 0.5
# Problems that mean that there is no such thing here.
_ABSENT = ("conversation_not_found", "turn_not_found")
# Where the words of a problem speak of the HTTP interface, and what is said here instead.
_NEXT = {
    "conversation_not_found": (" POST /", " `turnkeep list` shows what there is."),
    "turn_not_found": (" GET /", " `turnkeep show` lists its turns."),
    "conversation_damaged": (" GET /", " `turnkeep verify` says where."),
    "unauthorized": (
        " `turnkeep",
        " Put it into TURNKEEP_API_KEY; `turnkeep keys create` makes one.",
    ),
}


class Refused(Exception):
    """What was asked for cannot be told; the text is a line that says why, and what to do."""

    def __init__(self, code: str, detail: str) -> None:
        said, after = _NEXT.get(code, ("\n", ""))
        super().__init__(detail.partition(said)[0] + after)
        self.code = code

    @property
    def status(self) -> int:
        return 1 if self.code in _ABSENT else 2


class Asking(Protocol):
    """The questions. Names of parameters are those of the HTTP interface."""

    def conversations(self, **wish: Any) -> Told: ...

    def conversation(self, cid: str) -> Told: ...

    def turns(self, cid: str, **page: Any) -> Told: ...

    def turn(self, cid: str, turn_id: str) -> Told: ...

    def tool_calls(self, cid: str, **page: Any) -> Told: ...

    def lookup(self, **wish: Any) -> Told: ...

    def replay(self, cid: str, **options: Any) -> Told: ...

    def verify(self, cid: str) -> Told: ...

    def versions(self, cid: str, after: int) -> Iterator[int]:
        """The version of a conversation whenever it has grown, until somebody stops asking."""


def add_asking(
    parser: argparse.ArgumentParser, whose: str = "those of a service without keys"
) -> None:
    """`whose` conversations are meant where no tenant is named."""
    group = parser.add_argument_group("where", "A database (the default), or a running service.")
    add_database(group)
    group.add_argument("--tenant", help=f"whose, in a database (default: {whose})")
    group.add_argument(
        "--url", help="a service, like http://127.0.0.1:8420 (default: TURNKEEP_URL, if it is set)"
    )
    group.add_argument(
        "--key",
        help="an API key of the service; rather put it into TURNKEEP_API_KEY, because others on"
        " this machine can see what a command was given",
    )


def asks_service(args: argparse.Namespace) -> str | None:
    """The address of the service that is to be asked, if it is one."""
    url: str | None = args.url
    straight = "--database-url" if args.database_url else "--tenant" if args.tenant else None
    if straight and (url or args.key):
        raise SettingsError(
            f"{straight} is for a database, {'--url' if url else '--key'} for a service; only one"
            " of them must be given"
        )
    if straight:
        return None
    url = url or client_from_environment().url
    if args.key and not url:
        raise SettingsError("--key is for a service; name it with --url")
    return url


def asking(args: argparse.Namespace) -> AbstractContextManager[Asking]:
    """Opens what is asked. Only the way that is taken is loaded."""
    way: AbstractContextManager[Asking]
    if url := asks_service(args):
        key = args.key or client_from_environment().key
        way = loaded(".cli.over_http").Service(url, key)
    else:
        way = loaded(".cli.on_database").Stored.of(args)
    return way


def all_of(
    ask: Callable[..., Told],
    most: int | None = None,
    *,
    size: int | None = None,
    damaged: dict[str, None] | None = None,
    **wish: Any,
) -> Iterator[Told]:
    """What all pages hold, one by one; at most so many. `size`: of a page; `damaged` is told which
    conversations cannot be read."""
    size = size or PAGE
    cursor: str | None = None
    while most is None or most > 0:
        page = ask(**wish, limit=min(size, most or size), cursor=cursor)
        if damaged is not None:
            damaged |= dict.fromkeys(page.get("damaged", ()))
        yield from page["data"]
        cursor = page["next_cursor"]
        if cursor is None:
            return
        most = most - len(page["data"]) if most else None


def all_turns(ask: Asking, cid: str, after: int = 0, *, raw: bool = False) -> Iterator[Told]:
    """The turns behind this one, in order."""
    while True:
        page = ask.turns(cid, after=after, limit=TURNS, raw=raw)
        yield from page["data"]
        if not page["has_more"]:
            return
        after = page["data"][-1]["seq"]


def looked_at(version: Callable[[], int], known: int) -> Iterator[int]:
    """The version whenever it has grown, looked at again and again."""
    while True:
        if (now := version()) > known:
            known = now
            yield now
        time.sleep(PAUSE)


def conversation_id(given: str) -> str:
    """The type of an argument that names a conversation."""
    if not CONVERSATION_ID.fits(given):
        raise argparse.ArgumentTypeError(CONVERSATION_ID.complaint(given))
    return given


def number(lowest: int, highest: int = 2**62) -> Callable[[str], int]:
    """The type of a flag that is a number."""

    def read(given: str) -> int:
        is_number = given.isascii() and given.isdigit() and len(given) < 20
        if not is_number or not lowest <= int(given) <= highest:
            bounds = f"from {lowest} on" if highest == 2**62 else f"from {lowest} to {highest}"
            raise argparse.ArgumentTypeError(f"must be a number {bounds}, not {given!r}")
        return int(given)

    return read


def one_turn(ask: Asking, cid: str, named: str) -> Told:
    """By its id, or by its number in the conversation."""
    try:
        return ask.turn(cid, named)
    except Refused as refused:
        if refused.code != "turn_not_found" or not (named.isascii() and named.isdigit()):
            raise
        page = ask.turns(cid, after=max(0, min(int(named), 2**62) - 1), limit=1)
        if not page["data"] or page["data"][0]["seq"] != int(named):
            raise
        return ask.turn(cid, page["data"][0]["turn_id"])
