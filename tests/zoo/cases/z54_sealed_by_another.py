"""Encrypted reasoning that another organisation, key or deployment sealed."""

from tests.zoo.expecting import Expect, variant
from tests.zoo.spoken import Body, items, neutral, rounds

TITLE = "encrypted reasoning cannot be verified"
TARGETS = ("openai-responses", "openai", "anthropic", "kimi")
WIRE = "openai-responses"


def told(sealed: str, **envelope: object) -> Body:
    return (
        items(
            WIRE,
            {"role": "user", "content": "read the letter"},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "old ink"}],
                "encrypted_content": sealed,
            },
            {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "Dear friend"},
        )
        | envelope
    )


AWAY = Expect(
    reports=("THINKING_DROPPED x1",),
    raw_hides=("gAAA", "encrypted_content"),
    pairs=[("read", "Dear friend")],
)

VARIANTS = [
    variant("by azure", told("gAAA-azure", provider="azure", format=WIRE), AWAY),
    variant(
        "by another model", told("gAAA-five", model="gpt-five"), AWAY, options={"model": "gpt-six"}
    ),
    variant(
        "by a proxy, after a healthy history",
        [neutral(*rounds(1)), told("gAAA-proxy", provider="proxy:eu", format=WIRE)],
        Expect(
            reports=("THINKING_DROPPED x1",),
            raw_hides=("gAAA",),
            pairs=[("look_up", "entry of <0>"), ("read", "Dear friend")],
        ),
    ),
    variant("the way out always works", told("gAAA-own"), AWAY, options={"reasoning": "drop"}),
    variant(
        "by the reader itself",
        told("gAAA-own", model="gpt-five"),
        Expect(on=(WIRE,), raw_shows=("gAAA-own",), never=("THINKING_DROPPED",)),
        Expect(on=("openai", "anthropic", "kimi"), raw_hides=("gAAA-own",)),
        options={"model": "gpt-five"},
    ),
    variant(
        "as words where it cannot be verified",
        told("gAAA-azure", provider="azure", format=WIRE),
        Expect(
            reports=("THINKING_AS_TEXT x1",), raw_hides=("gAAA",), shows=("[turnkeep]", "old ink")
        ),
        options={"reasoning": "text"},
    ),
]
