"""OpenAPI fragments: bodies that we read ourselves, and the problems a route can answer with."""

from typing import Any

from pydantic import BaseModel

from app.api.schemas import ProblemOut

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


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {
                "application/problem+json": {"schema": ProblemOut.model_json_schema()},
            },
        }
        for status in statuses
    }


def takes_stream() -> dict[str, Any]:
    """A body that is no JSON document: events, as the provider sent them."""
    events = {"schema": {"type": "string", "description": "The stream, byte for byte."}}
    kinds = ("text/event-stream", "application/x-ndjson")
    return {"requestBody": {"required": True, "content": dict.fromkeys(kinds, events)}}


def takes(model: type[BaseModel]) -> dict[str, Any]:
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }
