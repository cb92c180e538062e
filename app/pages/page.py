"""How a page answers: with HTML under a strict policy, also when something is wrong."""

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError

from ..database.store import ReadStore
from ..edge.context import Context
from ..edge.problems import HANDLERS
from ..edge.routes import Direct
from ..model import telling
from ..model.errors import RuleBroken, TurnkeepError, Unauthorized


def guarded(forms: str) -> dict[str, str]:
    """Nothing from another host, nothing inline; `forms`: where these may be sent.

    Pictures may be written inside of pages and style sheets, hence data:.
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        f" connect-src 'self'; form-action {forms}; base-uri 'none'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy}


HEADERS = {
    **guarded("'self'"),
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
# What is shown may be erased a moment later, and is nobody else's business.
_PRIVATE = {**HEADERS, "Cache-Control": "no-store"}


class Page(Direct):
    """A route whose refusals are pages, too. Who has no key is asked for one."""

    async def response_to(self, request: Request) -> Response:
        try:
            return await super().response_to(request)
        except Unauthorized:
            asked = request.scope["raw_path"].decode("latin-1")
            asked += f"?{request.url.query}" if request.url.query else ""
            return moved(f"/login?next={quote(asked, safe='')}")
        except RequestValidationError as error:
            return await _refusal(request, _unmeant(error))
        except TurnkeepError as error:
            return await _refusal(request, error)


async def _refusal(request: Request, error: TurnkeepError) -> Response:
    problem = await HANDLERS[TurnkeepError](request, error)
    told = json.loads(bytes(problem.body))
    headers = {name: problem.headers[name] for name in ("retry-after",) if name in problem.headers}
    return html(rendered("problem.html", problem=told), problem.status_code, headers)


def _unmeant(error: RequestValidationError) -> RuleBroken:
    """The addresses of pages are not on the OpenAPI page, which knows better words."""
    first = error.errors()[0]
    name = str(first["loc"][-1])
    why = first["msg"].replace("Input should be", "it must be")
    return RuleBroken(f"{telling.named(name)} in the address cannot be used: {why}.")


def pages() -> APIRouter:
    return APIRouter(include_in_schema=False, route_class=Page)


def rendered(template: str, **values: Any) -> bytes:
    """A page's HTML."""
    # With it comes Jinja: many services never show a page, and all start sooner without it.
    made: bytes = import_module(".templates", __package__).rendered(template, **values)
    return made


def html(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, {**_PRIVATE, **(headers or {})}, "text/html; charset=utf-8")


def moved(path: str) -> Response:
    location = quote(path, safe="%/:?#[]@!$&'()*+,;=~")
    return Response(status_code=303, headers={**_PRIVATE, "Location": location})


async def shown(
    here: Context,
    template: str,
    query: Callable[[ReadStore], dict[str, Any]],
    *,
    long: bool = False,
) -> Response:
    """The page of what a query finds, written where it was read: pages are long."""
    has_key = here.key is not None
    return html(
        await here.database.read(
            lambda store: rendered(template, has_key=has_key, **query(store)), long=long
        )
    )
