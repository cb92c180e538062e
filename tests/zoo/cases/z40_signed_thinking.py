"""Signed thinking goes back as it came: every block, every byte, every place; or not at all."""

import json
from collections.abc import Callable, Sequence

from tests.zoo.expecting import Expect, Seen, variant
from tests.zoo.spoken import (
    claude,
    items,
    neutral,
    rounds,
    signed,
    text,
    tool_result,
    tool_use,
    verbatim,
)

TITLE = "signed thinking is changed on its way"
TARGETS = ("anthropic", "bedrock", "openai", "kimi")


def same_blocks(place: int, *kinds: str) -> Callable[[Seen], Sequence[str]]:
    """The message at `place` has blocks of these kinds, in this order."""

    def compared(seen: Seen) -> Sequence[str]:
        content = seen.messages[place]["content"]
        found = [str(block.get("type", next(iter(block)))) for block in content]
        return [] if found == list(kinds) else [f"the blocks are {found}"]

    return compared


NOWHERE_ELSE = Expect(on=("openai", "kimi", "bedrock"), raw_hides=("SIG-",))
REDACTED = {"type": "redacted_thinking", "data": "SIG-sealed=="}

VARIANTS = [
    variant(
        "between calls, one of them without words",
        verbatim(
            """{"provider": "anthropic", "model": "claude-a", "messages": [
            {"role": "user", "content": "plan the bridge"},
            {"role": "assistant", "content": [
              {"type": "thinking", "thinking": "span first", "signature": "SIG-1"},
              {"type": "tool_use", "id": "toolu_1", "name": "span", "input": {"b": 1, "a": 1.0}},
              {"type": "thinking", "thinking": "", "signature": "SIG-2"},
              {"type": "tool_use", "id": "toolu_2", "name": "load", "input": {"z": 1e2, "m": -0.0}}
            ]},
            {"role": "user", "content": [
              {"type": "tool_result", "tool_use_id": "toolu_1", "content": "forty metres"},
              {"type": "tool_result", "tool_use_id": "toolu_2", "content": "nine tons"}]}]}"""
        ),
        NOWHERE_ELSE,
        Expect(pairs=[("span", "forty metres"), ("load", "nine tons")]),
        Expect(
            on=("anthropic",),
            never=("THINKING_DROPPED", "TOOLUSE_MOVED_LAST"),
            raw_shows=(
                '{"type":"thinking","thinking":"span first","signature":"SIG-1"}',
                '{"type":"thinking","thinking":"","signature":"SIG-2"}',
                '"input":{"b":1,"a":1.0}',
                '"input":{"z":1e2,"m":-0.0}',
            ),
            also=same_blocks(1, "thinking", "tool_use", "thinking", "tool_use"),
        ),
        Expect(on=("openai", "bedrock"), reports=("THINKING_DROPPED x2",)),
    ),
    variant(
        "sealed thinking and words beyond ASCII",
        claude(
            ("user", "draw the arch"),
            (
                "assistant",
                [
                    REDACTED,
                    signed("a keystone — naïve?", "SIG-k"),
                    text("An arch."),
                    tool_use("toolu_a", "arch"),
                ],
            ),
            ("user", tool_result("toolu_a", "arch drawn")),
        ),
        NOWHERE_ELSE,
        Expect(
            on=("anthropic",),
            never=("THINKING_DROPPED",),
            raw_shows=(
                json.dumps(REDACTED, separators=(",", ":")),
                '"thinking":"a keystone — naïve?","signature":"SIG-k"}',
            ),
            also=same_blocks(1, "redacted_thinking", "thinking", "text", "tool_use"),
        ),
    ),
    variant(
        "another model gets none of it",
        claude(
            ("user", "and the pillars?"),
            (
                "assistant",
                [signed("two pillars", "SIG-p"), REDACTED, tool_use("toolu_p", "pillar")],
            ),
            ("user", tool_result("toolu_p", "two stand")),
            model="claude-large",
        ),
        Expect(
            reports=("THINKING_DROPPED x2",),
            raw_hides=("SIG-", "two pillars"),
            pairs=[("pillar", "two stand")],
        ),
        options={"model": "claude-small"},
    ),
    variant(
        "the same model gets all of it",
        [
            neutral(*rounds(1)),
            claude(
                ("user", "and the rails?"),
                ("assistant", [signed("iron rails", "SIG-r"), tool_use("toolu_r", "rail")]),
                ("user", tool_result("toolu_r", "rails laid")),
                model="claude-large",
            ),
        ],
        NOWHERE_ELSE,
        Expect(
            on=("anthropic",),
            never=("THINKING_DROPPED",),
            raw_shows=("SIG-r",),
            shows=("iron rails",),
        ),
        options={"model": "claude-large"},
    ),
    variant(
        "nothing follows it in its turn",
        claude(
            ("user", "think it over"),
            ("assistant", [signed("hm", "SIG-h"), text("Well,"), signed("or not", "SIG-o")]),
            ("user", "so?"),
            ("assistant", [signed("only a thought", "SIG-x")]),
        ),
        NOWHERE_ELSE,
        # Of a message's thinking all is shown or none.
        Expect(reports=("THINKING_DROPPED x3",), raw_hides=("SIG-",), shows=("Well,", "so?")),
    ),
    variant(
        "bedrock shape",
        items(
            "bedrock",
            {"role": "user", "content": [{"text": "paint it"}]},
            {
                "role": "assistant",
                "content": [
                    {
                        "reasoningContent": {
                            "reasoningText": {"text": "green", "signature": "SIG-b"}
                        }
                    },
                    {
                        "toolUse": {
                            "toolUseId": "tooluse_1",
                            "name": "paint",
                            "input": {"b": 2, "a": 1},
                        }
                    },
                    {"text": "painting"},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "tooluse_1",
                            "content": [{"text": "paint is wet"}],
                        }
                    }
                ],
            },
        ),
        Expect(pairs=[("paint", "paint is wet")], shows=("painting",)),
        Expect(
            on=("bedrock",),
            raw_shows=(
                '{"reasoningContent":{"reasoningText":{"text":"green","signature":"SIG-b"}}}',
                '"input":{"b":2,"a":1}',
            ),
            also=same_blocks(1, "reasoningContent", "toolUse", "text"),
        ),
        Expect(on=("anthropic", "openai", "kimi"), raw_hides=("SIG-b",)),
    ),
]
