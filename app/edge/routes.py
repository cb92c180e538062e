"""How a request reaches its operation: ids of the path, parameters of the query, and the context.

The framework describes operations by their signatures. It could read their parameters too, but that
takes longer than most operations do, so they are read here.
"""

import inspect
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, get_origin

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from ..database.damage import may_be_damage
from ..model import telling
from ..model.api_keys import KeyScope
from ..model.errors import RuleBroken, Unavailable
from ..verify.queries import demand_head, demand_sound
from .context import Context
from .documented import EVERYWHERE
from .operations import check_parameters


class Direct(APIRoute):
    """A route whose operation takes any of: the ids of its path, `query`, `request`, `here`."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        taken = inspect.signature(self.endpoint).parameters
        self.takes_request, self.takes_context = "request" in taken, "here" in taken
        self.query = _query_model(taken)
        self.key_scope = _scope(self.methods or set(), self.path)
        # The framework's own has stacks for dependencies, of which there are none, and catches
        # errors that are caught around all routes.
        self.app = self.respond

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self.response_to(Request(scope, receive, send))
        await response(scope, receive, send)

    async def response_to(self, request: Request) -> Response:
        given: dict[str, Any] = dict(request.path_params)
        shared: Context = request.app.state.context
        request, here = await shared.admit(request, self.key_scope, given.get("cid"))
        if self.query is not None:
            given["query"] = _read_query(request.scope["query_string"], self.query)
        elif self.include_in_schema:
            check_parameters(request)
        if self.takes_request:
            given["request"] = request
        if self.takes_context:
            given["here"] = here
        mark = object()
        marks = set() if self.key_scope == "read" else here.writing
        marks.add(mark)
        try:
            if self.key_scope == "write" and "cid" in given:
                await here.check_room(given["cid"])
            response: Response = await self.endpoint(**given)
            if self.key_scope != "read" and "cid" in given:
                here.listeners.hurry(here.database.tenant_id, given["cid"])
        except Exception as error:
            if "cid" in request.path_params:
                await _demand_sound(here, request.path_params["cid"], error)
            raise
        finally:
            marks.discard(mark)
        return response


async def _demand_sound(here: Context, cid: str, error: Exception) -> None:
    """Raises `Damaged` where an error has no other cause than what is stored of a conversation."""
    if isinstance(error, Unavailable):
        await here.database.read(partial(demand_head, cid=cid))
    elif may_be_damage(error) and not isinstance(error, ClientDisconnect):
        await here.database.read(partial(demand_sound, cid=cid), long=True)


def _scope(methods: set[str], path: str) -> KeyScope:
    """What a key must allow for an operation."""
    if "DELETE" in methods or path.startswith("/v1/keys"):
        return "admin"
    # To convert is to read what one has sent.
    return "read" if "GET" in methods or path.startswith("/v1/convert") else "write"


def routes(
    prefix: str,
    tag: str,
    route_class: type[APIRoute] = Direct,
    refused: dict[int | str, dict[str, Any]] = EVERYWHERE,
) -> APIRouter:
    """The router of a resource. Operations are called on the OpenAPI page what they are called in
    the code."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=route_class,
        responses=refused,
        generate_unique_id_function=lambda route: route.name,
    )


def _query_model(taken: Mapping[str, inspect.Parameter]) -> type[BaseModel] | None:
    if "query" not in taken:
        return None
    annotation = taken["query"].annotation
    assert get_origin(annotation) is Annotated
    assert any(isinstance(one, type(Query())) for one in annotation.__metadata__)
    model: type[BaseModel] = annotation.__origin__
    # Requests with the same query share it.
    assert model.model_config.get("frozen")
    return model


@lru_cache(64)
def _read_query(text: bytes, model: type[BaseModel]) -> BaseModel:
    params = QueryParams(text)
    given: dict[str, Any] = dict(params)
    for name, field in model.model_fields.items():
        values = params.getlist(field.alias or name)
        if values and get_origin(field.annotation) is list:
            given[name] = values
        elif len(values) > 1:
            given_as = field.alias or name
            raise RuleBroken(
                f"`{given_as}` must be given once, not {len(values)} times.",
                pointer=telling.parameter(given_as),
            )
    try:
        return model.model_validate(given)
    except ValidationError as error:
        told = error.errors(include_url=False)
        raise RequestValidationError(
            [{**one, "loc": ("query", *one["loc"])} for one in told]
        ) from None
