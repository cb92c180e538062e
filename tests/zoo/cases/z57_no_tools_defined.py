"""The history calls tools, and the request would define none."""

from collections.abc import Callable, Sequence

from tests.zoo.expecting import ALL, Expect, Seen, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    function,
    human,
    neutral,
    result,
    rounds,
    tool,
    user,
)

TITLE = "the history calls tools that nobody defines"
TARGETS = ALL


def declared(*names: str) -> Callable[[Seen], Sequence[str]]:
    def compared(seen: Seen) -> Sequence[str]:
        tools = seen.render.request.get("toolConfig", {}).get("tools", [])
        found = [tool["toolSpec"]["name"] for tool in tools]
        return [] if found == list(names) else [f"declared are {found}"]

    return compared


_SUMMARY = neutral(
    human("cut the cloth"),
    ai(call("c1", "cut", {"cm": 80})),
    tool(result("c1", "cut to 80 cm")),
    ai("Cut."),
    human("summarise, without tools"),
)

VARIANTS = [
    variant(
        "bedrock wants them declared",
        _SUMMARY,
        Expect(on=("bedrock",), reports=("TOOLS_STUBBED x1",), also=declared("cut")),
        Expect(
            on=tuple(target for target in ALL if target != "bedrock"),
            never=("TOOLS_STUBBED",),
            raw_hides=("toolConfig",),
        ),
        Expect(pairs=[("cut", "cut to 80 cm")]),
    ),
    variant(
        "each once, under the names they are shown by",
        chat(
            user("sew"),
            assistant("", function("call_1", "sew.hem"), function("call_2", "press")),
            answer("call_1", "hemmed"),
            answer("call_2", "pressed flat"),
            assistant("", function("call_3", "press")),
            answer("call_3", "pressed again"),
        ),
        Expect(
            on=("bedrock",),
            also=lambda seen: declared(*dict.fromkeys(name for _, name, _, _ in seen.calls))(seen),
        ),
        Expect(pairs=[(None, "hemmed"), ("press", "pressed flat"), ("press", "pressed again")]),
    ),
    variant(
        "only those of the window",
        neutral(*rounds(1), human("fit it"), ai(call("f", "fit")), tool(result("f", "fits well"))),
        Expect(on=("bedrock",), also=declared("fit")),
        Expect(pairs=[("fit", "fits well")]),
        options={"last": 3},
    ),
    variant(
        "no calls, no tools",
        neutral(human("just talk"), ai("Gladly."), human("thanks")),
        Expect(never=("TOOLS_STUBBED",), raw_hides=("toolConfig",), pairs=[]),
    ),
    variant(
        "flattened to marked text",
        _SUMMARY,
        Expect(
            reports=("FLATTENED_TO_TEXT",),
            pairs=[],
            shows=("[turnkeep]", "cut to 80 cm", "80"),
            raw_hides=("tool_use", "tool_calls", "toolConfig", "function_call"),
        ),
        options={"tools": "flatten"},
    ),
]
