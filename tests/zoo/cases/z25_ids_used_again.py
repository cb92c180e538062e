"""A provider uses an id again in a later turn."""

from collections.abc import Sequence

from tests.zoo.expecting import ALL, KEEPING, NAMING, Expect, Seen, variant
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

TITLE = "ids are used again in later turns"
TARGETS = ALL


def earlier_ids_stay(seen: Seen) -> Sequence[str]:
    """A repeated id must not rename the call that had it first: a prompt cache would be lost."""
    turns = seen.history.remembered.turns
    faults = []
    for until in range(1, len(turns)):
        then = Seen(seen.target, seen.history, seen.history.render(seen.target, until=until))
        before = [one for one, *_ in then.calls]
        if [one for one, *_ in seen.calls][: len(before)] != before:
            faults.append(f"at turn {until} the ids were {before}")
    return faults


STAY = Expect(also=earlier_ids_stay)

VARIANTS = [
    variant(
        "twice",
        neutral(
            human("list the cellar"),
            ai(call("list:0", "list", {"of": "cellar"})),
            tool(result("list:0", "wine and apples")),
            human("list the attic"),
            ai(call("list:0", "list", {"of": "attic"})),
            tool(result("list:0", "trunks and dust")),
        ),
        STAY,
        Expect(on=("openai", "gemini"), reports=("ID_REMAPPED x1",)),
        # These refuse the id, or name calls themselves.
        Expect(on=("anthropic", *NAMING), reports=("ID_REMAPPED x2",)),
        Expect(
            never=("DUP_RESULT_SUPERSEDED",),
            pairs=[("list", "wine and apples"), ("list", "trunks and dust")],
        ),
    ),
    variant(
        "six rounds of two",
        chat(
            user("check every room"),
            *(
                message
                for room in range(6)
                for message in (
                    assistant("", function("call_0", "heat"), function("call_1", "light")),
                    answer("call_0", f"room {room} is warm"),
                    answer("call_1", f"room {room} is bright"),
                )
            ),
            provider="qwen-host",
        ),
        STAY,
        Expect(on=KEEPING, reports=("ID_REMAPPED x10",)),
        Expect(on=NAMING, reports=("ID_REMAPPED x12",)),
        Expect(
            never=("DUP_RESULT_SUPERSEDED", "SYNTH_RESULT"),
            pairs=[
                pair
                for room in range(6)
                for pair in (("heat", f"room {room} is warm"), ("light", f"room {room} is bright"))
            ],
        ),
    ),
    variant(
        "again while the first is open",
        neutral(
            human("start the pump"),
            ai(call("p", "pump", {"n": 1})),
            human("start the other"),
            ai(call("p", "pump", {"n": 2})),
            tool(result("p", "pump two hums")),
            human("and the first?"),
            tool(result("p", "pump one coughs")),
        ),
        Expect(
            never=("DUP_RESULT_SUPERSEDED", "SYNTH_RESULT"),
            pairs=[("pump", "pump one coughs"), ("pump", "pump two hums")],
        ),
    ),
    variant(
        "one constant id for everything",
        neutral(
            human("four doors"),
            *(
                turn
                for door in ("north", "east", "south", "west")
                for turn in (
                    ai(call("chatcmpl-tool", "try_door", {"door": door})),
                    tool(result("chatcmpl-tool", f"{door} door is locked")),
                )
            ),
            ai("All locked."),
        ),
        STAY,
        Expect(on=KEEPING, reports=("ID_REMAPPED x3",)),
        Expect(on=NAMING, reports=("ID_REMAPPED x4",)),
        Expect(
            pairs=[
                ("try_door", f"{door} door is locked")
                for door in ("north", "east", "south", "west")
            ],
        ),
    ),
    variant(
        "anthropic shape, and another tool under the same id",
        claude(
            ("user", "sweep"),
            ("assistant", tool_use("toolu_same", "sweep")),
            ("user", tool_result("toolu_same", "swept clean")),
            ("assistant", [tool_use("toolu_same", "mop"), tool_use("toolu_other", "dust")]),
            (
                "user",
                [tool_result("toolu_same", "mopped wet"), tool_result("toolu_other", "dusted")],
            ),
        ),
        STAY,
        Expect(pairs=[("sweep", "swept clean"), ("mop", "mopped wet"), ("dust", "dusted")]),
    ),
]
