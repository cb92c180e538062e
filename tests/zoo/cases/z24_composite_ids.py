"""Ids that a gateway glued together, of which results carry one half or the other."""

from tests.zoo.expecting import ALL, UNKNOWN, Expect, variant
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

TITLE = "composite ids and their halves"
TARGETS = ALL

VARIANTS = [
    variant(
        "one whole, one half",
        neutral(
            human("two soups"),
            ai(call("call_5|fc_a", "soup", {"of": "leek"}), call("call_5|fc_b", "soup")),
            tool(result("call_5|fc_a", "leek soup boils"), result("call_5", "plain soup simmers")),
        ),
        Expect(
            reports=("MATCHED_BY_FALLBACK x1",),
            never=("SYNTH_RESULT", "ORPHAN_RESULT"),
            pairs=[("soup", "leek soup boils"), ("soup", "plain soup simmers")],
        ),
    ),
    variant(
        "the half comes first, the whole one keeps its call",
        neutral(
            human("two pies"),
            ai(call("call_6|fc_a", "pie", {"of": "plum"}), call("call_6|fc_b", "pie")),
            tool(result("call_6", "bare pie browns"), result("call_6|fc_a", "plum pie browns")),
        ),
        Expect(
            reports=("MATCHED_BY_FALLBACK x1",),
            pairs=[("pie", "plum pie browns"), ("pie", "bare pie browns")],
        ),
    ),
    variant(
        "chat shape, results carry the first half",
        chat(
            user("roast and mash"),
            assistant("", function("call_r|fc_1", "roast"), function("call_m|fc_2", "mash")),
            answer("call_m", "mashed smooth"),
            answer("call_r", "roasted brown"),
        ),
        Expect(
            reports=("MATCHED_BY_FALLBACK x2", "RESULTS_REORDERED x1"),
            pairs=[("roast", "roasted brown"), ("mash", "mashed smooth")],
        ),
    ),
    variant(
        "prefixes come and go",
        neutral(
            *rounds(1),
            human("stew"),
            ai(call("call_stew", "stew"), call("toolu_lid", "lid"), call("salt", "salt")),
            tool(
                result("stew", "stew thickens"),
                result("call_lid", "lid is on"),
                result("fc_salt", "salted twice"),
            ),
        ),
        Expect(
            reports=("MATCHED_BY_FALLBACK x3",),
            pairs=[
                ("look_up", "entry of <0>"),
                ("stew", "stew thickens"),
                ("lid", "lid is on"),
                ("salt", "salted twice"),
            ],
        ),
    ),
    variant(
        "a half that belongs to nobody",
        neutral(
            human("toast"),
            ai(call("call_t|fc_1", "toast")),
            tool(result("call_u", "somebody else's toast")),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1", "SYNTH_RESULT x1"),
            never=("MATCHED_BY_FALLBACK",),
            pairs=[("toast", UNKNOWN)],
            shows=("somebody else's toast",),
        ),
    ),
]
