"""What is refused by its headers alone, before any route sees it.

A page in a browser must not reach a service on the same machine: a name that somebody else points
at this address (rebinding) shows in `Host`, a page of another site in `Origin`.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import ip_address

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..model import telling
from ..model.errors import RuleBroken, Unsupported
from .problems import NOSNIFF, not_http, problem, problem_of

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_NAME = re.compile(r"(\[[0-9a-f:.]*\]|[^:]*)(?::[0-9]*)?")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# Headers that say something here; of two that differ one would be overlooked.
_ONCE = frozenset(
    {
        b"authorization",
        b"content-encoding",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"if-match",
        b"origin",
        b"transfer-encoding",
    }
)


def allowed_hosts(bound_to: str, named: Iterable[str]) -> frozenset[str] | None:
    """The names that a request may be sent to; None where all are fine."""
    names = {name.lower() for name in named}
    if "*" in names or not (names or is_loopback(bound_to)):
        return None
    return _LOOPBACK | names | {f"[{bound_to}]" if ":" in bound_to else bound_to.lower()}


def is_loopback(host: str) -> bool:
    """Whether nobody but those on this machine can reach what listens there."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guarded:
    """ASGI middleware. `hosts`: see `allowed_hosts`; `origins`: sites whose pages may write."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, origins: frozenset[str]) -> None:
        self.app = app
        self.hosts = hosts
        self.origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def unsniffed(message: Message) -> None:
            if message["type"] == "http.response.start":
                for name, value in NOSNIFF.items():
                    MutableHeaders(raw=message["headers"]).setdefault(name, value)
            await send(message)

        await (self._refusal(scope) or self.app)(scope, receive, unsniffed)

    def _refusal(self, scope: Scope) -> Response | None:
        found: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in _ONCE:
                if name in found:
                    title = name.decode().title()
                    return problem_of(RuleBroken(f"`{title}` must be given once."))
                found[name] = value
        if b"host" not in found and scope["http_version"] == "1.1":
            # RFC 9112, section 3.2. Requests of HTTP/1.0 need none.
            return not_http("An HTTP/1.1 request must have a `Host` header.")
        host = found.get(b"host", b"")
        if host and self.hosts is not None and _name(host) not in self.hosts:
            return _foreign_host(host.decode("latin-1"))
        if (origin := found.get(b"origin")) is not None and scope["method"] not in _SAFE:
            site = origin.lower()
            allowed = {site.decode("latin-1"), "*"} & self.origins
            if site.partition(b"://")[2] != host.lower() and not allowed:
                return _foreign_origin(site.decode("latin-1"))
        return _unknown_coding(found)


@lru_cache(64)
def _name(host: bytes) -> str:
    """Without the port."""
    found = _NAME.fullmatch(host.decode("latin-1").lower())
    return found[1] if found else ""


def _unknown_coding(headers: Mapping[bytes, bytes]) -> Response | None:
    for name, known in ((b"content-encoding", b"identity"), (b"transfer-encoding", b"chunked")):
        if name in headers and (given := headers[name].strip().lower()) != known:
            told = f"`{name.decode().title()}` must be {known.decode()} or left out"
            return problem_of(
                Unsupported(f"{told}, not {telling.quoted(given.decode('latin-1'))}.")
            )
    return None


def _foreign_host(host: str) -> Response:
    detail = (
        f"`Host` must be a name of this service, not {telling.quoted(host)}."
        " The operator names others in TURNKEEP_ALLOWED_HOSTS."
    )
    return problem(421, "foreign_host", "The request is for another host", detail)


def _foreign_origin(site: str) -> Response:
    detail = (
        f"A page of {telling.quoted(site)} must not write here."
        " The operator allows sites in TURNKEEP_CORS_ORIGINS."
    )
    return problem(403, "foreign_origin", "The request comes from another site", detail)
