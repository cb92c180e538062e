"""Who asks, and whether he may: the API key of a request, its scopes and its limits."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from fastapi import Request

from ..database.database import Database
from ..model import api_keys as access
from ..model.api_keys import ApiKey, KeyScope
from ..model.errors import Forbidden, TooMany, Unauthorized, Unavailable

# What the pages keep the key under that somebody has logged in with.
COOKIE = "turnkeep_key"
T = TypeVar("T")
# Seconds for which a key that was read is taken at its word: so soon it is known to be revoked.
_FRESH = 0.5
# Seconds after which nobody goes on without having looked again whether there is a key.
_STALE = 2 * _FRESH
# Keys that are asked for at once: they wait for one thread, and so does the health.
_MOST_ASKED = 16
# Keys that are remembered.
_MOST = 10_000
_MINUTE = 60.0


@dataclass(slots=True)
class Allowance:
    """So much a minute, and as much at once. What was used beyond it must be waited for."""

    most: float
    left: float
    at: float = field(default_factory=time.monotonic)

    def wait(self) -> float:
        """Seconds until there is something left."""
        now = time.monotonic()
        self.left = min(self.most, self.left + (now - self.at) * self.most / _MINUTE)
        self.at = now
        # With many workers the share of each may be less than one.
        needed = min(1.0, self.most)
        return 0.0 if self.left >= needed else (needed - self.left) * _MINUTE / self.most

    def use(self, amount: float) -> None:
        self.left -= amount


class Access:
    """The keys of a service. Without any it is open, if it may be: to those on its machine.

    `workers` share the limits of a key.
    """

    def __init__(self, database: Database, *, may_be_open: bool, workers: int = 1) -> None:
        self._database = database
        self._workers = workers
        self._is_open = may_be_open
        # When somebody looked last, and when somebody did who found out.
        self._looked = self._seen = float("-inf")
        # What is asked now, by the id of the key; without one, whether there is any.
        self._asking: dict[str, asyncio.Task[Any]] = {}
        # When each was read, and when somebody asked for it again.
        self._known: OrderedDict[str, tuple[float, float, ApiKey]] = OrderedDict()
        self._allowances: OrderedDict[tuple[str, str], Allowance] = OrderedDict()

    async def key_of(self, request: Request) -> ApiKey | None:
        """The key of a request, if the service is used with keys."""
        if self._is_open and await self._still_open():
            return None
        return await self.key_named(_text(request))

    async def key_named(self, text: str) -> ApiKey:
        """The key with this text."""
        named = access.read(text)
        key = await self._find(named[0]) if named else None
        if named is None or key is None or not key.has(named[1]) or not key.holds(_now()):
            raise Unauthorized.with_another()
        return key

    async def _still_open(self) -> bool:
        """Whether there is no key yet. Once there is one, the service is never open again."""
        now = time.monotonic()
        if now - self._seen > _STALE:
            await self._once("", self._look)
        elif now - self._looked > _FRESH:
            # One request alone waits for this look, and goes on where it fails.
            with suppress(Unavailable):
                await self._once("", self._look)
        return self._is_open

    async def _look(self) -> None:
        now = self._looked = time.monotonic()
        self._is_open = not await self._database.ask_keys(lambda keys: keys.any())
        self._seen = now

    async def _find(self, key_id: str) -> ApiKey | None:
        now = time.monotonic()
        if key_id in self._known:
            read_at, asked_at, known = self._known[key_id]
            # While one request looks, the others go on for a moment, but not for long.
            if now - read_at <= _FRESH or max(now - asked_at, now - read_at - _FRESH) <= _FRESH:
                return known
            self._known[key_id] = read_at, now, known
        elif key_id not in self._asking and len(self._asking) >= _MOST_ASKED:
            # Whoever makes up keys must not keep others from being asked for, nor the health.
            raise Unavailable("Too many API keys are asked for that are not known yet.")
        return await self._once(key_id, partial(self._ask, key_id))

    async def _ask(self, key_id: str) -> ApiKey | None:
        now = time.monotonic()
        key = await self._database.ask_keys(lambda keys: keys.find(key_id))
        if key is None:
            self._known.pop(key_id, None)
            return None
        self._known[key_id] = now, now, key
        self._known.move_to_end(key_id)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)
        return key

    async def _once(self, name: str, question: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """All who ask the same at once wait for the same response."""
        if name not in self._asking:
            self._asking[name] = asyncio.create_task(question())
            self._asking[name].add_done_callback(lambda _: self._asking.pop(name))
        found: T = await asyncio.shield(self._asking[name])
        return found

    def check(self, key: ApiKey, scope: KeyScope, cid: str | None, request: Request) -> Request:
        """Raises unless the key may do this now. Gives the request, with its bytes counted."""
        if not key.allows(scope):
            raise Forbidden.without(scope)
        if cid is not None and not cid.startswith(key.prefix):
            raise Forbidden.outside(key.prefix)
        if key.requests is not None:
            self._allowance(key, "requests", key.requests).use(1)
        if key.body_bytes is None:
            return request
        allowance = self._allowance(key, "body_bytes", key.body_bytes)
        return Request(request.scope, Counted(request.receive, allowance).receive)

    def _allowance(self, key: ApiKey, what: str, most: int) -> Allowance:
        share = most / self._workers
        found = self._allowances.get((key.id, what))
        if found is None or found.most != share:
            found = self._allowances[key.id, what] = Allowance(share, share)
        self._allowances.move_to_end((key.id, what))
        if len(self._allowances) > _MOST:
            self._allowances.popitem(last=False)
        if (seconds := found.wait()) > 0:
            raise TooMany(what, most, seconds)
        return found


@dataclass(frozen=True, slots=True)
class Counted:
    """What arrives of a request, counted."""

    inner: Callable[[], Awaitable[Any]]
    allowance: Allowance

    async def receive(self) -> Any:
        message = await self.inner()
        self.allowance.use(len(message.get("body", b"")))
        return message

    @property
    def body(self) -> bytes:
        """What arrived and was not read (see `requests.unread`)."""
        return bytes(getattr(getattr(self.inner, "__self__", None), "body", b""))


def _text(request: Request) -> str:
    """The key that a request shows: in its header, or in the cookie of the pages, which only read.

    A browser sends a cookie whoever wrote the page, so nothing may change by its word alone.
    """
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and text.strip():
        return text.strip()
    # Other kinds are for a proxy in front of the service.
    if (
        request.method == "GET"
        and kind.lower() != "bearer"
        and (shown := request.cookies.get(COOKIE))
    ):
        return shown
    raise Unauthorized.without_key()


def _now() -> datetime:
    return datetime.now(UTC)
