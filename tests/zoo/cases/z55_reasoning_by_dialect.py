"""Plain reasoning must come back to some providers and may not reach others."""

from collections.abc import Callable, Sequence

from tests.zoo.expecting import Expect, Seen, variant
from tests.zoo.spoken import (
    answer,
    assistant,
    chat,
    claude,
    function,
    neutral,
    rounds,
    signed,
    tool_result,
    tool_use,
    user,
)

TITLE = "reasoning is demanded here and refused there"
TARGETS = ("deepseek", "kimi", "openai", "mistral", "qwen", "anthropic")
THINKING = ("deepseek", "kimi")
SILENT = ("openai", "mistral", "qwen", "anthropic")


def reasons(*wanted: str | None) -> Callable[[Seen], Sequence[str]]:
    """What stands as reasoning on the model's messages, in order."""

    def compared(seen: Seen) -> Sequence[str]:
        spoken = [message for message in seen.messages if message["role"] == "assistant"]
        found = [message.get("reasoning_content") for message in spoken]
        return [] if found == list(wanted) else [f"the reasoning is {found}"]

    return compared


def told(provider: str, key: str = "reasoning_content") -> list[dict[str, object]]:
    return [
        user("solve it"),
        assistant("", function("call_1", "solve"), **{key: f"{provider} needs solve"}),
        answer("call_1", "x is 4"),
        assistant("Four.", **{key: f"{provider} is sure"}),
        user("thanks"),
    ]


NOT_HERE = Expect(on=SILENT, raw_hides=("reasoning_content", "needs solve"))

VARIANTS = [
    variant(
        "deepseek's own",
        chat(*told("deepseek"), provider="deepseek"),
        NOT_HERE,
        Expect(on=("deepseek",), also=reasons("deepseek needs solve", "deepseek is sure")),
        # Kimi did not think this; it wants the member all the same.
        Expect(on=("kimi",), also=reasons("", ""), reports=("THINKING_DROPPED x2",)),
        Expect(pairs=[("solve", "x is 4")]),
    ),
    variant(
        "kimi's own, for its thinking model",
        chat(*told("kimi"), provider="kimi"),
        Expect(on=("kimi",), also=reasons("kimi needs solve", "kimi is sure")),
        Expect(on=("deepseek",), also=reasons("", "")),
        NOT_HERE,
        options={"model": "kimi-k2-thinking"},
    ),
    variant(
        "under its other name",
        chat(*told("deepseek", "reasoning"), provider="deepseek"),
        Expect(on=("deepseek",), also=reasons("deepseek needs solve", "deepseek is sure")),
        NOT_HERE,
        options={"model": "deepseek-reasoner"},
    ),
    variant(
        "nobody thought, and thinking is demanded",
        neutral(*rounds(2)),
        Expect(on=THINKING, also=reasons("", "", "", "")),
        Expect(on=SILENT, raw_hides=("reasoning_content",)),
        Expect(never=("THINKING_DROPPED",)),
    ),
    variant(
        "not wanted",
        chat(*told("deepseek"), provider="deepseek"),
        Expect(
            reports=("THINKING_DROPPED x2",),
            raw_hides=("reasoning_content", "needs solve"),
            pairs=[("solve", "x is 4")],
        ),
        options={"reasoning": "drop"},
    ),
    variant(
        "from a provider that signs",
        claude(
            ("user", "prove it"),
            ("assistant", [signed("by induction", "SIG-i"), tool_use("toolu_1", "prove")]),
            ("user", tool_result("toolu_1", "proved")),
        ),
        Expect(
            on=THINKING, also=reasons(""), reports=("THINKING_DROPPED x1",), raw_hides=("SIG-i",)
        ),
        Expect(on=("anthropic",), raw_shows=("SIG-i",)),
        Expect(on=("openai", "mistral", "qwen"), raw_hides=("SIG-i", "by induction")),
    ),
]
