"""Instances of an SDK's input types: every kind, with every optional member.

Each kind is built once with all its members, and once more for each other alternative of a member.
Texts are unique, so that a value that moved or vanished is found.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.home.shapes import Kind, Shape

# One pixel.
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\4\0\0\0\xb5\x1c\x0c\2\0\0\0\x0bIDATx\xdac"
    b"d`\xf8_\x0f\0\2\x87\1\x80\xebG\xba\x92\0\0\0\0IEND\xaeB`\x82"
).decode()
CALL_IDS = ("call_id", "tool_call_id", "tool_use_id", "toolUseId", "toolCallId")
# The id that all calls and results of an instance have.
CALL_ID = "Ab3dE6gH9"
TOOL = "weather"
_WORDS = {
    **dict.fromkeys(CALL_IDS, CALL_ID),
    **dict.fromkeys(("tool_name", "toolName"), TOOL),
    **dict.fromkeys(("media_type", "mediaType", "mimeType", "mime_type"), "image/png"),
    "arguments": '{"city": "Paris"}',
    "bucketOwner": "123456789012",
}
PDF = base64.b64encode(b"%PDF-1.4 a page").decode()
_BASE64 = ("data", "file_data", "bytes", "image_bytes", "signature", "thought_signature")
_MEDIA = ("data", "file_data", "bytes", "image_bytes")
_URLS = ("url", "uri", "file_url", "image_url", "document_url", "fileUri", "file_uri", "image")


@dataclass(frozen=True)
class Instance:
    """`label`: which alternative was taken where."""

    label: str
    value: dict[str, Any]


@dataclass
class Builder:
    """Builds values of shapes. `expanded`: the kinds whose alternatives were built already."""

    expanded: set[Kind] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def instances(self, shape: Shape) -> Iterator[Instance]:
        for label, value in self._alternatives(shape, "message", "", ()):
            if isinstance(value, dict):
                yield Instance(label, value)

    def default(self, kind: Kind, above: tuple[Kind, ...] = ()) -> dict[str, Any]:
        """An instance with every member; inside itself, a kind has only what it must."""
        names = [name for name in kind.members if kind not in above or name in kind.required]
        if kind.one_of:
            first = next(name for name in kind.members if name in kind.one_of)
            names = [name for name in names if name not in kind.one_of or name == first]
        return self._with(kind, names, above)

    def _with(self, kind: Kind, names: list[str], above: tuple[Kind, ...]) -> dict[str, Any]:
        return {name: self._first(kind, name, above) for name in names}

    def _first(self, kind: Kind, name: str, above: tuple[Kind, ...]) -> Any:
        label = f"{kind.name}.{name}"
        quiet = Builder(set(self.expanded), self.numbers)
        shape = kind.members[name]
        if kind in above and not shape.literals and not shape.scalars and shape.items:
            return []
        return quiet._only_first(shape, name, label, (*above, kind))

    def _only_first(self, shape: Shape, name: str, label: str, above: tuple[Kind, ...]) -> Any:
        if shape.literals:
            return _literal(shape)
        if shape.kinds:
            kind = next((one for one in shape.kinds if one not in above), shape.kinds[0])
            return self.default(kind, above)
        return next(self._alternatives(shape, name, label, above))[1]

    def _alternatives(
        self, shape: Shape, name: str, label: str, above: tuple[Kind, ...]
    ) -> Iterator[tuple[str, Any]]:
        """What the shape accepts, each with a label; the first is the one of other instances."""
        if shape.any:
            is_text = name in _URLS or name in _BASE64
            yield (
                f"{label} any",
                self._text(name, above) if is_text else {"city": self._marker(name)},
            )
            return
        words = shape.literals if name == "role" else shape.literals[:1] and [_literal(shape)]
        for word in words:
            yield f"{label} {word}", word
        for kind in shape.kinds:
            yield from self._of_kind(kind, f"{label} {kind.name}", above)
        if shape.items:
            for inner, value in self._alternatives(shape.items, name, f"{label}[]", above):
                yield inner, [value]
        if shape.values:
            value = self._only_first(shape.values, name, label, above)
            yield f"{label} values", {"example": value}
        if shape.scalars and not shape.literals:
            yield f"{label} {min(shape.scalars)}", self._scalar(shape, name, above)
        if shape.null:
            yield f"{label} null", None

    def _of_kind(
        self, kind: Kind, label: str, above: tuple[Kind, ...]
    ) -> Iterator[tuple[str, Any]]:
        base = self.default(kind, above)
        yield label, base
        if kind in self.expanded or kind in above:
            return
        self.expanded.add(kind)
        for name, shape in kind.members.items():
            others = {key: value for key, value in base.items() if key not in kind.one_of}
            rest = others if name in kind.one_of else base
            inner = self._alternatives(shape, name, f"{label}.{name}", (*above, kind))
            for place, (inner_label, value) in enumerate(inner):
                if place or name not in base:
                    yield inner_label, self._in_order(kind, rest | {name: value})

    def _in_order(self, kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
        return {name: value[name] for name in kind.members if name in value}

    def _scalar(self, shape: Shape, name: str, above: tuple[Kind, ...]) -> Any:
        if "string" in shape.scalars:
            return self._text(name, above)
        if "boolean" in shape.scalars:
            return True
        return 7 if "integer" in shape.scalars else 0.5

    def _text(self, name: str, above: tuple[Kind, ...]) -> str:
        if name in _WORDS:
            return _WORDS[name]
        if name in _BASE64:
            if name not in _MEDIA:
                return base64.b64encode(self._marker(name).encode()).decode()
            if name == "file_data":
                return f"data:application/pdf;base64,{PDF}"
            return (
                PDF if any("Document" in kind.name or "PDF" in kind.name for kind in above) else PNG
            )
        if name in _URLS:
            bucket = above and above[-1].name == "S3Location"
            address = "s3://a-bucket" if bucket else "https://example.com"
            return f"{address}/{self._marker(name)}.png"
        if name == "name" and any("all" in kind.name or "Use" in kind.name for kind in above):
            return TOOL
        return self._marker(name)

    def _marker(self, name: str) -> str:
        return f"{name}-{next(self.numbers)}"


def _literal(shape: Shape) -> object:
    """The word that is usual, where there are several."""
    usual = ("completed", "image/png", "png", "user")
    return next((word for word in usual if word in shape.literals), shape.literals[0])
