"""The neutral form: turns as they are stored, for export, import and everything without a provider.

Nothing is repaired here: what was recorded is shown, with canonical ids, so that an export that is
posted again gives the same history.
"""

import re

from ...model.ids import CANONICAL_PREFIX
from ..shared.codec import Codec, Prefixed
from ..shared.profile import Profile
from ..shared.tool_rules import ToolRules
from .messages import parse
from .tools import read_choice, read_tools, write_tools

CODEC = Codec(
    profile=Profile(verbatim=True, names=re.compile(r".*", re.DOTALL)),
    tools=ToolRules(allowed=True, strict=True, hosted=True),
    ids=Prefixed(CANONICAL_PREFIX),
    keys=("messages", "turns"),
    messages="turns",
    parse=parse,
    # Its turns are shown as they are stored.
    write=lambda _: [],
    read_tools=read_tools,
    read_choice=read_choice,
    write_tools=write_tools,
)
