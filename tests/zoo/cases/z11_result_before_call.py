"""The result was stored before its call, or the clock told another order than the store."""

from tests.zoo.expecting import ALL, Expect, variant
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
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "a result is stored before its call"
TARGETS = ALL

VARIANTS = [
    variant(
        "one",
        neutral(
            human("light the lamp"),
            tool(result("lamp-1", "lamp is lit")),
            ai(call("lamp-1", "light")),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            never=("ORPHAN_RESULT", "SYNTH_RESULT", "LATE_RESULT_APPLIED"),
            pairs=[("light", "lamp is lit")],
            order=("light the lamp", "lamp is lit"),
        ),
    ),
    variant(
        "two, the other way round",
        neutral(
            human("wick and oil"),
            tool(result("oil-1", "oil is full")),
            tool(result("wick-1", "wick is trimmed")),
            human("done?"),
            ai("Yes.", call("wick-1", "wick"), call("oil-1", "oil")),
            human("good"),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x2",),
            never=("ORPHAN_RESULT", "SYNTH_RESULT"),
            pairs=[("wick", "wick is trimmed"), ("oil", "oil is full")],
            order=("done?", "wick is trimmed", "oil is full", "good"),
        ),
    ),
    variant(
        "chat shape, one early and one in time",
        chat(
            user("trim and fill"),
            answer("call_trim", "trimmed short"),
            assistant("", function("call_trim", "trim"), function("call_fill", "fill")),
            answer("call_fill", "filled up"),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            never=("ORPHAN_RESULT", "SYNTH_RESULT"),
            pairs=[("trim", "trimmed short"), ("fill", "filled up")],
        ),
    ),
    variant(
        "anthropic shape, with words in the early turn",
        claude(
            ("user", "any ships?"),
            (
                "user",
                [tool_result("toolu_w", "one sail in the west"), {"type": "text", "text": "!"}],
            ),
            ("assistant", tool_use("toolu_w", "watch")),
            ("user", "which flag?"),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            never=("ORPHAN_RESULT",),
            pairs=[("watch", "one sail in the west")],
        ),
    ),
    variant(
        "early and then again",
        neutral(
            human("sound the horn"),
            tool(result("horn-1", "horn out of breath", status="error")),
            ai(call("horn-1", "horn")),
            tool(result("horn-1", "horn sounds")),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x1",),
            never=("ORPHAN_RESULT", "SYNTH_RESULT"),
            pairs=[("horn", "horn sounds")],
        ),
    ),
    variant(
        "clocks that run backwards are no more than data",
        neutral(
            *(
                turn | {"metadata": {"timestamp": f"2031-01-01T00:00:{59 - at:02}Z"}}
                for at, turn in enumerate(rounds(3))
            )
        ),
        Expect(
            never=("RESULTS_MOVED_TO_CALL", "SYNTH_RESULT"),
            pairs=[("look_up", f"entry of <{at}>") for at in range(3)],
            order=tuple(
                one
                for at in range(3)
                for one in (f"question number <{at}>", f"entry of <{at}>", f"conclusion <{at}>")
            ),
        ),
    ),
]
