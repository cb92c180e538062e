"""The pages at `/docs`: Swagger UI from files of our own, which need no other host."""

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse

from ..model.errors import NotFound
from . import WEB
from .page import guarded

router = APIRouter(include_in_schema=False)

_FOLDER = WEB / "docs"
_ASSETS = {
    "start.js": "text/javascript",
    "swagger-ui/swagger-ui-bundle.js": "text/javascript",
    "swagger-ui/swagger-ui.css": "text/css",
    "swagger-ui/favicon-32x32.png": "image/png",
}
_BY_NAME = {Path(file).name: file for file in _ASSETS}
_HEADERS = guarded("'none'")


@router.get("/docs")
async def page() -> FileResponse:
    return FileResponse(_FOLDER / "index.html", media_type="text/html", headers=_HEADERS)


@router.get("/docs/{name}")
async def asset(name: str) -> FileResponse:
    if name not in _BY_NAME:
        raise NotFound("There is no such file; the page is at /docs.")
    file = _BY_NAME[name]
    return FileResponse(_FOLDER / file, media_type=_ASSETS[file], headers=_HEADERS)
