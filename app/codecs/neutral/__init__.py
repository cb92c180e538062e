"""The neutral form: turns as they are stored, for export, import and everything without a provider.

Nothing is repaired here: what was recorded is shown, with canonical ids, so that an export that is
posted again gives the same history.
"""

import re

from app.codecs.neutral.messages import parse
from app.codecs.neutral.tools import read_choice, read_tools, write_tools
from app.core.identity.ids import CANONICAL_PREFIX
from app.core.render.profile import Profile
from app.core.tools.rules import ToolRules
from app.core.wire.codec import Codec, Prefixed

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
