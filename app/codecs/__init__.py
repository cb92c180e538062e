"""The wires: one module each, found by its file name (`openai_responses.py` is `openai-responses`).

A codec has PROFILE (what the wire demands), IDS (how it names calls), KEYS, SETTINGS and LIST (the
members of its request), `parse` (wire to drafts) and `render` (view to wire); TOOLS, `read_tools`,
`read_choice` and `write_tools` for definitions; REPLIES for responses and streams, or None. Nothing
else has to be told about a new one.
"""

import pkgutil
from importlib import import_module
from types import MappingProxyType
from typing import cast

from app.core.identity.ids import CANONICAL_PREFIX, with_prefix
from app.core.ledger.append import IdRules
from app.core.wire.codec import Assigned, Codec, Prefixed


def _found() -> dict[str, Codec]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {
        name.replace("_", "-"): cast(Codec, import_module(f"{__name__}.{name}"))
        for name in names
        if not name.startswith("_")
    }


CODECS = MappingProxyType(_found())
TARGETS: tuple[str, ...] = tuple(CODECS)
ASSIGNED: dict[str, Assigned] = {
    target: codec.IDS for target, codec in CODECS.items() if isinstance(codec.IDS, Assigned)
}
PREFIXES: tuple[str, ...] = tuple(
    sorted(
        {
            codec.IDS.prefix
            for codec in CODECS.values()
            if isinstance(codec.IDS, Prefixed) and codec.IDS.prefix != CANONICAL_PREFIX
        }
    )
)
ID_RULES = IdRules(ASSIGNED, PREFIXES)


def shown_id(target: str, canonical: str, assigned: dict[str, str]) -> str:
    """The id of a call on a target. `assigned`: what the mapping table holds for the call."""
    rule = CODECS[target].IDS
    if isinstance(rule, Prefixed):
        return with_prefix(canonical, rule.prefix)
    # A call that was stored before the wire existed has no id of it yet.
    return assigned.get(target) or canonical
