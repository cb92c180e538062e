"""Parameters that many operations share, with what the OpenAPI page says about them.

Patterns and lists stand in the description only: what breaks them is told by the service, in its
own words, and an id that cannot be is absent (404) where something is read.
"""

import re
from typing import Annotated, Any

from fastapi import Path
from pydantic import Field

from app.api.requests import KEY, VERSION
from app.codecs import TARGETS
from app.core.identity.forms import CONVERSATION_ID, PROVIDER, TURN_ID


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
