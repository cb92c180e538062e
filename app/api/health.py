"""Liveness, readiness and metrics; without `/v1`, for machines."""

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from app.api.context import Here, json_response
from app.api.documented import EVERYWHERE, refusals
from app.api.metrics import REGISTRY
from app.api.schemas.problems import HealthOut, ReadyOut
from app.core.errors import Unavailable

router = APIRouter(tags=["health"], responses=EVERYWHERE)


@router.get(
    "/healthz", operation_id="get_health", summary="The process is alive", response_model=HealthOut
)
async def healthz() -> Response:
    """Asks no database."""
    return json_response({"status": "ok"})


@router.get(
    "/readyz",
    operation_id="get_readiness",
    summary="The database answers and its schema is the newest",
    responses=refusals(503),
    response_model=ReadyOut,
)
async def readyz(here: Here) -> Response:
    await here.database.ping()
    current, head = await here.database.schema_state()
    if current != head:
        raise Unavailable.behind("The schema of the database", current, head)
    return json_response({"status": "ready", "schema": head})


@router.get(
    "/metrics",
    operation_id="get_metrics",
    summary="Numbers for Prometheus",
    response_class=PlainTextResponse,
)
async def metrics() -> Response:
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
