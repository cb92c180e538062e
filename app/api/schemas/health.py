"""Shapes of liveness and readiness."""

from typing import Literal

from pydantic import Field

from app.api.schemas.shapes import Out


class HealthOut(Out):
    status: Literal["ok"]


class ReadyOut(Out):
    status: Literal["ready"]
    schema_: str = Field(alias="schema", description="The version of the schema.")
