"""Histories that were stored in the shape of another version or another API."""

from collections.abc import Sequence
from typing import Any

from tests.zoo.expecting import ALL, UNKNOWN, Expect, Refused, Seen, variant
from tests.zoo.spoken import (
    GREEN,
    answer,
    assistant,
    chat,
    function,
    items,
    neutral,
    png,
    rounds,
    user,
)

TITLE = "shapes of other versions"
TARGETS = ALL


def keys(*wanted: str) -> Expect:
    """The parts of calls and results carry the version's own names."""

    def found(seen: Seen) -> Sequence[str]:
        parts: list[Any] = [
            part
            for message in seen.messages
            if isinstance(message["content"], list)
            for part in message["content"]
            if part["type"] in ("tool-call", "tool-result")
        ]
        shown = sorted({key for part in parts for key in part if key in NAMES})
        return [] if shown == sorted(wanted) else [f"the names are {shown}"]

    return Expect(on=("vercel-v4",) if "args" in wanted else ("vercel",), also=found)


NAMES = ("args", "input", "result", "output")
V4, V5 = keys("args", "result"), keys("input", "output")

VARIANTS = [
    variant(
        "stored messages of SDK 4, with invocations",
        items(
            "vercel-v4",
            {"role": "user", "content": "carve"},
            {
                "role": "assistant",
                "content": "",
                "toolInvocations": [
                    {
                        "state": "result",
                        "toolCallId": "c1",
                        "toolName": "carve",
                        "args": {"wood": "lime"},
                        "result": "a spoon",
                    },
                    {"state": "call", "toolCallId": "c2", "toolName": "sand", "args": {}},
                ],
            },
        ),
        V4,
        V5,
        Expect(
            pairs=[("carve", "a spoon"), ("sand", UNKNOWN)],
            arguments=[{"wood": "lime"}, {}],
            reports=("SYNTH_RESULT x1",),
        ),
    ),
    variant(
        "stored messages of SDK 5, with parts",
        items(
            "vercel",
            {"role": "user", "parts": [{"type": "text", "text": "polish"}]},
            {
                "role": "assistant",
                "parts": [
                    {"type": "step-start"},
                    {"type": "text", "text": "Polishing."},
                    {
                        "type": "tool-polish",
                        "toolCallId": "p1",
                        "state": "output-available",
                        "input": {"wax": True},
                        "output": {"shine": "high gloss"},
                    },
                    {
                        "type": "dynamic-tool",
                        "toolName": "buff",
                        "toolCallId": "p2",
                        "state": "output-error",
                        "input": {},
                        "errorText": "cloth is missing",
                    },
                ],
            },
        ),
        V4,
        V5,
        Expect(
            pairs=[("polish", "high gloss"), ("buff", "cloth is missing")],
            arguments=[{"wax": True}, {}],
            failed=(False, True),
        ),
    ),
    variant(
        "model messages of both versions in one history",
        [
            items(
                "vercel-v4",
                {"role": "user", "content": [{"type": "text", "text": "stain"}]},
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool-call",
                            "toolCallId": "s1",
                            "toolName": "stain",
                            "args": {"n": 1},
                        }
                    ],
                },
                {
                    "role": "tool",
                    "content": [
                        {
                            "type": "tool-result",
                            "toolCallId": "s1",
                            "toolName": "stain",
                            "result": "walnut",
                            "isError": False,
                        }
                    ],
                },
            ),
            items(
                "vercel",
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool-call",
                            "toolCallId": "s2",
                            "toolName": "stain",
                            "input": {"n": 2},
                        }
                    ],
                },
                {
                    "role": "tool",
                    "content": [
                        {
                            "type": "tool-result",
                            "toolCallId": "s2",
                            "toolName": "stain",
                            "output": {"type": "error-text", "value": "tin is empty"},
                        }
                    ],
                },
            ),
        ],
        V4,
        V5,
        Expect(
            pairs=[("stain", "walnut"), ("stain", "tin is empty")],
            arguments=[{"n": 1}, {"n": 2}],
            failed=(False, True),
        ),
    ),
    variant(
        "chat messages shown as Responses items",
        chat(
            user("glue"),
            assistant("Gluing.", function("call_g", "glue")),
            answer("call_g", "glued fast"),
            assistant("Wait an hour."),
        ),
        Expect(
            on=("openai-responses",),
            raw_hides=('"role":"tool"',),
            raw_shows=("function_call_output",),
            roles=("user", "assistant", "assistant", "tool", "assistant"),
        ),
        Expect(pairs=[("glue", "glued fast")], order=("Gluing.", "glued fast", "Wait an hour.")),
    ),
    variant(
        "a denied call and a picture, after a healthy history",
        [
            neutral(*rounds(1)),
            items(
                "vercel",
                {
                    "role": "user",
                    "parts": [
                        {"type": "file", "mediaType": "image/png", "url": png(GREEN)},
                        {"type": "text", "text": "burn it?"},
                    ],
                },
                {
                    "role": "assistant",
                    "parts": [
                        {
                            "type": "tool-burn",
                            "toolCallId": "b1",
                            "state": "output-denied",
                            "input": {},
                            "approval": {"id": "a", "approved": False},
                        }
                    ],
                },
            ),
        ],
        Expect(
            pairs=[("look_up", "entry of <0>"), ("burn", "not run")],
            shows=("burn it?",),
            failed=(False, True),
        ),
        Expect(on=("openai", "anthropic", "vercel", "vercel-v4", "gemini"), once=(GREEN,)),
    ),
]

REFUSED = [
    Refused(
        "an unknown role", items("vercel", {"role": "narrator", "content": "x"}), "/messages/0/role"
    ),
    Refused(
        "a part without a type",
        items("vercel", {"role": "user", "content": [{"text": "x"}]}),
        "/messages/0/content/0/type",
    ),
]
