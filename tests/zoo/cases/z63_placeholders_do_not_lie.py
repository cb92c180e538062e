"""A placeholder says what is known of the call and no more, and says that it is ours."""

from tests.zoo.expecting import ALL, UNKNOWN, Expect, variant
from tests.zoo.spoken import (
    ai,
    call,
    claude,
    human,
    neutral,
    result,
    rounds,
    tool,
    tool_use,
)

TITLE = "a placeholder lies"
TARGETS = ALL
MARK = "[turnkeep]"

VARIANTS = [
    variant(
        "interrupted",
        neutral(
            human("move the archive"),
            ai(call("mv", "move", {"to": "cellar"})),
            tool(result("mv", "", status="interrupted")),
            human("what happened?"),
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("move", "may have run")],
            shows=(MARK,),
            hides=("not run", "denied", "rejected", UNKNOWN),
            failed=(True,),
        ),
    ),
    variant(
        "denied",
        neutral(
            human("burn the archive"),
            ai(call("bn", "burn")),
            tool(result("bn", None, status="denied")),
        ),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("burn", "not run")],
            shows=(MARK, "denied"),
            hides=("may have run", UNKNOWN),
            failed=(True,),
        ),
    ),
    variant(
        "nothing is recorded",
        claude(("user", "copy it"), ("assistant", tool_use("toolu_c", "copy")), ("user", "well?")),
        Expect(
            reports=("SYNTH_RESULT x1",),
            pairs=[("copy", UNKNOWN)],
            shows=(MARK,),
            hides=("not run", "denied", "interrupted"),
            failed=(True,),
        ),
    ),
    variant(
        "all states side by side",
        neutral(
            *rounds(1),
            human("five copies"),
            ai(*(call(f"s{n}", f"copy_{n}") for n in range(6))),
            tool(
                result("s0", "copied in ink"),
                result("s1", "pen broke", status="error"),
                result("s2", "", status="denied"),
                result("s3", "half a page", status="interrupted"),
                result("s4", "", status="unknown"),
            ),
        ),
        Expect(
            reports=("SYNTH_RESULT x4",),
            pairs=[
                ("look_up", "entry of <0>"),
                ("copy_0", "copied in ink"),
                ("copy_1", "pen broke"),
                ("copy_2", "not run"),
                ("copy_3", "may have run"),
                ("copy_4", UNKNOWN),
                ("copy_5", UNKNOWN),
            ],
            shows=("half a page",),
            failed=(False, False, True, True, True, True, True),
        ),
    ),
    variant(
        "words of the tool are kept beside ours",
        neutral(
            human("shred it"),
            ai(call("sh", "shred"), call("st", "stamp")),
            tool(
                result("sh", "pages 1 to 40 shredded", status="interrupted", error="power cut"),
                result("st", "the clerk said no", status="denied"),
            ),
        ),
        Expect(
            reports=("SYNTH_RESULT x2",),
            pairs=[("shred", "pages 1 to 40 shredded"), ("stamp", "the clerk said no")],
            shows=("power cut", "may have run", "not run"),
        ),
    ),
    variant(
        "a tool's own words are never marked as ours",
        neutral(
            human("file it"),
            ai(call("fl", "file")),
            tool(result("fl", "drawer is stuck", status="error")),
            ai("Stuck."),
            human("leave it"),
        ),
        Expect(never=("SYNTH_RESULT",), pairs=[("file", "drawer is stuck")], hides=(MARK,)),
    ),
]
