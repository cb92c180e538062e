"""A call was answered more than once: aborted and then run, retried, resumed, approved."""

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

TITLE = "a call has several results"
TARGETS = ALL

VARIANTS = [
    variant(
        "aborted, then real",
        neutral(
            human("find the letters"),
            ai(call("find-1", "find", {"glob": "*.letter"})),
            tool(result("find-1", "search was aborted", status="error")),
            tool(result("find-1", "three letters found")),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x1",),
            hides=("search was aborted",),
            pairs=[("find", "three letters found")],
            failed=(False,),
        ),
    ),
    variant(
        "the same twice",
        neutral(
            human("stamp it"),
            ai(call("stamp-1", "stamp")),
            tool(result("stamp-1", "stamped in red")),
            tool(result("stamp-1", "stamped in red")),
            human("thank you"),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x1",),
            pairs=[("stamp", "stamped in red")],
            once=("stamped in red",),
        ),
    ),
    variant(
        "three attempts with talk between",
        neutral(
            human("deliver"),
            ai(call("deliver-1", "deliver")),
            tool(result("deliver-1", "nobody at home")),
            ai("I try again."),
            tool(result("deliver-1", "dog in the yard", status="error")),
            tool(result("deliver-1", "delivered to a neighbour")),
            human("well done"),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x2",),
            hides=("nobody at home", "dog in the yard"),
            pairs=[("deliver", "delivered to a neighbour")],
        ),
    ),
    variant(
        "an interruption after the real one",
        neutral(
            *rounds(1),
            human("seal it"),
            ai(call("seal-1", "seal")),
            tool(result("seal-1", "sealed with wax")),
            tool(result("seal-1", "", status="interrupted")),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x1",),
            never=("SYNTH_RESULT",),
            pairs=[("look_up", "entry of <0>"), ("seal", "sealed with wax")],
            failed=(False, False),
        ),
    ),
    variant(
        "chat shape, two calls, results interleaved",
        chat(
            user("weigh and frank"),
            assistant("", function("call_w", "weigh"), function("call_f", "frank")),
            answer("call_w", "scale not ready"),
            answer("call_f", "machine warming up"),
            answer("call_w", "twenty grams"),
            answer("call_f", "franked for abroad"),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x2",),
            pairs=[("weigh", "twenty grams"), ("frank", "franked for abroad")],
            hides=("scale not ready", "machine warming up"),
        ),
    ),
    variant(
        "anthropic shape, twice in one message",
        claude(
            ("user", "sort the post"),
            ("assistant", tool_use("toolu_sort", "sort")),
            (
                "user",
                [
                    tool_result("toolu_sort", "sorter jammed", is_error=True),
                    tool_result("toolu_sort", "sorted by street"),
                ],
            ),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x1",),
            pairs=[("sort", "sorted by street")],
            failed=(False,),
        ),
    ),
    variant(
        "denied, then allowed and run",
        neutral(
            human("open the parcel"),
            ai(call("open-1", "open_parcel")),
            tool(result("open-1", "", status="denied")),
            human("all right, do it"),
            tool(result("open-1", "a clock inside")),
        ),
        Expect(
            reports=("DUP_RESULT_SUPERSEDED x1",),
            pairs=[("open_parcel", "a clock inside")],
            hides=("was denied",),
            failed=(False,),
        ),
    ),
]
