"""OpenAPI fragments: bodies that we read ourselves, and the problems a route may give."""

from typing import Any

from pydantic import BaseModel

from app.api.requests import STREAMS
from app.api.schemas.shapes import ProblemOut

_MEANINGS = {
    400: "The body is not JSON",
    404: "Absent",
    409: "Conflict with what is stored",
    412: "The conversation has moved on",
    413: "The body is too large",
    415: "The body is not declared as what is read here",
    422: "A rule is broken; `pointer` says where",
    503: "Not now; see Retry-After",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {"application/problem+json": {"schema": ProblemOut.model_json_schema()}},
        }
        for status in statuses
    }


# What every operation may answer, and those that read something that may be absent.
EVERYWHERE = refusals(422, 503)
ABSENT = refusals(404)


def takes_stream() -> dict[str, Any]:
    """A body that is no JSON document of ours: events, as the provider sent them."""
    text = {"type": "string", "minLength": 1}
    kinds: dict[str, dict[str, Any]] = {
        "text/event-stream": {**text, "description": "As the provider sends it."},
        "application/x-ndjson": {**text, "description": "One event of the SDK a line."},
        "application/vnd.amazon.eventstream": {
            "type": "string",
            "format": "binary",
            "description": "The frames of `bedrock`, as they come from AWS.",
        },
        "application/json": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Only for `gemini`: its stream without `alt=sse`.",
        },
    }
    content = {kind: {"schema": kinds[kind]} for kind in STREAMS}
    return {"requestBody": {"required": True, "content": content}}


def appended_before(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """The response to a retry, and to what completes an interrupted turn."""
    said = "Stored before: the first receipt again (`Idempotent-Replayed`); or a turn is completed"
    return {200: {"description": said, "model": model}}


def reading(model: type[BaseModel], *refused: int) -> dict[str, Any]:
    """What is said of a route that reads a body of this shape and may refuse it for more reasons
    than its form."""
    statuses = sorted({400, 413, 415, *refused})
    return {"openapi_extra": takes(model), "responses": refusals(*statuses)}


def takes(model: type[BaseModel]) -> dict[str, Any]:
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }
