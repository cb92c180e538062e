"""The kinds of session files that can be read, found by name: a module with IMPORTER is one.

A new kind is one file here. Everything else is a list of messages (`lists`), or has a message on
every line (`message_lines`).
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


def importer_of(first: Json) -> Importer | None:
    """The importer of a file that begins with this line, if it is a session file."""
    if not isinstance(first, dict):
        return None
    return next((one for one in IMPORTERS.values() if one.recognises(first)), None)


def kind_of(first: Json) -> Kind | Importer:
    """What kind of file begins with this line."""
    return importer_of(first) or plain_kind(first)
