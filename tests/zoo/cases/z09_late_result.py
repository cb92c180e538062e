"""The real result comes after a placeholder was shown, or stored, and the talk had gone on."""

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
    tool_result,
    tool_use,
    user,
)

TITLE = "a result comes late"
TARGETS = ALL

VARIANTS = [
    variant(
        "after later turns",
        neutral(
            human("start the survey"),
            ai(call("survey", "survey", {"field": 4})),
            human("by the way: hello"),
            ai("Hello to you."),
            tool(result("survey", "survey over: 31 stones")),
        ),
        Expect(
            reports=("LATE_RESULT_APPLIED x1", "RESULTS_MOVED_TO_CALL x1"),
            never=("SYNTH_RESULT", "ORPHAN_RESULT"),
            hides=(UNKNOWN,),
            pairs=[("survey", "survey over: 31 stones")],
            order=("survey over: 31 stones", "by the way: hello", "Hello to you."),
        ),
    ),
    variant(
        "a placeholder was stored first",
        neutral(
            human("dig here"),
            ai(call("dig-1", "dig")),
            tool(result("dig-1", "no answer yet", status="unknown")),
            ai("Waiting."),
            human("still waiting"),
            tool(result("dig-1", "a bronze pin")),
        ),
        Expect(
            reports=("LATE_RESULT_APPLIED x1", "DUP_RESULT_SUPERSEDED x1"),
            hides=(UNKNOWN, "no answer yet"),
            pairs=[("dig", "a bronze pin")],
            failed=(False,),
        ),
    ),
    variant(
        "an approval takes its time, chat shape",
        chat(
            user("publish the finds"),
            assistant("", function("call_pub", "publish"), function("call_log", "log")),
            answer("call_log", "logged under 88"),
            user("has the museum agreed?"),
            assistant("Not yet."),
            user("and now?"),
            assistant("Still not."),
            answer("call_pub", "museum agreed, published"),
        ),
        Expect(
            reports=("LATE_RESULT_APPLIED x1",),
            hides=(UNKNOWN,),
            pairs=[("publish", "museum agreed, published"), ("log", "logged under 88")],
        ),
    ),
    variant(
        "two results of one turn come late, one by one",
        neutral(
            *rounds(1),
            human("date both shards"),
            ai(call("sh-1", "date", {"shard": 1}), call("sh-2", "date", {"shard": 2})),
            human("tell me when ready"),
            ai("I will."),
            tool(result("sh-2", "shard two: 300 BC")),
            ai("One is ready."),
            tool(result("sh-1", "shard one: 450 BC")),
        ),
        Expect(
            reports=("LATE_RESULT_APPLIED x2",),
            hides=(UNKNOWN,),
            pairs=[
                ("look_up", "entry of <0>"),
                ("date", "shard one: 450 BC"),
                ("date", "shard two: 300 BC"),
            ],
        ),
    ),
    variant(
        "its id was used again meanwhile",
        neutral(
            human("sift the first bucket"),
            ai(call("call_0", "sift", {"bucket": 1})),
            human("sift the second too"),
            ai(call("call_0", "sift", {"bucket": 2})),
            tool(result("call_0", "second bucket: sand")),
            ai("The second is done."),
            tool(result("call_0", "first bucket: a coin")),
        ),
        Expect(
            reports=("LATE_RESULT_APPLIED x1",),
            hides=(UNKNOWN,),
            pairs=[("sift", "first bucket: a coin"), ("sift", "second bucket: sand")],
        ),
    ),
    variant(
        "anthropic shape",
        claude(
            ("user", "clean the vase"),
            ("assistant", tool_use("toolu_v", "clean")),
            ("user", "meanwhile, what is it made of?"),
            ("assistant", "Of clay."),
            ("user", tool_result("toolu_v", "vase is clean")),
        ),
        Expect(
            reports=("LATE_RESULT_APPLIED x1",),
            hides=(UNKNOWN,),
            pairs=[("clean", "vase is clean")],
        ),
    ),
]
