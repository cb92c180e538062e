"""A signature that another model, provider or account issued."""

from tests.zoo.expecting import ALL, Expect, variant
from tests.zoo.spoken import (
    ai,
    call,
    claude,
    human,
    items,
    neutral,
    result,
    rounds,
    signed,
    thinking,
    tool,
    tool_result,
    tool_use,
)

TITLE = "a signature belongs to another model"
TARGETS = ALL
OTHERS = tuple(target for target in ALL if target != "anthropic")

VARIANTS = [
    variant(
        "the model was changed",
        neutral(
            human("sail"),
            ai(
                thinking(
                    "wind from west", signature="SIG-west", provider="anthropic", model="opus"
                ),
                call("toolu_1", "sail"),
            ),
            tool(result("toolu_1", "under sail")),
            human("go on with the other model"),
        ),
        Expect(
            reports=("THINKING_DROPPED x1",),
            raw_hides=("SIG-west",),
            hides=("wind from west",),
            pairs=[("sail", "under sail")],
        ),
        options={"model": "sonnet"},
    ),
    variant(
        "the model is the same",
        neutral(
            human("reef"),
            ai(
                thinking("a squall", signature="SIG-squall", provider="anthropic", model="opus"),
                call("toolu_2", "reef"),
            ),
            tool(result("toolu_2", "reefed")),
        ),
        Expect(on=("anthropic",), raw_shows=("SIG-squall",), never=("THINKING_DROPPED",)),
        Expect(on=OTHERS, raw_hides=("SIG-squall",), reports=("THINKING_DROPPED x1",)),
        options={"model": "opus"},
    ),
    variant(
        "as words, for those who want them",
        claude(
            ("user", "anchor"),
            ("assistant", [signed("sandy ground", "SIG-sand"), tool_use("toolu_3", "anchor")]),
            ("user", tool_result("toolu_3", "anchor holds")),
        ),
        Expect(
            on=OTHERS,
            reports=("THINKING_AS_TEXT x1",),
            shows=("[turnkeep]", "sandy ground"),
            raw_hides=("SIG-sand",),
        ),
        Expect(on=("anthropic",), raw_shows=("SIG-sand",)),
        options={"reasoning": "text"},
    ),
    variant(
        "the same vendor behind another door",
        [
            neutral(*rounds(1)),
            items(
                "bedrock",
                {"role": "user", "content": [{"text": "tack"}]},
                {
                    "role": "assistant",
                    "content": [
                        {
                            "reasoningContent": {
                                "reasoningText": {"text": "now!", "signature": "SIG-now"}
                            }
                        },
                        {"toolUse": {"toolUseId": "tooluse_t", "name": "tack", "input": {}}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"toolResult": {"toolUseId": "tooluse_t", "content": [{"text": "tacked"}]}}
                    ],
                },
            ),
        ],
        Expect(on=("bedrock",), raw_shows=("SIG-now",), never=("THINKING_DROPPED",)),
        Expect(
            on=tuple(target for target in ALL if target != "bedrock"),
            raw_hides=("SIG-now",),
            reports=("THINKING_DROPPED x1",),
        ),
    ),
    variant(
        "a gemini model's signature is not another gemini model's",
        items(
            "gemini",
            {"role": "user", "parts": [{"text": "moor"}]},
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"name": "moor", "args": {}},
                        "thoughtSignature": "U0lHLW9mLTMtcHJv",
                    }
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "moor", "response": {"result": "moored"}}}],
            },
            model="gemini-3-pro",
        ),
        Expect(raw_hides=("U0lHLW9mLTMtcHJv",), pairs=[("moor", "moored")]),
        Expect(on=("gemini",), reports=("SIGNATURE_PLACEHOLDER x1",)),
        options={"model": "gemini-3-flash"},
    ),
    variant(
        "somebody else speaks anthropic's shape",
        claude(
            ("user", "land"),
            ("assistant", [signed("the pier", "SIG-pier"), tool_use("toolu_4", "land")]),
            ("user", tool_result("toolu_4", "landed")),
        )
        | {"provider": "some-gateway", "format": "anthropic"},
        Expect(reports=("THINKING_DROPPED x1",), raw_hides=("SIG-pier",)),
    ),
]
