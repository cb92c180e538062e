"""Reads botocore's service models as shapes."""

from __future__ import annotations

from typing import Any

from tests.home.shapes import ANY, Kind, Shape

_SCALARS = {
    "string": "string",
    # Bytes travel as base64.
    "blob": "string",
    "boolean": "boolean",
    "integer": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
}


class ServiceModelReader:
    """Reads the shapes of one service; each structure is one kind."""

    def __init__(self) -> None:
        self.kinds: dict[str, Kind] = {}

    def shape(self, model: Any) -> Shape:
        if getattr(model, "is_document_type", False):
            # The API: "Provide a json object for the field and try again."
            return Shape(values=ANY)
        match model.type_name:
            case "structure":
                return Shape(kinds=(self._kind(model),))
            case "list":
                return Shape(items=self.shape(model.member))
            case "map":
                return Shape(values=self.shape(model.value))
            case scalar if words := model.metadata.get("enum"):
                return Shape(literals=tuple(words))
            case scalar:
                limits = model.metadata if scalar == "string" else {}
                least = "(?s:.+)" if limits.get("min", 0) > 0 else ""
                pattern = limits.get("pattern", least)
                return Shape(scalars=frozenset({_SCALARS[scalar]}), pattern=pattern)

    def _kind(self, model: Any) -> Kind:
        if model.name not in self.kinds:
            self.kinds[model.name] = kind = Kind(model.name, "bedrock")
            kind.required = frozenset(model.required_members)
            members = model.members.items()
            kind.members = {name: self.shape(each) for name, each in members}
            if getattr(model, "is_tagged_union", False):
                kind.one_of = frozenset(kind.members)
        return self.kinds[model.name]
