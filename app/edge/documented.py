"""OpenAPI fragments: parameters that operations share, bodies that we read ourselves, and the
problems a route may give.

Patterns and lists stand in the description only: what breaks them is told by the service, in its
own words, and an id that cannot be is absent (404) where something is read.
"""

import re
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, Field

from ..formats.registry import TARGETS
from ..model.forms import CONVERSATION_ID, PROVIDER, TURN_ID
from .requests import KEY, STREAMS, TOLD, VERSION
from .shapes import ProblemOut

_MEANINGS = {
    400: "The body is not JSON",
    401: "No API key, or none that holds",
    403: "The API key does not allow this",
    404: "Absent",
    409: "Conflict with what is stored",
    412: "The conversation has moved on",
    413: "The body is too large",
    415: "The body is not declared as what is read here",
    422: "A rule is broken; `pointer` says where",
    429: "The API key has used up what it may; see Retry-After",
    503: "Not now; see Retry-After",
}
# Made once: it stands at every operation.
_PROBLEM = ProblemOut.model_json_schema()


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {"application/problem+json": {"schema": _PROBLEM}},
        }
        for status in statuses
    }


# What every operation may answer, and those that read something that may be absent.
EVERYWHERE = refusals(401, 403, 422, 429, 503)
HEALTH = refusals(422, 503)
ABSENT = refusals(404, 409)


def leads_to(*operations: str, **given: str) -> dict[str, Any]:
    """What can be asked for next, with what a response, or its request, says."""
    said = {"provider": "openai", "messages": [{"role": "user", "content": "Hello"}]}
    bodies = {"append_turns": {"requestBody": said}}
    return {
        "links": {
            name: {"operationId": name, "parameters": {**given}, **bodies.get(name, {})}
            for name in operations
        }
    }


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


def reading(
    model: type[BaseModel], *refused: int, then: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What is said of a route that reads a body of this shape and may refuse it for more reasons
    than its form. `then`: where a 201 leads to."""
    statuses = sorted({400, 413, 415, *refused})
    conditions = {"parameters": [IF_MATCH]} if 412 in statuses else {}
    responses = refusals(*statuses) | ({201: then} if then else {})
    return {"openapi_extra": takes(model) | conditions, "responses": responses}


def takes(model: type[BaseModel]) -> dict[str, Any]:
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }


def _described(form: re.Pattern[str], example: str) -> dict[str, Any]:
    # The end of a text has another sign in the dialect of JSON Schema.
    pattern = form.pattern.replace(r"\Z", "$")
    return {"pattern": f"^{pattern}$", "examples": [example]}


def _header(name: str, form: re.Pattern[str], example: str, description: str) -> dict[str, Any]:
    schema = {"type": "string", **_described(form, example)}
    return {"name": name, "in": "header", "schema": schema, "description": description}


_CID = _described(CONVERSATION_ID.pattern, "c1")
_TURN_ID = _described(TURN_ID.pattern, "t1")
_PROVIDER = _described(PROVIDER.pattern, "openai")
_WRITER = "The name that enters the hash of canonical ids."
_SHAPE = "The wire shape; defaults from the provider."

Cid = Annotated[str, Path(description="The id of a conversation.", json_schema_extra=_CID)]
TurnId = Annotated[str, Path(description="The id of a turn.", json_schema_extra=_TURN_ID)]
CallerTurnId = Annotated[str | None, Field(json_schema_extra=_TURN_ID)]
Provider = Annotated[str, Field(description=_WRITER, json_schema_extra=_PROVIDER)]
Format = Annotated[
    str | None, Field(description=_SHAPE, json_schema_extra={"enum": [*TARGETS, None]})
]
Target = Annotated[
    str, Field(description="Whom to write for.", json_schema_extra={"enum": list(TARGETS)})
]
CONDITIONS = [
    _header("Idempotency-Key", KEY, "3f1c", "A retry with the same key and body is stored once."),
    _header("If-Match", VERSION, '"12"', 'Append only to this version, like `"12"`.'),
]
IF_MATCH = _header(
    "If-Match",
    VERSION,
    '"12"',
    'Only while the conversation is at this version, like `"12"`, or has this `ETag`.',
)
LAST_EVENT_ID = _header(
    "Last-Event-ID", TOLD, "12", "The version that was told last; it wins over `after`."
)
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "An `ETag` that you have, several, or `*`: then 304.",
}
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "You have these bytes already"}}
# What a listener is told. OpenAPI 3.2 has a name for what a stream is made of.
_EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["version", "erased"]},
        "id": {"type": "string", "description": "The version."},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events, until one side hangs up",
        "content": {"text/event-stream": {"itemSchema": _EVENT}},
    }
}
TABLE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A page of calls, or all of them as a table",
        "content": {"text/csv": {"schema": {"type": "string"}}},
    }
}
