"""What a wire demands of tool definitions and of tool choice."""

import re
from dataclasses import dataclass

from ...model.json_values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class ToolRules:
    """The demands of one wire.

    choice        the names of the member that holds the choice; the first is the one written
    switch        `parallel_tool_calls` is a member of its requests
    config        the one member that holds definitions and choice together
    lenient       definitions of this shape require what is optional, and use any `format`
    exacting      lenient definitions get `required` filtered and unknown formats taken out, and
                  `strict` of others stays only where the rules for it hold. What was written for
                  an exacting wire is not touched
    object_type   the schema says `type: object` at its top
    refused_top   words that may not stand at the top of a schema
    lone_refs     nothing may stand beside `$ref`
    typed_branches   `type` may not stand beside anyOf and oneOf, but inside them
    keys          what the names of properties at the top must be
    most          how many tools a request may offer
    none, parallel, allowed   whether "no tools", parallel calls on or off, and a narrowed list of
                              tools can be said
    strict        a definition can say that it is strict
    strict_closed    … but only where the rules for it hold, whoever wrote it
    chooses_hosted   the choice can name tools that this provider runs itself
    hosted        tools that other providers run themselves are kept, for them
    described     a definition of this shape has a description; one without it is worth a note
    """

    choice: tuple[str, ...] = ("tool_choice",)
    switch: bool = True
    config: str | None = None
    lenient: bool = False
    exacting: bool = False
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

    @property
    def members(self) -> tuple[str, ...]:
        """The members of a request that offer tools."""
        if self.config:
            return (self.config,)
        return ("tools", *self.choice, *(("parallel_tool_calls",) if self.switch else ()))

    @property
    def inside(self) -> tuple[str, ...]:
        """The members of `config`."""
        return ("tools", *self.choice)

    def apart(self, request: JsonObject) -> tuple[Json, Json]:
        """Definitions and choice of a rendered request."""
        config = request.get(self.config) if self.config else request
        held = config if isinstance(config, dict) else {}
        return held.get("tools", []), held.get(self.choice[0])
