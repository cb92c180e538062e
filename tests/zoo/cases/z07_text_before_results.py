"""Text or an image stands before or among the results of one turn."""

from tests.zoo.expecting import ALL, Expect, variant
from tests.zoo.spoken import (
    BLUE,
    ai,
    call,
    claude,
    human,
    image,
    neutral,
    png,
    result,
    rounds,
    text,
    tool,
    tool_result,
    tool_use,
)

TITLE = "something stands before a result in its turn"
TARGETS = ALL

VARIANTS = [
    variant(
        "a note between two results",
        neutral(
            human("wind both clocks"),
            ai(call("k-1", "wind", {"clock": "hall"}), call("k-2", "wind", {"clock": "tower"})),
            tool(
                result("k-1", "hall clock wound"), "hook: oil was used", result("k-2", "tower up")
            ),
        ),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            never=("RESULTS_MOVED_TO_CALL", "SYNTH_RESULT"),
            pairs=[("wind", "hall clock wound"), ("wind", "tower up")],
            order=("hall clock wound", "tower up", "hook: oil was used"),
        ),
        Expect(on=("openai",), roles=("user", "assistant", "tool", "tool", "user")),
        Expect(on=("anthropic",), roles=("user", "assistant", "user")),
    ),
    variant(
        "anthropic shape, text first",
        claude(
            ("user", "set the alarm"),
            ("assistant", tool_use("toolu_al", "alarm", {"at": "6:30"})),
            ("user", [text("sorry, I meant seven"), tool_result("toolu_al", "alarm set to 6:30")]),
        ),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            pairs=[("alarm", "alarm set to 6:30")],
            order=("alarm set to 6:30", "sorry, I meant seven"),
        ),
    ),
    variant(
        "an image first",
        neutral(
            human("repair the dial"),
            ai(call("dial", "repair")),
            tool(image(BLUE), result("dial", "dial repaired")),
        ),
        Expect(reports=("RESULTS_REORDERED x1",), pairs=[("repair", "dial repaired")]),
        Expect(on=("anthropic", "openai", "kimi", "mistral"), once=(BLUE,)),
    ),
    variant(
        "notes around results in the wrong order",
        neutral(
            *rounds(2),
            human("strike the hours"),
            ai(call("h-1", "strike", {"hour": 1}), call("h-2", "strike", {"hour": 2})),
            tool(
                "before everything",
                result("h-2", "bell rang twice"),
                "in between",
                result("h-1", "bell rang once"),
                "after everything",
            ),
            ai("Struck."),
        ),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            pairs=[
                ("look_up", "entry of <0>"),
                ("look_up", "entry of <1>"),
                ("strike", "bell rang once"),
                ("strike", "bell rang twice"),
            ],
            order=(
                "bell rang once",
                "bell rang twice",
                "before everything",
                "in between",
                "after everything",
                "Struck.",
            ),
        ),
    ),
    variant(
        "the human's own turn holds the result",
        neutral(
            human("is the spring broken?"),
            ai(call("spring", "inspect")),
            human("I looked myself:", result("spring", "spring has snapped")),
        ),
        Expect(
            pairs=[("inspect", "spring has snapped")],
            order=("spring has snapped", "I looked myself:"),
        ),
    ),
    variant(
        "anthropic shape, picture and text first",
        claude(
            ("user", "photograph it"),
            ("assistant", [tool_use("toolu_1", "photo"), tool_use("toolu_2", "label")]),
            (
                "user",
                [
                    {
                        "type": "image",
                        "source": {
                            "type": "base64",
                            "media_type": "image/png",
                            "data": png(BLUE).partition(",")[2],
                        },
                    },
                    tool_result("toolu_1", "photo taken"),
                    text("label it 'pendulum'"),
                    tool_result("toolu_2", "label glued"),
                ],
            ),
        ),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            pairs=[("photo", "photo taken"), ("label", "label glued")],
            order=("photo taken", "label glued", "label it 'pendulum'"),
        ),
        Expect(on=("anthropic", "openai", "mistral"), once=(BLUE,)),
    ),
]
