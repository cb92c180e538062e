"""Several results, each stored as a turn of its own: nothing is wrong, and wires differ."""

from tests.zoo.expecting import ALL, EACH, TOGETHER, Expect, variant
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

TITLE = "results of one turn are stored apart"
TARGETS = ALL
HEALTHY = ("SYNTH_RESULT", "RESULTS_MOVED_TO_CALL", "RESULTS_REORDERED", "ORPHAN_RESULT")

VARIANTS = [
    variant(
        "two",
        neutral(
            human("two stars"),
            ai(call("star-a", "magnitude", {"of": "Vega"}), call("star-b", "magnitude")),
            tool(result("star-a", "Vega at 0.03")),
            tool(result("star-b", "unnamed at 5.1")),
            ai("Vega is brighter."),
            human("of course"),
        ),
        Expect(
            never=HEALTHY, pairs=[("magnitude", "Vega at 0.03"), ("magnitude", "unnamed at 5.1")]
        ),
        Expect(on=("openai", "anthropic"), only=()),
        Expect(on=TOGETHER, groups=1),
        Expect(on=EACH, groups=2),
    ),
    variant(
        "one turn of two and one of one",
        neutral(
            human("three moons"),
            ai(*(call(f"moon-{n}", "moon", {"n": n}) for n in (1, 2, 3))),
            tool(result("moon-1", "Io shines"), result("moon-2", "Europa cracks")),
            tool(result("moon-3", "Callisto sleeps")),
            ai("Three moons."),
            human("thanks"),
        ),
        Expect(
            never=HEALTHY,
            pairs=[("moon", "Io shines"), ("moon", "Europa cracks"), ("moon", "Callisto sleeps")],
        ),
        Expect(on=TOGETHER, groups=1),
        Expect(on=EACH, groups=3),
    ),
    variant(
        "chat shape, three messages, twice",
        chat(
            user("first night"),
            assistant("", *(function(f"call_n1_{n}", "expose") for n in range(3))),
            *(answer(f"call_n1_{n}", f"plate {n} of night one") for n in range(3)),
            assistant("Done."),
            user("second night"),
            assistant("", *(function(f"call_n2_{n}", "expose") for n in range(2))),
            *(answer(f"call_n2_{n}", f"plate {n} of night two") for n in range(2)),
        ),
        Expect(
            never=HEALTHY,
            pairs=[
                *(("expose", f"plate {n} of night one") for n in range(3)),
                *(("expose", f"plate {n} of night two") for n in range(2)),
            ],
        ),
        Expect(on=("openai",), only=()),
        Expect(on=TOGETHER, groups=2),
        Expect(on=EACH, groups=5),
    ),
    variant(
        "anthropic shape in several user messages",
        claude(
            ("user", "open the dome"),
            ("assistant", [tool_use("toolu_d", "dome"), tool_use("toolu_m", "mirror")]),
            ("user", tool_result("toolu_d", "dome is open")),
            ("user", tool_result("toolu_m", "mirror is clean")),
        ),
        Expect(never=HEALTHY, pairs=[("dome", "dome is open"), ("mirror", "mirror is clean")]),
        Expect(on=TOGETHER, groups=1),
        Expect(on=EACH, groups=2),
    ),
]
