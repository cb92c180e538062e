"""Logging in where the service is used with keys: a key becomes a cookie, which only reads."""

from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response

from ..access.http import COOKIE
from ..edge.context import Here
from ..edge.problems import HANDLERS
from ..model.errors import TurnkeepError
from .page import html, moved, rendered

router = APIRouter(include_in_schema=False)

_LONGEST = 4_096


@router.get("/login")
async def login_page(request: Request) -> Response:
    following = _local(request.query_params.get("next", "/"))
    return html(rendered("login.html", has_key=False, following=following, complaint=None))


@router.post("/login")
async def log_in(request: Request, here: Here) -> Response:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LONGEST:
            break
    form = parse_qs(body[:_LONGEST].decode("latin-1"))
    following = _local(form.get("next", ["/"])[0])
    text = form.get("key", [""])[0].strip()
    try:
        key = await here.access.key_named(text)
        here.access.check(key, "read", None, request)
    except TurnkeepError as error:
        page = rendered("login.html", has_key=False, following=following, complaint=error.detail)
        told = await HANDLERS[TurnkeepError](request, error)
        wait = {name: one for name, one in told.headers.items() if name == "retry-after"}
        return html(page, told.status_code, wait)
    response = moved(following)
    response.set_cookie(
        COOKIE, text, httponly=True, samesite="lax", secure=request.url.scheme == "https"
    )
    return response


@router.post("/logout")
async def log_out() -> Response:
    response = moved("/login")
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return response


def _local(path: str) -> str:
    """A path of ours: nobody is sent elsewhere by a link to the login."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_ours else "/"
