"""What the OpenAPI page says about the operation of a request: its parameters, its members."""

from typing import Any

from fastapi import Request

from app.core import telling
from app.core.errors import RuleBroken


def parameters_of(request: Request) -> dict[str, Any]:
    """The parameters of the query that the operation of a request takes, with their schemas."""
    described = _operation(request).get("parameters", ())
    return {one["name"]: one["schema"] for one in described if one["in"] == "query"}


def check_parameters(request: Request) -> None:
    """For operations that take no parameters at all; the others look at theirs themselves."""
    if not request.url.query or parameters_of(request):
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
