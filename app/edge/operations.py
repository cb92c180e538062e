"""What the OpenAPI page says is offered: paths, their methods, and what operations take."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any

from fastapi import Request
from starlette.routing import compile_path

from ..model import telling
from ..model.errors import RuleBroken

_ALIKE = 0.6
_ID = "{"
_SHOWN = re.compile(r"[\w./:@+=,~%-]{1,200}")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


def methods_of(request: Request, route: Iterable[str]) -> list[str]:
    """The methods of a path, in a fixed order: those of the `route` that refused and of all others
    whose templates fit. `HEAD` goes wherever `GET` goes."""
    found = set(route)
    for template, operations in request.app.openapi()["paths"].items():
        if compile_path(template)[0].fullmatch(request.url.path):
            found |= {name.upper() for name in operations}
    if "GET" in found:
        found.add("HEAD")
    return [name for name in _METHODS if name in found]


def other_slash(request: Request) -> str | None:
    """The path without the slash at its end, where that is one of ours. It names no host: that of
    the request may be anybody's."""
    path = request.url.path.rstrip("/")
    templates = request.app.openapi()["paths"]
    if path == request.url.path or not any(
        compile_path(one)[0].fullmatch(path) for one in templates
    ):
        return None
    meant: str = request.scope["raw_path"].decode("latin-1").rstrip("/")
    return f"{meant}?{request.url.query}" if request.url.query else meant


def no_such_path(request: Request) -> str:
    """What to tell somebody who asked for a path that does not exist."""
    path = request.url.path
    subject = f"`{path}`" if _SHOWN.fullmatch(path) else "This path"
    meant = _nearest(path, request.app.openapi()["paths"])
    said = f"{subject} is not a path of this service{telling.did_you_mean(meant, '`')}"
    if meant is None and path.startswith("/v1/conversations/") and path.count("/") > 4:
        said += " A conversation id or turn id must not hold a slash."
    return f"{said} All paths are listed at /docs."


def _nearest(path: str, templates: Iterable[str]) -> str | None:
    """The template that is most like a path, segment by segment; `/v1` may have been forgotten."""
    best, most = None, _ALIKE
    given = [segment for segment in path.split("/") if segment]
    for template in templates:
        likeness = max(_alike(given, template), _alike(["v1", *given], template))
        if likeness > most:
            best, most = template, likeness
    return best


def _alike(given: list[str], template: str) -> float:
    """How alike the fixed segments are, from 0 to 1; each of them must be a little."""
    wanted = template.strip("/").split("/")
    if len(given) != len(wanted) or len("".join(given)) > 512:
        return 0
    pairs = [pair for pair in zip(given, wanted, strict=True) if not pair[1].startswith(_ID)]
    ratios = [SequenceMatcher(None, left.lower(), right).ratio() for left, right in pairs]
    return sum(ratios) / len(ratios) if min(ratios) >= _ALIKE else 0


def parameters_of(request: Request) -> dict[str, Any]:
    """The parameters of the query that the operation of a request takes, with their schemas."""
    described = _operation(request).get("parameters", ())
    return {one["name"]: one["schema"] for one in described if one["in"] == "query"}


def check_parameters(request: Request) -> None:
    """For operations that take no parameters at all; the others look at theirs themselves."""
    if not request.scope["query_string"] or parameters_of(request):
        return
    for name in request.query_params:
        raise stray_parameter(request, name)


def stray_parameter(request: Request, name: str) -> RuleBroken:
    """A parameter that the operation does not take; perhaps it is a member of its body."""
    told = telling.unknown(name, parameters_of(request), "a parameter")
    body = _operation(request).get("requestBody", {}).get("content", {})
    if name in body.get("application/json", {}).get("schema", {}).get("properties", ()):
        told = f"`{name}` must stand in the body, not among the parameters."
    return RuleBroken(told, pointer=telling.parameter(name))


def _operation(request: Request) -> dict[str, Any]:
    methods = request.app.openapi()["paths"].get(request.scope["route"].path, {})
    found: dict[str, Any] = methods.get(request.method.lower(), {})
    return found
