"""Style sheet, script and icon of the pages."""

from fastapi import APIRouter
from starlette.responses import FileResponse

from ..model.errors import NotFound
from . import WEB
from .page import HEADERS

router = APIRouter(include_in_schema=False)

_KINDS = {
    "style.css": "text/css",
    "pages.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


@router.get("/static/{name}")
async def asset(name: str) -> FileResponse:
    if name not in _KINDS:
        raise NotFound("There is no such file; the pages begin at /.")
    # A release may change them, and the browser asks each time whether it did.
    headers = {**HEADERS, "Cache-Control": "no-cache"}
    return FileResponse(WEB / "pages" / name, media_type=_KINDS[name], headers=headers)
