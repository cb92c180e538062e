"""Errors as RFC 9457 problems. The only place that knows which error is which status."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ..jsontext.writing import dumps_utf8
from ..model import errors, telling
from ..model.errors import TurnkeepError
from ..model.json_values import JsonObject
from .complaints import rule_broken
from .operations import methods_of, no_such_path, other_slash, parameters_of, stray_parameter

MEDIA_TYPE = "application/problem+json"
STATUS: dict[type[TurnkeepError], int] = {
    errors.NotJson: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.StaleVersion: 412,
    errors.TooLarge: 413,
    errors.Unsupported: 415,
    errors.RuleBroken: 422,
    errors.TooMany: 429,
    errors.Unavailable: 503,
}
# Keeps browsers from guessing that a response is a page.
NOSNIFF = {"X-Content-Type-Options": "nosniff"}
_log = logging.getLogger("turnkeep")


def status_of(error: type[TurnkeepError]) -> int:
    """The status of the nearest ancestor that has one."""
    return next(STATUS[kind] for kind in error.__mro__ if kind in STATUS)


def problem(
    status: int,
    code: str,
    title: str,
    detail: str,
    facts: Mapping[str, errors.Fact] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    body: JsonObject = {
        "type": f"urn:turnkeep:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    for name, fact in (facts or {}).items():
        body[name] = list(fact) if isinstance(fact, list) else fact
    return Response(dumps_utf8(body), status, {**NOSNIFF, **(headers or {})}, MEDIA_TYPE)


def not_http(detail: str) -> Response:
    return problem(400, "bad_request", "The request is not HTTP", detail)


def problem_of(error: TurnkeepError) -> Response:
    facts = dict(error.facts)
    headers: dict[str, str] = {}
    if (seconds := facts.pop("retry_after", None)) is not None:
        headers["Retry-After"] = str(seconds)
    if isinstance(error, errors.Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, errors.StaleVersion):
        headers["ETag"] = f'"{error.tag}"'
    return problem(status_of(type(error)), error.code, error.title, error.detail, facts, headers)


class Refusals:
    """What no route has seen is refused in great numbers at times: of each reason the log has a
    line a second at most, with how many there were since the last one."""

    def __init__(self) -> None:
        self._told: dict[str, float] = {}
        self._untold: Counter[str] = Counter()

    def response(self, error: errors.Unavailable) -> Response:
        now, reason = time.monotonic(), error.reason
        self._untold[reason] += 1
        if now - self._told.get(reason, -1.0) >= 1.0:
            self._told[reason] = now
            self._tell(reason)
        return problem_of(error)

    def tell_rest(self) -> None:
        for reason in list(self._untold):
            self._tell(reason)

    def _tell(self, reason: str) -> None:
        if times := self._untold.pop(reason, 0):
            _log.warning("503 before any route, %d times: %s", times, reason)


REFUSALS = Refusals()


async def _turnkeep(request: Request, error: TurnkeepError) -> Response:
    if isinstance(error, errors.Unavailable):
        # By the template of the route: ids do not belong into the log.
        route = getattr(request.scope.get("route"), "path", "unknown")
        _log.warning("503 on %s %s: %s", request.method, route, error.reason)
    return problem_of(error)


async def _validation(request: Request, error: RequestValidationError) -> Response:
    found = error.errors()
    for one in found:
        # Before what is missing: it is often what was meant.
        if one["type"] == "extra_forbidden":
            return problem_of(stray_parameter(request, str(one["loc"][-1])))
    return problem_of(rule_broken(found[0], parameters_of(request), query=True))


async def _http(request: Request, error: HTTPException) -> Response:
    match error.status_code:
        case 404 if (meant := other_slash(request)) is not None:
            return Response(status_code=307, headers={"Location": meant})
        case 404:
            return problem(404, "no_such_path", "There is nothing here", no_such_path(request))
        case 405:
            route = dict(error.headers or {}).get("Allow", "").split(", ")
            allowed = ", ".join(methods_of(request, route))
            # What was asked with HEAD is asked of the routes with GET.
            method = telling.named("HEAD" if "head" in request.scope else request.method)
            detail = f"{method} is not a method of this path. It has: {allowed}."
            title = "The method is not allowed here"
            return problem(405, "method_not_allowed", title, detail, headers={"Allow": allowed})
        case status:
            said = str(error.detail)
            return problem(status, "http_error", said, said, headers=error.headers)


async def _gone(request: Request, error: Exception) -> Response:
    """The client hung up before its body was whole: nobody reads this, but it is no defect."""
    return Response(status_code=499)


async def _unexpected(request: Request, error: Exception) -> Response:
    _log.error("unexpected error in %s %s", request.method, request.url.path, exc_info=error)
    detail = "The service failed in a way it was not built for. Nothing of this request is stored."
    return problem(500, "internal", "The service has a defect", detail)


# Every way in which a request can fail ends in a problem.
HANDLERS: dict[int | type[Exception], Callable[..., Coroutine[Any, Any, Response]]] = {
    TurnkeepError: _turnkeep,
    RequestValidationError: _validation,
    HTTPException: _http,
    ClientDisconnect: _gone,
    Exception: _unexpected,
}
