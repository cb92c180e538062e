"""Shapes of liveness and readiness."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.shapes import Out


class HealthOut(Out):
    status: Literal["ok"]


class ReadyOut(Out):
    status: Literal["ready"]
    schema_: Annotated[str, Field(alias="schema", description="The version of the schema.")]
