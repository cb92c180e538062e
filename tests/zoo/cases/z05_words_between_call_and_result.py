"""A user, a hook or a reminder was stored between a call and its result."""

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
    system,
    text,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "somebody speaks between a call and its result"
TARGETS = ALL

VARIANTS = [
    variant(
        "the human speaks",
        neutral(
            human("water the ferns"),
            ai(call("fern-1", "water", {"litres": 2})),
            human("and what day is it?"),
            tool(result("fern-1", "ferns are wet")),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            never=("SYNTH_RESULT", "LATE_RESULT_APPLIED"),
            pairs=[("water", "ferns are wet")],
            order=("water the ferns", "ferns are wet", "and what day is it?"),
        ),
        Expect(
            on=("anthropic",),
            roles=("user", "assistant", "user"),
            also=lambda seen: (
                []
                if [b["type"] for b in seen.messages[2]["content"]] == ["tool_result", "text"]
                else [f"the last message is {seen.messages[2]}"]
            ),
        ),
    ),
    variant(
        "the system reminds",
        neutral(
            system("you keep a greenhouse"),
            human("open the vents"),
            ai(call("vent-1", "vents")),
            system("reminder: frost tonight"),
            tool(result("vent-1", "vents stand open")),
            ai("Open."),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            pairs=[("vents", "vents stand open")],
            order=("vents stand open", "reminder: frost tonight", "Open."),
        ),
        Expect(on=("anthropic", "mistral", "bedrock", "gemini"), reports=("SYSTEM_DEMOTED x1",)),
    ),
    variant(
        "three speak before two results",
        neutral(
            human("prune and graft"),
            ai("Both.", call("prune-1", "prune"), call("graft-1", "graft")),
            human("mind the roses"),
            system("hook: knife was sharpened"),
            human("and the apple tree"),
            tool(result("graft-1", "scion has taken")),
            human("good"),
            tool(result("prune-1", "roses are short")),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x2",),
            pairs=[("prune", "roses are short"), ("graft", "scion has taken")],
            order=(
                "roses are short",
                "scion has taken",
                "mind the roses",
                "hook: knife was sharpened",
                "and the apple tree",
                "good",
            ),
        ),
    ),
    variant(
        "between two results of one turn",
        neutral(
            *rounds(1),
            human("soil and seed"),
            ai(call("soil-1", "soil"), call("seed-1", "seed")),
            tool(result("soil-1", "loam, dry")),
            human("is it warm?"),
            tool(result("seed-1", "forty grains")),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            pairs=[("look_up", "entry of <0>"), ("soil", "loam, dry"), ("seed", "forty grains")],
            order=("loam, dry", "forty grains", "is it warm?"),
        ),
    ),
    variant(
        "chat shape",
        chat(
            user("rake"),
            assistant("", function("call_rake", "rake")),
            user("quickly please"),
            answer("call_rake", "leaves in a heap"),
            assistant("Raked."),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            pairs=[("rake", "leaves in a heap")],
            order=("leaves in a heap", "quickly please", "Raked."),
        ),
    ),
    variant(
        "anthropic shape",
        claude(
            ("user", "mow"),
            ("assistant", tool_use("toolu_mow", "mow")),
            ("user", "not the meadow"),
            ("user", [tool_result("toolu_mow", "lawn is even"), text("hook: fuel low")]),
        ),
        Expect(
            reports=("RESULTS_MOVED_TO_CALL x1",),
            pairs=[("mow", "lawn is even")],
            order=("lawn is even", "not the meadow", "hook: fuel low"),
        ),
    ),
]
