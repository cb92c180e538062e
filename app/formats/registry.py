"""The wires: one codec each, found by the name of its file (`openai_responses`: openai-responses).

A file, or a folder where the wire has a shape of its own, holds its codec under the name CODEC. A
folder without one is a family (`chat`, `ai_sdk`) or what all of them share (`shared`). Nothing else
has to be told about a new wire.
"""

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType

from .. import formats
from ..model.ids import CANONICAL_PREFIX, with_prefix
from .shared.codec import Assigned, Codec, IdRules, Prefixed

_THIS = __name__.rpartition(".")[2]


def _found() -> Iterator[tuple[str, Codec]]:
    for name, is_folder in sorted(
        (one.name, one.ispkg) for one in pkgutil.iter_modules(formats.__path__)
    ):
        if name == _THIS:
            continue
        codec = getattr(import_module(f"{formats.__name__}.{name}"), "CODEC", None)
        if isinstance(codec, Codec):
            yield name.replace("_", "-"), codec
        elif codec is not None or not is_folder:
            raise TypeError(f"app/formats/{name} has no codec under the name CODEC")


CODECS: Mapping[str, Codec] = MappingProxyType(dict(_found()))
TARGETS: tuple[str, ...] = tuple(CODECS)
NICKNAMES: Mapping[str, tuple[str, ...]] = {name: one.nicknames for name, one in CODECS.items()}
_PREFIXES = {codec.ids.prefix for codec in CODECS.values() if isinstance(codec.ids, Prefixed)}
ID_RULES = IdRules(
    {target: codec.ids for target, codec in CODECS.items() if isinstance(codec.ids, Assigned)},
    tuple(sorted(_PREFIXES - {CANONICAL_PREFIX})),
)


def provider_id(target: str, canonical: str, assigned: Mapping[str, str]) -> str:
    """The provider id of a call on a target. `assigned`: what the mapping table holds for it."""
    rule = CODECS[target].ids
    if isinstance(rule, Prefixed):
        return with_prefix(canonical, rule.prefix)
    # A call that was stored before the wire existed has no id of it yet.
    return assigned.get(target) or canonical
