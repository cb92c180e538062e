"""What a wire demands of tool definitions and of tool choice."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolRules:
    """The demands of one wire.

    members       the members of a request that offer tools
    config        the one among them that holds definitions and choice together
    openai        OpenAI itself: Anthropic's definitions get `required` filtered and unknown formats
                  taken out, and `strict` of others stays only where OpenAI's rules for it hold.
                  Definitions that were written for OpenAI are not touched
    object_type   the schema says `type: object` at its top
    refused_top   words that may not stand at the top of a schema
    lone_refs     nothing may stand beside `$ref`
    typed_branches   `type` may not stand beside anyOf and oneOf, but inside them
    keys          what the names of properties at the top must be
    most          how many tools a request may offer
    none, parallel, allowed   whether "no tools", parallel calls on or off, and a narrowed list of
                              tools can be said
    strict        a definition can say that it is strict
    strict_closed    … but only where OpenAI's rules for it hold, whoever wrote it
    chooses_hosted   the choice can name tools that this provider runs itself
    hosted        tools that other providers run themselves are kept, for them
    described     a definition of this shape has a description; one without it is worth a note
    """

    members: tuple[str, ...] = ("tools", "tool_choice", "parallel_tool_calls")
    config: str | None = None
    openai: bool = False
    object_type: bool = False
    refused_top: tuple[str, ...] = ()
    lone_refs: bool = False
    typed_branches: bool = False
    keys: re.Pattern[str] | None = None
    most: int | None = None
    none: bool = True
    parallel: bool = True
    allowed: bool = False
    strict: bool = False
    strict_closed: bool = False
    chooses_hosted: bool = True
    hosted: bool = False
    described: bool = False
