"""Marks for the prompt cache pile up in what is stored."""

from tests.zoo.expecting import Expect, variant
from tests.zoo.spoken import claude, items, neutral, rounds, text, tool_result, tool_use

TITLE = "cache marks pile up"
TARGETS = ("anthropic", "bedrock", "openai", "gemini")
MARK = {"cache_control": {"type": "ephemeral"}}
UNMARKED = Expect(raw_hides=("cache_control", "cachePoint", "ephemeral"))

VARIANTS = [
    variant(
        "on every user message",
        claude(
            *(
                message
                for day in range(6)
                for message in (
                    ("user", [text(f"entry of day {day}") | MARK]),
                    ("assistant", [text(f"noted day {day}")]),
                )
            ),
        ),
        UNMARKED,
        Expect(shows=("entry of day 0", "noted day 5")),
    ),
    variant(
        "on calls, results and what results hold",
        claude(
            ("user", [text("balance") | MARK]),
            ("assistant", [text("Adding up.") | MARK, tool_use("toolu_1", "add") | MARK]),
            (
                "user",
                [
                    tool_result("toolu_1", [text("sum is 12") | MARK], **MARK),
                    text("and the tax?") | MARK,
                ],
            ),
        ),
        UNMARKED,
        Expect(pairs=[("add", "sum is 12")], shows=("and the tax?",)),
    ),
    variant(
        "on the system prompt",
        [
            claude(
                ("user", [text("hello") | MARK]),
                system=[text("rule one") | MARK, text("rule two") | MARK],
            ),
            neutral(*rounds(1)),
        ],
        UNMARKED,
        Expect(order=("rule one", "rule two", "hello")),
    ),
    variant(
        "bedrock's own marks",
        items(
            "bedrock",
            {"role": "user", "content": [{"text": "audit"}, {"cachePoint": {"type": "default"}}]},
            {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "t1", "name": "audit", "input": {}}},
                    {"cachePoint": {"type": "default"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "t1", "content": [{"text": "no errors"}]}},
                    {"cachePoint": {"type": "default"}},
                ],
            },
        ),
        UNMARKED,
        Expect(pairs=[("audit", "no errors")]),
    ),
]
