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


Cid = Annotated[
    str,
    Path(
        description="The id of a conversation.",
        json_schema_extra=_described(CONVERSATION_ID.pattern, "c1"),
    ),
]
TurnId = Annotated[
    str, Path(description="The id of a turn.", json_schema_extra=_described(TURN_ID.pattern, "t1"))
]
CallerTurnId = Annotated[str | None, Field(json_schema_extra=_described(TURN_ID.pattern, "t1"))]
Provider = Annotated[
    str,
    Field(
        description="The name that enters the hash of canonical ids.",
        json_schema_extra=_described(PROVIDER.pattern, "openai"),
    ),
]
Format = Annotated[
    str | None,
    Field(
        description="The wire shape; defaults from the provider.",
        json_schema_extra={"enum": [*TARGETS, None]},
    ),
]
Target = Annotated[
    str, Field(description="Whom to write for.", json_schema_extra={"enum": list(TARGETS)})
]
CONDITIONS: list[dict[str, Any]] = [
    {
        "name": "Idempotency-Key",
        "in": "header",
        "schema": {"type": "string", **_described(KEY, "3f1c")},
        "description": "A retry with the same key and body is stored once.",
    },
    {
        "name": "If-Match",
        "in": "header",
        "schema": {"type": "string", **_described(VERSION, '"12"')},
        "description": 'Append only to this version, like `"12"`.',
    },
]
