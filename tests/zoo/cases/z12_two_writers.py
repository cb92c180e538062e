"""Two runs wrote into one conversation at once and their turns interleave."""

from tests.zoo.expecting import ALL, KEEPING, NAMING, Expect, variant
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
    tool,
    user,
)

TITLE = "turns of several writers interleave"
TARGETS = ALL

VARIANTS = [
    variant(
        "two runs, crossed",
        neutral(
            human("search the attic"),
            ai(call("west-1", "search", {"side": "west"})),
            ai(call("east-1", "search", {"side": "east"})),
            tool(result("east-1", "a trunk in the east")),
            tool(result("west-1", "a chest in the west")),
        ),
        Expect(
            never=("SYNTH_RESULT", "ORPHAN_RESULT"),
            reports=("RESULTS_MOVED_TO_CALL",),
            pairs=[("search", "a chest in the west"), ("search", "a trunk in the east")],
        ),
    ),
    variant(
        "three runs of two calls each",
        neutral(
            human("all three floors"),
            *(
                ai(call(f"{run}-1", "walk", {"floor": run}), call(f"{run}-2", "look"))
                for run in ("cellar", "hall", "loft")
            ),
            tool(result("loft-2", "loft: cobwebs")),
            tool(result("cellar-1", "cellar: steps are wet")),
            tool(result("hall-2", "hall: portraits"), result("hall-1", "hall: marble")),
            tool(result("cellar-2", "cellar: barrels")),
            tool(result("loft-1", "loft: creaking boards")),
            ai("All walked."),
        ),
        Expect(
            never=("SYNTH_RESULT", "ORPHAN_RESULT"),
            pairs=[
                ("walk", "cellar: steps are wet"),
                ("look", "cellar: barrels"),
                ("walk", "hall: marble"),
                ("look", "hall: portraits"),
                ("walk", "loft: creaking boards"),
                ("look", "loft: cobwebs"),
            ],
        ),
    ),
    variant(
        "both runs count their calls from zero",
        neutral(
            human("two doors"),
            ai(call("call_0", "door", {"door": "oak"})),
            human("second run: two doors"),
            ai(call("call_0", "door", {"door": "iron"})),
            tool(result("call_0", "iron door is shut")),
            tool(result("call_0", "oak door is open")),
        ),
        Expect(on=KEEPING, reports=("ID_REMAPPED x1",)),
        Expect(on=NAMING, reports=("ID_REMAPPED x2",)),
        Expect(
            never=("SYNTH_RESULT", "ORPHAN_RESULT", "DUP_RESULT_SUPERSEDED"),
            pairs=[("door", "oak door is open"), ("door", "iron door is shut")],
        ),
    ),
    variant(
        "chat shape, two providers at once",
        [
            chat(user("measure"), assistant("", function("call_A", "length"))),
            chat(
                user("weigh"),
                assistant("", function("functions.weight:0", "weight")),
                provider="kimi",
            ),
            chat(answer("call_A", "two metres")),
            chat(answer("functions.weight:0", "nine pounds"), provider="kimi"),
        ],
        Expect(
            never=("SYNTH_RESULT", "ORPHAN_RESULT"),
            pairs=[("length", "two metres"), ("weight", "nine pounds")],
        ),
    ),
]
