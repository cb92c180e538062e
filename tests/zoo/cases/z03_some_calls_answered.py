"""Calls made side by side, of which only some came back."""

from tests.zoo.expecting import ALL, KEEPING, NAMING, TOGETHER, UNKNOWN, Expect, variant
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
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "only some of several calls are answered"
TARGETS = ALL

VARIANTS = [
    variant(
        "the middle one",
        neutral(
            human("prices for wool, silk and linen"),
            ai(
                call("p1", "price", {"cloth": "wool"}),
                call("p2", "price", {"cloth": "silk"}),
                call("p3", "price", {"cloth": "linen"}),
            ),
            tool(result("p2", "silk: forty crowns")),
        ),
        Expect(
            reports=("SYNTH_RESULT x2",),
            pairs=[("price", UNKNOWN), ("price", "silk: forty crowns"), ("price", UNKNOWN)],
            failed=(True, False, True),
        ),
        Expect(on=TOGETHER, groups=1),
    ),
    variant(
        "two of five, the later one first",
        neutral(
            human("five looms"),
            ai(*(call(f"loom{n}", f"loom_{n}") for n in range(5))),
            tool(result("loom4", "fourth loom idle")),
            tool(result("loom1", "first loom jammed")),
            ai("Two have reported."),
        ),
        Expect(
            reports=("SYNTH_RESULT x3", "RESULTS_REORDERED x1"),
            pairs=[
                ("loom_0", UNKNOWN),
                ("loom_1", "first loom jammed"),
                ("loom_2", UNKNOWN),
                ("loom_3", UNKNOWN),
                ("loom_4", "fourth loom idle"),
            ],
        ),
    ),
    variant(
        "chat shape, the human goes on",
        chat(
            user("dye and press"),
            assistant(None, function("call_dye", "dye"), function("call_press", "press")),
            answer("call_dye", "indigo it is"),
            user("skip the press"),
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("dye", "indigo it is"), ("press", UNKNOWN)],
            order=("indigo it is", UNKNOWN, "skip the press"),
        ),
    ),
    variant(
        "anthropic shape with words beside",
        claude(
            ("user", "spin and wind"),
            ("assistant", [tool_use("toolu_s", "spin"), tool_use("toolu_w", "wind")]),
            ("user", [tool_result("toolu_w", "wound up"), {"type": "text", "text": "hurry up"}]),
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("spin", UNKNOWN), ("wind", "wound up")],
            order=(UNKNOWN, "wound up", "hurry up"),
        ),
    ),
    variant(
        "one id for three calls and one result",
        neutral(
            human("cut three"),
            ai(*(call("same", "cut", {"piece": n}) for n in "abc")),
            tool(result("same", "first piece cut")),
        ),
        Expect(on=KEEPING, reports=("ID_REMAPPED x2",)),
        Expect(on=NAMING, reports=("ID_REMAPPED x3",)),
        Expect(
            reports=("SYNTH_RESULT x2",),
            pairs=[("cut", "first piece cut"), ("cut", UNKNOWN), ("cut", UNKNOWN)],
        ),
    ),
    variant(
        "no ids, found by name",
        neutral(
            human("warp and weft"),
            ai(call(None, "warp"), call(None, "weft")),
            tool(result(None, "weft is tight", name="weft")),
        ),
        Expect(
            reports=("SYNTH_RESULT x1", "MATCHED_BY_FALLBACK x1", "ID_SYNTHESIZED x2"),
            pairs=[("warp", UNKNOWN), ("weft", "weft is tight")],
        ),
    ),
    variant(
        "one of three comes late",
        neutral(
            human("three bales"),
            ai(*(call(f"bale-{n}", "weigh_bale", {"bale": n}) for n in (1, 2, 3))),
            tool(result("bale-1", "bale one: 80 kg")),
            ai("Waiting for the others."),
            tool(result("bale-3", "bale three: 95 kg")),
        ),
        Expect(
            reports=("SYNTH_RESULT x1", "LATE_RESULT_APPLIED x1"),
            pairs=[
                ("weigh_bale", "bale one: 80 kg"),
                ("weigh_bale", UNKNOWN),
                ("weigh_bale", "bale three: 95 kg"),
            ],
        ),
    ),
]
