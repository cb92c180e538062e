"""A tool round is open whose thinking was lost, or was somebody else's, or is not wanted."""

from collections.abc import Sequence

from tests.zoo.expecting import Expect, Seen, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    claude,
    function,
    human,
    neutral,
    result,
    rounds,
    signed,
    thinking,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "an open tool round has no thinking"
TARGETS = ("anthropic", "bedrock", "openai", "mistral")
THINKERS = ("anthropic", "bedrock")


def no_thinking(seen: Seen) -> Sequence[str]:
    kinds = ("thinking", "reasoningContent", "reasoning_content")
    raw = seen.render.raw.decode()
    return [f"{kind} is there" for kind in kinds if f'"{kind}"' in raw]


VARIANTS = [
    variant(
        "begun by another provider",
        chat(
            user("tune the organ"),
            assistant("", function("call_1", "tune")),
            answer("call_1", "tuned to a"),
        ),
        Expect(on=THINKERS, reports=("THINKING_UNAVAILABLE x1",), also=no_thinking),
        Expect(on=("openai", "mistral"), never=("THINKING_UNAVAILABLE",)),
        Expect(pairs=[("tune", "tuned to a")]),
    ),
    variant(
        "begun by another, and closed",
        neutral(
            human("play a fugue"), ai(call("f", "play")), tool(result("f", "played")), ai("Done.")
        ),
        Expect(never=("THINKING_UNAVAILABLE",), pairs=[("play", "played")]),
    ),
    variant(
        "another provider's thinking, after a healthy history",
        neutral(
            *rounds(1),
            human("pull a stop"),
            ai(
                thinking("which stop?", native={"reasoning_content": "which stop?"}, wire="chat"),
                call("s", "pull"),
                provider="deepseek",
            ),
            tool(result("s", "flute stop pulled")),
        ),
        Expect(
            on=THINKERS,
            reports=("THINKING_UNAVAILABLE x1", "THINKING_DROPPED x1"),
            hides=("which stop?",),
            also=no_thinking,
        ),
        Expect(pairs=[("look_up", "entry of <0>"), ("pull", "flute stop pulled")]),
    ),
    variant(
        "its own thinking is there",
        claude(
            ("user", "and the pedals?"),
            ("assistant", [signed("check pedals", "SIG-p"), tool_use("toolu_p", "pedals")]),
            ("user", tool_result("toolu_p", "pedals creak")),
        ),
        Expect(on=("anthropic",), never=("THINKING_UNAVAILABLE",), raw_shows=("SIG-p",)),
        Expect(on=("bedrock",), reports=("THINKING_UNAVAILABLE x1",)),
        Expect(pairs=[("pedals", "pedals creak")]),
    ),
    variant(
        "thinking is not wanted",
        claude(
            ("user", "and the bellows?"),
            ("assistant", [signed("air first", "SIG-a"), tool_use("toolu_b", "bellows")]),
            ("user", tool_result("toolu_b", "bellows full")),
            ("assistant", [signed("good", "SIG-g"), {"type": "text", "text": "Ready to play."}]),
        ),
        Expect(
            reports=("THINKING_DROPPED x2",),
            raw_hides=("SIG-",),
            pairs=[("bellows", "bellows full")],
            shows=("Ready to play.",),
            also=no_thinking,
        ),
        options={"reasoning": "drop"},
    ),
]
