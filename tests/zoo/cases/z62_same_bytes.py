"""What was rendered once stays the same bytes when the conversation goes on."""

from collections.abc import Sequence

from tests.zoo.expecting import ALL, Expect, Seen, variant
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
    signed,
    system,
    text,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "old bytes change"
TARGETS = ALL
# What an earlier render says of its end, of results still to come, or of having nothing yet.
PROVISIONAL = {
    *("SYNTH_RESULT", "ENDS_WITH_ASSISTANT", "TRAILING_TRIMMED", "ORPHAN_RESULT", "BRIDGE_USER")
}


def earlier_renders_are_prefixes(seen: Seen) -> Sequence[str]:
    faults, compared = [], 0
    for until in range(1, len(seen.history.remembered.turns)):
        then = seen.history.render(seen.target, until=until)
        if then.codes & PROVISIONAL:
            continue
        compared += 1
        before = Seen(seen.target, seen.history, then).messages
        if seen.messages[: len(before)] != before:
            faults.append(f"what was shown at turn {until} has changed")
        beside = {k: v for k, v in then.request.items() if k in ("system", "instructions")}
        if any(seen.render.request.get(key) != value for key, value in beside.items()):
            faults.append(f"the system text of turn {until} has changed")
    return faults if compared else ["nothing was compared"]


STABLE = Expect(also=earlier_renders_are_prefixes)

VARIANTS = [
    variant(
        "keys keep their order",
        neutral(
            human("mix colours"),
            ai(call("m", "mix", {"zinc": 1, "amber": {"b": [2], "a": 1}, "1": None})),
            tool(result("m", {"tone": "ochre", "and": {"z": 1, "a": 2}})),
            ai("Ochre."),
            human("more"),
            ai("Later."),
        ),
        STABLE,
        Expect(
            on=("openai", "kimi"),
            raw_shows=(r"{\"zinc\":1,\"amber\":{\"b\":[2],\"a\":1},\"1\":null}",),
        ),
        Expect(
            on=("anthropic", "bedrock", "gemini"), raw_shows=('{"zinc":1,"amber":{"b":[2],"a":1}',)
        ),
    ),
    variant(
        "a long healthy history",
        neutral(system("be steady"), *rounds(8)),
        STABLE,
        Expect(pairs=[("look_up", f"entry of <{at}>") for at in range(8)]),
    ),
    variant(
        "ids that repeat do not rename older calls",
        chat(
            user("paint four walls"),
            *(
                message
                for wall in range(4)
                for message in (
                    assistant("", function("call_0", "paint", f'{{"wall": {wall}}}')),
                    answer("call_0", f"wall {wall} painted"),
                    assistant(f"Wall {wall} is done."),
                    user(f"go on after {wall}"),
                )
            ),
        ),
        STABLE,
        Expect(pairs=[("paint", f"wall {wall} painted") for wall in range(4)]),
    ),
    variant(
        "three shapes one after another",
        [
            chat(
                user("one"),
                assistant("", function("call_a", "a")),
                answer("call_a", "done a"),
                assistant("A."),
                user("two"),
            ),
            claude(
                ("assistant", [signed("b?", "SIG-b"), text("Then b."), tool_use("toolu_b", "b")]),
                ("user", tool_result("toolu_b", "done b")),
                ("assistant", "B."),
                ("user", "three"),
            ),
            chat(
                assistant("", function("functions.c:0", "c")),
                answer("functions.c:0", "done c"),
                assistant("C."),
                user("four"),
                provider="kimi",
            ),
        ],
        STABLE,
        Expect(pairs=[("a", "done a"), ("b", "done b"), ("c", "done c")]),
    ),
    variant(
        "results in any order of arrival",
        neutral(
            human("three coats"),
            ai(*(call(f"k{n}", "coat", {"n": n}) for n in range(3))),
            tool(result("k2", "third coat")),
            tool(result("k0", "first coat")),
            tool(result("k1", "second coat")),
            ai("Dry."),
            human("sign it"),
            ai("Signed."),
        ),
        STABLE,
        Expect(pairs=[("coat", "first coat"), ("coat", "second coat"), ("coat", "third coat")]),
    ),
]
