"""Shapes of blocks in the neutral form, as stored turns show them."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from ..edge.shapes import GivenOut, Out, left_out, said
from ..model.conversation import Phase, Status


class TextBlockOut(Out):
    type: Literal["text"]
    text: str
    signature: str = left_out("Gemini's thought signature.")
    phase: Phase = left_out("What OpenAI's model said the text is.")


class ImageBlockOut(Out):
    type: Literal["image"]
    data: str = said("A data URL, or an address.")
    detail: str = left_out()


class FileBlockOut(Out):
    type: Literal["file"]
    data: str = said("A data URL, or an address.")
    name: str = left_out()
    media_type: str = left_out()


class _OwnOut(Out):
    """Something that only its issuer may see again."""

    wire: str = left_out("The format in which `native` is written.")
    provider: str = left_out("Who issued it, where it is not the turn's provider.")
    model: str = left_out()


class ThinkingBlockOut(_OwnOut):
    type: Literal["thinking"]
    text: str
    native: Any = left_out("The provider's own form of it, signed.")


class OpaqueBlockOut(_OwnOut):
    """What only its provider understands, kept as it came."""

    type: Literal["opaque"]
    kind: str
    native: Any


class CallBlockOut(GivenOut):
    type: Literal["tool_call"]
    id: str = said("The canonical id.")
    raw_id: str | None
    name: str
    signature: str = left_out("Gemini's thought signature.")
    custom: bool = left_out("True if the tool takes a text, not arguments.")


class ResultBlockOut(Out):
    """`result` or `content`."""

    type: Literal["tool_result"]
    call_id: str | None = said("The canonical id of its call; the raw id of an orphan.")
    raw_id: str | None
    name: str = left_out("The tool, where the result names it.")
    result: Any = left_out()
    content: list["PartOut"] = left_out()
    status: Status = left_out("Left out when it is ok.")
    error: str = left_out()


PartOut: TypeAlias = Annotated[
    TextBlockOut | ImageBlockOut | FileBlockOut | OpaqueBlockOut, Field(discriminator="type")
]
BlockOut: TypeAlias = Annotated[
    TextBlockOut
    | ImageBlockOut
    | FileBlockOut
    | ThinkingBlockOut
    | CallBlockOut
    | ResultBlockOut
    | OpaqueBlockOut,
    Field(discriminator="type"),
]
