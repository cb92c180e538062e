"""What the shapes of several resources are made of, and those of problems (RFC 9457) and health."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Metadata: TypeAlias = dict[str, Any]
Order: TypeAlias = Literal["asc", "desc"]


class In(BaseModel):
    """What is read: a member that nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _described(schema: dict[str, Any]) -> None:
    """The page says neither what a member would be if it were there, nor that none is added: a
    later release may send more, and no client should break."""
    schema.pop("additionalProperties", None)
    for member in schema.get("properties", {}).values():
        member.pop("default", None)


class Out(BaseModel):
    """What is sent: these members and no others."""

    # Built when a test or the OpenAPI page needs it: the service writes what it answers by itself.
    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra=_described, defer_build=True
    )


def said(description: str | None, default: Any = ..., **rules: Any) -> Any:
    """A member and what the page says of it."""
    return Field(default, description=description, **rules)


def left_out(description: str | None = None) -> Any:
    """For a member that is not there, instead of being null, where there is nothing to say."""
    return Field(default=None, description=description)


class ListOut(Out):
    has_more: bool
    next_cursor: str | None


PageSize: TypeAlias = Annotated[int, Field(ge=1, le=1000)]


class PageQuery(In):
    limit: PageSize = 100
    cursor: str | None = said("The `next_cursor` of the page before.", None)


class UsageOut(Out):
    """What responses took; 0 where the provider does not say."""

    input_tokens: int = said("The whole input, cached tokens included.")
    output_tokens: int = said("The whole output, reasoning included.")
    cached_tokens: int = said("Of the input: what was read from a cache.")
    reasoning_tokens: int = said("Of the output: what was thinking.")


class NoteOut(Out):
    code: str
    turn_id: str | None
    detail: str


class GivenOut(Out):
    """What a call was given: a value, or the text that is none."""

    parameters: Any = left_out("Left out where the arguments are no JSON.")
    arguments: str = left_out("The text instead, where it is no JSON or over 1 MB.")


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
    needed: str = left_out("The scope that the API key must have.")
    prefix: str = left_out("How the ids begin of all conversations that the API key may use.")


class HealthOut(Out):
    status: Literal["ok"]


class ReadyOut(Out):
    status: Literal["ready"]
    schema_: str = said("The version of the schema.", alias="schema")
    note: str = left_out("What the operator should know of the database's durability.")
