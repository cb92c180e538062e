"""The kinds of session files that can be read, found by name: a module with IMPORTER is one.

A new kind is one file here. Everything else is a list of messages, or has a message on every line
(`lists`).
"""

import pkgutil
from importlib import import_module
from types import MappingProxyType

import app.importers as package
from app.core.json.text import Json
from app.importers.detecting import Kind, plain_kind
from app.importers.histories import Importer


def _found() -> dict[str, Importer]:
    modules = (
        import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
        if f"{package.__name__}.{module.name}" != __name__
    )
    found = [getattr(module, "IMPORTER", None) for module in modules]
    return {one.name: one for one in found if isinstance(one, Importer)}


IMPORTERS = MappingProxyType(_found())


def kind_of(first: Json) -> Kind | Importer:
    """What kind of file begins with this line: a session file has its importer."""
    for importer in IMPORTERS.values():
        if isinstance(first, dict) and importer.recognises(first):
            return importer
    return plain_kind(first)
