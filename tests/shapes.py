"""Every response of every test is read with the model that its route declares for its status.

`watch` wraps the test client itself, so that no test can forget it. A member that the model does
not name, one that is missing, a status that the route does not declare: all fail the test.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from pydantic import TypeAdapter, ValidationError
from starlette.routing import Match

PROBLEM = "application/problem+json"
JSON = "application/json"
# Problems that no route declares: those of no route, of its method, of a defect, of the headers.
_OF_NO_ROUTE = {404: "no_such_path", 405: "method_not_allowed"}
_OF_ANY = {400: "bad_request", 500: "internal", 403: "foreign_origin", 421: "foreign_host"}


class WrongShape(AssertionError):
    """A response is not what the OpenAPI page says of it."""


@contextmanager
def watch() -> Iterator[None]:
    """While this is open, what a test client receives is checked."""
    send: Any = TestClient.send

    def checked(self: TestClient, request: Any, **options: Any) -> Any:
        response = send(self, request, **options)
        if isinstance(self.app, FastAPI):
            check(self.app, response)
        return response

    with patch.object(TestClient, "send", checked):
        yield


def check(app: FastAPI, response: Any) -> None:
    """Raises `WrongShape`."""
    request = response.request
    headless = request.method == "HEAD"
    method = "GET" if headless else request.method
    where = f"{request.method} {request.url.path} {response.status_code}"
    route = _route(app, method, request.url.path)
    if response.has_redirect_location or (route and not route.include_in_schema):
        # Not on the page: another spelling of a path, and the page itself.
        return
    if is_problem := response.headers.get("content-type") == PROBLEM:
        _check_problem(app, route, response, where, headless=headless)
    elif route is not None:
        _check_answer(route, response, where, headless=headless)
    elif request.url.path != app.openapi_url:
        raise WrongShape(f"{where}: no route, and no problem")
    if not is_problem and not response.is_success and response.content:
        raise WrongShape(f"{where}: an error that is no problem")


def _route(app: FastAPI, method: str, path: str) -> APIRoute | None:
    scope = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    for router in app.routes:
        # FastAPI keeps a router that was included as it is.
        for route in getattr(router, "original_router", app).routes:
            if isinstance(route, APIRoute) and route.matches(scope)[0] == Match.FULL:
                return route
    return None


def _check_problem(
    app: FastAPI, route: APIRoute | None, response: Any, where: str, *, headless: bool
) -> None:
    declared = PROBLEM in app.router.responses.get(response.status_code, {}).get("content", {})
    declared = declared or (route is not None and PROBLEM in _declared(route, response.status_code))
    if not headless:
        told = _read(_problem(), response, where)
        undeclared = _OF_ANY if route else _OF_NO_ROUTE
        if told.status != response.status_code:
            raise WrongShape(f"{where}: the problem says {told.status}")
        declared = declared or undeclared.get(response.status_code) == told.code
    if not declared and not headless:
        raise WrongShape(f"{where}: the route does not declare this problem")


def _check_answer(route: APIRoute, response: Any, where: str, *, headless: bool) -> None:
    status = response.status_code
    model = _model(route, status)
    kind = response.headers.get("content-type", "").partition(";")[0]
    if model is not None and kind == JSON:
        if not headless:
            _read(_adapter(model), response, where)
    elif kind == JSON or (response.content and kind not in _declared(route, status)):
        raise WrongShape(f"{where}: the route declares no model for this status")
    elif status not in (*route.responses, route.status_code or 200):
        raise WrongShape(f"{where}: the route does not declare this status")


def _read(adapter: TypeAdapter[Any], response: Any, where: str) -> Any:
    try:
        try:
            return adapter.validate_json(response.content)
        except ValidationError:
            # Its reader of JSON knows no half characters, which we keep.
            return adapter.validate_python(json.loads(response.content))
    except ValidationError as error:
        raise WrongShape(f"{where}: {error}") from None


def _model(route: APIRoute, status: int) -> Any:
    if status == (route.status_code or 200):
        return route.response_model
    return route.responses.get(status, {}).get("model")


def _declared(route: APIRoute, status: int) -> set[str]:
    """The media types that a route declares for a status."""
    told: dict[str, Any] = route.responses.get(status, {}).get("content", {})
    own = status == (route.status_code or 200)
    default = getattr(route.response_class, "media_type", None) if own else None
    return {*told, *([default] if default else [])}


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def _problem() -> TypeAdapter[Any]:
    # Here, so that tests without the interface need not load it.
    from app.edge.shapes import ProblemOut  # noqa: PLC0415

    return _adapter(ProblemOut)
