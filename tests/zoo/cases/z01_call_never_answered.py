"""A call whose result was never stored: the tool crashed, or its process did."""

from tests.zoo.expecting import ALL, UNKNOWN, Expect, variant
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
    tool_use,
    user,
)

TITLE = "a call was never answered"
TARGETS = ALL

VARIANTS = [
    variant(
        "the human goes on",
        neutral(
            human("bake the bread"),
            ai("The oven is on.", call("oven-1", "start_oven", {"degrees": 230})),
            human("leave it, make tea"),
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            never=("ORPHAN_RESULT", "RESULTS_MOVED_TO_CALL"),
            pairs=[("start_oven", UNKNOWN)],
            order=("The oven is on.", "[turnkeep]", UNKNOWN, "leave it, make tea"),
            hides=("not run", "was denied", "interrupted"),
            failed=(True,),
        ),
    ),
    variant(
        "the call is the last word",
        neutral(human("count the loaves"), ai(call("toolu_01Loaf", "count", {"shelf": "upper"}))),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("count", UNKNOWN)],
            arguments=[{"shelf": "upper"}],
        ),
    ),
    variant(
        "three calls of two turns are open",
        neutral(
            human("order flour"),
            ai(call("f1", "order", {"what": "flour"})),
            human("and yeast and salt"),
            ai(call("y1", "order", {"what": "yeast"}), call("s1", "order", {"what": "salt"})),
            human("never mind all that"),
        ),
        Expect(
            reports=("SYNTH_RESULT x3",),
            pairs=[("order", UNKNOWN)] * 3,
            arguments=[{"what": "flour"}, {"what": "yeast"}, {"what": "salt"}],
            order=(UNKNOWN, "and yeast and salt", UNKNOWN, UNKNOWN, "never mind all that"),
        ),
    ),
    variant(
        "chat shape by kimi",
        chat(
            user("list the pans"),
            assistant(
                "", function("functions.pans:0", "pans"), function("functions.lids:1", "lids")
            ),
            answer("functions.pans:0", "eleven pans"),
            user("no lids then"),
            provider="kimi",
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("pans", "eleven pans"), ("lids", UNKNOWN)],
            failed=(False, True),
        ),
        Expect(on=("kimi",), call_ids=("functions.pans:0", "functions.lids:1")),
    ),
    variant(
        "anthropic shape",
        claude(
            ("user", "weigh the dough"),
            ("assistant", [{"type": "text", "text": "Weighing."}, tool_use("toolu_9", "weigh")]),
            ("user", "how much is it?"),
            ("assistant", "I do not know yet."),
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("weigh", UNKNOWN)],
            order=("Weighing.", UNKNOWN, "how much is it?", "I do not know yet."),
        ),
    ),
    variant(
        "after a long healthy history",
        neutral(
            *rounds(6), human("once more"), ai(call("lost_7", "look_up")), human("still there?")
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[*(("look_up", f"entry of <{at}>") for at in range(6)), ("look_up", UNKNOWN)],
        ),
    ),
    variant(
        "the model went on by itself",
        neutral(
            human("mix"),
            ai(call("mix-a", "mix")),
            ai("I shall wait for the mixer."),
            ai(call("mix-b", "mix")),
            tool(result("mix-b", "mixed at last")),
        ),
        Expect(reports=("SYNTH_RESULT x1",), pairs=[("mix", UNKNOWN), ("mix", "mixed at last")]),
    ),
]
