"""The shapes of problems (RFC 9457), of liveness and of readiness."""

from typing import Literal

from app.api.schemas.shapes import Out, left_out, said


class ProblemOut(Out):
    """RFC 9457, with the facts of the problem."""

    type: str
    title: str
    status: int
    detail: str
    code: str = said("Stable; docs/problems.md lists them.")
    pointer: str = left_out("Where: a JSON pointer into the body, or `?name` of a parameter.")
    conversation_id: str = left_out("The conversation that is meant.")
    version: int = left_out("The version that the conversation has.")
    turn_id: str = left_out("The turn that is meant; with 412, one that is stored all the same.")
    turn_ids: list[str] = left_out("Of `turn_id_taken`: the ids that are stored already.")
    turns: int = left_out("The turns of the body, where ids do not fit their number.")
    seq: int = left_out("Of `history_differs`: the place of the stored turn.")
    index: int = left_out("Of `history_differs`: the place of the message in the list.")
    differs: str = left_out("Of `history_differs`: in what the message differs.")
    limit: str = left_out("The limit that is exceeded.")
    most: int = left_out("What the limit allows.")
    known: list[str] = left_out("The words of which one must be given.")
    error_type: str = left_out("Of an error response: the provider's own name for it.")
    looks_like: list[str] = left_out("The formats whose response or stream it may be.")


class HealthOut(Out):
    status: Literal["ok"]


class ReadyOut(Out):
    status: Literal["ready"]
    schema_: str = said("The version of the schema.", alias="schema")
