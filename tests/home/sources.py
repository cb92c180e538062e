"""The input types of each format: where its SDK has them."""

from __future__ import annotations

from collections.abc import Callable

from anthropic.types.beta import BetaMessageParam, BetaTextBlockParam
from openai.types.responses import ResponseInputItemParam

from tests.home.python_types import shape_of
from tests.home.shapes import Shape

Roots = dict[str, Shape]
_TEXT = Shape(scalars=frozenset({"string"}))


def _anthropic() -> Roots:
    # The beta's types have all kinds and members of the others (`test_inputs.py`).
    return {
        "message": shape_of(BetaMessageParam),
        "system": _TEXT | Shape(items=shape_of(BetaTextBlockParam)),
    }


def _openai_responses() -> Roots:
    return {"message": shape_of(ResponseInputItemParam)}


SOURCES: dict[str, Callable[[], Roots]] = {
    "anthropic": _anthropic,
    "openai-responses": _openai_responses,
}
