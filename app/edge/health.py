"""Liveness, readiness and metrics; without `/v1`, for machines."""

from fastapi import Response
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from ..model.errors import Unavailable
from ..model.json_values import JsonObject
from .context import Here, json_response
from .documented import HEALTH
from .middleware import REGISTRY
from .routes import routes
from .shapes import HealthOut, ReadyOut

# Machines ask here without a key.
router = routes("", "health", APIRoute, HEALTH)


@router.get("/healthz", summary="The process is alive", response_model=HealthOut)
async def get_health() -> Response:
    """Asks no database."""
    return json_response({"status": "ok"})


@router.get(
    "/readyz",
    summary="The database can be used and its schema is the newest",
    response_model=ReadyOut,
)
async def get_readiness(here: Here) -> Response:
    """It answers, can be written to, and keeps what it has acknowledged."""
    note = await here.database.check_fit(unsafe=here.allow_unsafe)
    current, head = await here.database.schema_state()
    if current != head:
        raise Unavailable.behind("The schema of the database", current, head)
    await here.database.check_index()
    ready: JsonObject = {"status": "ready", "schema": head}
    return json_response(ready | {"note": note} if note else ready)


@router.get("/metrics", summary="Numbers for Prometheus", response_class=PlainTextResponse)
async def get_metrics() -> Response:
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
