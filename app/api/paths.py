"""What the service offers where: the methods of a path, and the path that was probably meant."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from fastapi import FastAPI
from starlette.routing import compile_path

from app.core.telling import did_you_mean

_ALIKE = 0.6
_ID = "{"
_SHOWN = re.compile(r"[\w./:@+=,~%-]{1,200}")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True)
class Offered:
    """A path of the interface, as a template, and its methods."""

    template: str
    pattern: re.Pattern[str]
    methods: frozenset[str]


def offered(app: FastAPI) -> list[Offered]:
    """All that the OpenAPI page describes."""
    found = []
    for template, operations in app.openapi()["paths"].items():
        methods = frozenset(name.upper() for name in operations)
        found.append(Offered(template, compile_path(template)[0], methods))
    return found


def methods_of(path: str, known: list[Offered], route: Iterable[str]) -> list[str]:
    """The methods of a path, in a fixed order: those of the `route` that refused and of all others
    whose templates fit. `HEAD` goes wherever `GET` goes."""
    found = {name for one in known if one.pattern.fullmatch(path) for name in one.methods}
    found |= set(route)
    if "GET" in found:
        found.add("HEAD")
    return [name for name in _METHODS if name in found]


def no_such_path(path: str, known: list[Offered]) -> str:
    """What to tell somebody who asked for a path that does not exist."""
    subject = f"`{path}`" if _SHOWN.fullmatch(path) else "This path"
    meant = nearest_path(path, known)
    said = f"{subject} is not a path of this service{did_you_mean(meant, '`')}"
    if meant is None and path.startswith("/v1/conversations/") and path.count("/") > 4:
        said += " A conversation id or turn id must not hold a slash."
    return f"{said} All paths are listed at /docs."


def nearest_path(path: str, known: list[Offered]) -> str | None:
    """The template that is most like a path, segment by segment; `/v1` may have been forgotten."""
    best, most = None, _ALIKE
    given = [segment for segment in path.split("/") if segment]
    for one in known:
        likeness = max(_alike(given, one.template), _alike(["v1", *given], one.template))
        if likeness > most:
            best, most = one.template, likeness
    return best


def _alike(given: list[str], template: str) -> float:
    """How alike the fixed segments are, from 0 to 1; each of them must be a little."""
    wanted = template.strip("/").split("/")
    if len(given) != len(wanted) or len("".join(given)) > 512:
        return 0
    pairs = [pair for pair in zip(given, wanted, strict=True) if not pair[1].startswith(_ID)]
    ratios = [SequenceMatcher(None, left.lower(), right).ratio() for left, right in pairs]
    return sum(ratios) / len(ratios) if min(ratios) >= _ALIKE else 0
