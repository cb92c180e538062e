"""The Converse service model as law: what botocore checks, and what it leaves unread.

botocore's validator knows types, required keys, unknown keys, unions and minima. Maximum,
pattern and enum stand in the same model and are applied here.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import botocore.session
from botocore.validate import ParamValidator


@cache
def _converse() -> Any:
    session = botocore.session.get_session()
    return session.get_service_model("bedrock-runtime").operation_model("Converse").input_shape


def shape_faults(request: dict[str, object]) -> list[str]:
    """What `client.converse(modelId=…, **request)` does not allow."""
    shape, whole = _converse(), {"modelId": "any", **request}
    report = ParamValidator().validate(whole, shape)
    found = report.generate_report().split("\n") if report.has_errors() else []
    return [
        *(f"botocore: {ascii(line)[1:-1]}" for line in found),
        *_limits(shape, whole, "request"),
    ]


def _limits(shape: Any, value: object, where: str) -> list[str]:
    """Walk model and value together; a value of the wrong type was botocore's to name."""
    if getattr(shape, "is_document_type", False):
        return []
    match shape.type_name, value:
        case "structure", dict():
            known = [(shape.members[key], key, each) for key, each in value.items()
                     if key in shape.members]  # fmt: skip
            return [f for s, key, each in known for f in _limits(s, each, f"{where}.{key}")]
        case "list", list():
            return _too_many(shape, value, where) + [
                fault
                for at, each in enumerate(value)
                for fault in _limits(shape.member, each, f"{where}[{at}]")
            ]
        case "string", str():
            return _too_many(shape, value, where) + _misspelt(shape, value, where)
        case _:
            return []


def _too_many(shape: Any, value: list[object] | str, where: str) -> list[str]:
    most = shape.metadata.get("max")
    if most is None or len(value) <= most:
        return []
    return [f"{where}: length {len(value)} is over {most} ({shape.name})"]


def _misspelt(shape: Any, value: str, where: str) -> list[str]:
    pattern, words = shape.metadata.get("pattern"), shape.metadata.get("enum")
    if pattern and not re.fullmatch(pattern, value):
        return [f"{where}: {value!a} does not match {pattern} ({shape.name})"]
    if words and value not in words:
        return [f"{where}: {value!a} is none of {words} ({shape.name})"]
    return []
