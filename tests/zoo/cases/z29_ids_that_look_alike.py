"""Ids that differ in a prefix only, look like ours, or were forged to look like ours."""

from tests.zoo.expecting import ALL, Expect, variant
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

TITLE = "ids look alike, or like ours"
TARGETS = ALL
FORGED = "hist_tool_" + "Zz9_-" * 4 + "Zz9_"
ALIKE = ("call_nut", "toolu_nut", "hist_tool_nut", "nut", "fc_nut", "callnut")

VARIANTS = [
    variant(
        "six spellings of one core",
        neutral(
            human("crack them"),
            ai(*(call(raw, "crack", {"nut": raw}) for raw in ALIKE)),
            tool(*(result(raw, f"shell of <{raw}>") for raw in ALIKE)),
        ),
        Expect(
            never=("MATCHED_BY_FALLBACK", "SYNTH_RESULT", "DUP_RESULT_SUPERSEDED"),
            pairs=[("crack", f"shell of <{raw}>") for raw in ALIKE],
        ),
    ),
    variant(
        "the same, answered backwards in turns of their own",
        neutral(
            *rounds(1),
            human("roast them"),
            ai(*(call(raw, "roast") for raw in ALIKE)),
            *(tool(result(raw, f"kernel of <{raw}>")) for raw in reversed(ALIKE)),
        ),
        Expect(
            never=("MATCHED_BY_FALLBACK", "SYNTH_RESULT", "DUP_RESULT_SUPERSEDED"),
            pairs=[
                ("look_up", "entry of <0>"),
                *(("roast", f"kernel of <{raw}>") for raw in ALIKE),
            ],
        ),
    ),
    variant(
        "a bar in the id and a bar in the name",
        chat(
            user("mill"),
            assistant("", function("one|two", "three"), function("one", "two|three")),
            answer("one|two", "milled coarse"),
            answer("one", "milled fine"),
        ),
        Expect(
            never=("SYNTH_RESULT", "ORPHAN_RESULT"),
            pairs=[("three", "milled coarse"), (None, "milled fine")],
        ),
    ),
    variant(
        "a well-formed id of ours is kept once",
        neutral(
            human("press oil"),
            ai(call(FORGED, "press", {"bag": 1})),
            tool(result(FORGED, "first pressing")),
            ai(call(FORGED, "press", {"bag": 2})),
            tool(result(FORGED, "of bag one, again")),
        ),
        # The canonical id is the stronger rule: both results are of the call that has it.
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x1", "SYNTH_RESULT x1"),
            pairs=[("press", "of bag one, again"), ("press", "outcome unknown")],
        ),
        Expect(
            on=("openai",),
            also=lambda seen: (
                []
                if seen.calls[0][0] == "call_" + FORGED[10:] != seen.calls[1][0]
                else [f"the ids are {seen.calls}"]
            ),
        ),
    ),
    variant(
        "almost an id of ours is a raw id",
        neutral(
            human("shell peas"),
            ai(
                call("hist_tool_short", "shell"),
                call(FORGED + "x", "shell"),
                call("hist_tool_", "shell"),
            ),
            tool(
                result("hist_tool_", "bare pod"),
                result(FORGED + "x", "long pod"),
                result("hist_tool_short", "short pod"),
            ),
        ),
        Expect(pairs=[("shell", "short pod"), ("shell", "long pod"), ("shell", "bare pod")]),
        Expect(on=("openai",), ids=r"call_[A-Za-z0-9_-]{24}"),
    ),
    variant(
        "an id of another conversation answers nothing",
        neutral(
            human("weigh nuts"),
            ai(call("w", "weigh")),
            tool(result("w", "two pounds")),
            tool(result(FORGED, "weight of another day")),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1",),
            never=("DUP_RESULT_SUPERSEDED",),
            pairs=[("weigh", "two pounds")],
            shows=("weight of another day",),
        ),
    ),
]
