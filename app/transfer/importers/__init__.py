"""Files that hold whole histories: one module per kind of file, each from lines to histories.

`lists` reads what people write down themselves (message lists, fine-tuning lines, requests, our own
export). A module with IMPORTER reads the session files of one program and is found by itself, so
another kind is one more module. Everything here is pure: lines in, values out; what cannot be read
is named with its line and does not stop the rest.
"""

import pkgutil
from importlib import import_module
from types import MappingProxyType

from ...model.json_values import Json
from .detecting import Kind, plain_kind
from .histories import Importer


def _found() -> dict[str, Importer]:
    modules = (import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__))
    found = [getattr(module, "IMPORTER", None) for module in modules]
    return {one.name: one for one in found if isinstance(one, Importer)}


IMPORTERS = MappingProxyType(_found())


def kind_of(first: Json) -> Kind | Importer:
    """What kind of file begins with this line: a session file has its importer, the first in the
    order of the modules' names that recognises it."""
    told = (one for one in IMPORTERS.values() if isinstance(first, dict) and one.recognises(first))
    return next(told, None) or plain_kind(first)
