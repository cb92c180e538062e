"""Gemini's thought signatures: on exactly their part, and a bypass where there is none."""

from collections.abc import Sequence

from tests.zoo.expecting import Expect, Seen, variant
from tests.zoo.spoken import (
    answer,
    assistant,
    chat,
    claude,
    function,
    items,
    neutral,
    rounds,
    tool_result,
    tool_use,
    user,
)

TITLE = "thought signatures are lost"
TARGETS = ("gemini", "openai", "anthropic")
BYPASS = "skip_thought_signature_validator"
SIG_G = "R2VtaW5pLXNpZ25hdHVyZQ=="


def signatures(*wanted: str | None) -> Expect:
    def on_calls(seen: Seen) -> Sequence[str]:
        parts = [part for content in seen.messages for part in content["parts"]]
        found = [part.get("thought_signature") for part in parts if "function_call" in part]
        return [] if found == list(wanted) else [f"the signatures are {found}"]

    return Expect(on=("gemini",), also=on_calls)


def gemini(*parts_of: tuple[str, list[dict[str, object]]], **more: object) -> dict[str, object]:
    return items("gemini", *({"role": role, "parts": parts} for role, parts in parts_of), **more)


def asks(name: str, signature: str | None = None) -> dict[str, object]:
    part: dict[str, object] = {"functionCall": {"name": name, "args": {}}}
    return part | {"thoughtSignature": signature} if signature else part


def gives(name: str, said: str) -> dict[str, object]:
    return {"functionResponse": {"name": name, "response": {"result": said}}}


VARIANTS = [
    variant(
        "on the first of two calls",
        gemini(
            ("user", [{"text": "sort seeds"}]),
            ("model", [asks("sort", SIG_G), asks("count")]),
            ("user", [gives("sort", "sorted by size"), gives("count", "ninety")]),
        ),
        signatures(SIG_G, None),
        Expect(on=("openai", "anthropic"), raw_hides=(SIG_G, BYPASS)),
        Expect(on=("gemini",), never=("SIGNATURE_PLACEHOLDER",)),
        Expect(pairs=[("sort", "sorted by size"), ("count", "ninety")]),
    ),
    variant(
        "on the second call and on words",
        gemini(
            ("user", [{"text": "sow"}]),
            (
                "model",
                [
                    {"text": "In rows.", "thoughtSignature": "d29yZHM="},
                    asks("sow"),
                    asks("rake", SIG_G),
                ],
            ),
            ("user", [gives("sow", "sown"), gives("rake", "raked")]),
            ("model", [{"text": "All sown.", "thoughtSignature": "ZW5k"}]),
            ("user", [{"text": "water it"}]),
        ),
        Expect(on=("gemini",), raw_shows=("d29yZHM=", "ZW5k", SIG_G)),
        Expect(on=("openai", "anthropic"), raw_hides=("d29yZHM=", SIG_G)),
    ),
    variant(
        "calls of other models get the bypass, once a step",
        [
            chat(
                user("dig"),
                assistant("", function("call_1", "dig"), function("call_2", "dig")),
                answer("call_1", "hole one"),
                answer("call_2", "hole two"),
            ),
            claude(
                ("assistant", tool_use("toolu_1", "fill")),
                ("user", tool_result("toolu_1", "filled")),
            ),
        ],
        signatures(BYPASS, None, BYPASS),
        Expect(on=("gemini",), reports=("SIGNATURE_PLACEHOLDER x2",)),
        Expect(on=("openai", "anthropic"), raw_hides=(BYPASS,)),
        options={"model": "gemini-3-pro-preview"},
    ),
    variant(
        "models that check nothing get nothing",
        neutral(*rounds(2)),
        signatures(None, None),
        Expect(never=("SIGNATURE_PLACEHOLDER",), raw_hides=(BYPASS,)),
        options={"model": "gemini-2.5-flash"},
    ),
    variant(
        "own and foreign calls in one history",
        [
            neutral(*rounds(1)),
            gemini(
                ("user", [{"text": "harvest"}]),
                ("model", [asks("harvest", SIG_G)]),
                ("user", [gives("harvest", "a full basket")]),
            ),
        ],
        signatures(BYPASS, SIG_G),
        Expect(on=("gemini",), reports=("SIGNATURE_PLACEHOLDER x1",)),
    ),
]
