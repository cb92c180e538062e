"""Reads the AI SDK's JSON schemas as shapes."""

from __future__ import annotations

import json
from functools import reduce
from operator import or_
from typing import Any

from tests.home.shapes import ANY, NULL, Kind, Shape

# Members that the SDK's own types (its .d.ts files) have and its schemas forget.
FORGOTTEN: dict[str, dict[str, dict[str, Any]]] = {
    "vercel": {"tool-approval-response": {"providerExecuted": {"type": "boolean"}}},
    "vercel-v4": {
        "reasoning": {"signature": {"type": "string"}},
        "tool-result": {"experimental_content": {}},
    },
}


class SchemaReader:
    """Reads one schema; equal objects in it are one kind."""

    def __init__(self, forgotten: dict[str, dict[str, Any]]) -> None:
        self.forgotten = forgotten
        self.kinds: dict[str, Kind] = {}

    def shape(self, schema: dict[str, Any], name: str = "message") -> Shape:
        """`name`: the member that has this schema."""
        if alternatives := schema.get("anyOf"):
            # An empty one is for what JSON cannot hold.
            return reduce(or_, [self.shape(one, name) for one in alternatives if one])
        if "const" in schema or "enum" in schema:
            return Shape(literals=tuple(schema.get("enum", [schema.get("const")])))
        match schema.get("type"):
            case "object" if "properties" in schema:
                return Shape(kinds=(self._kind(schema, name),))
            case "object":
                return Shape(values=self.shape(schema.get("additionalProperties", {}), name))
            case "array":
                return Shape(items=self.shape(schema["items"], name))
            case "null":
                return NULL
            case str(scalar):
                return Shape(scalars=frozenset({scalar}))
            case _:
                return ANY

    def _kind(self, schema: dict[str, Any], name: str) -> Kind:
        text = json.dumps(schema, sort_keys=True)
        if text not in self.kinds:
            members = schema["properties"]
            tag = members.get("type") or members.get("role") or {}
            word = tag.get("const", name)
            self.kinds[text] = kind = Kind(word, name)
            members = members | self.forgotten.get(word, {})
            kind.required = frozenset(schema.get("required", ()))
            kind.members = {member: self.shape(each, member) for member, each in members.items()}
        return self.kinds[text]
