"""Results were stored as the tools finished, not as they were called."""

from itertools import permutations

from tests.zoo.expecting import ALL, Expect, variant
from tests.zoo.spoken import (
    Body,
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

TITLE = "results are stored in the order of completion"
TARGETS = ALL


def _four(order: tuple[int, ...]) -> Body:
    said = ["Oslo: rain", "Rome: sun", "Cairo: dust", "Lima: mist"]
    return neutral(
        human("four cities"),
        ai(
            call("w0", "rain_in", {"city": "Oslo"}),
            call("w1", "sun_in", {"city": "Rome"}),
            call("w2", "sun_in", {"city": "Cairo"}),
            call("w3", "rain_in", {"city": "Lima"}),
        ),
        *(tool(result(f"w{n}", said[n])) for n in order),
        ai("That is the weather."),
    )


def _races(*finished: str) -> Body:
    return chat(
        user("who won?"),
        assistant("", *(function(f"call_{lane}", "time_of_lane") for lane in "abc")),
        *(answer(f"call_{lane}", f"lane {lane}: 58 s") for lane in finished),
    )


VARIANTS = [
    variant(
        "two turns, the other way round",
        neutral(
            human("Kyoto and Quito"),
            ai(call("c-k", "temperature", {"in": "Kyoto"}), call("c-q", "temperature")),
            tool(result("c-q", "Quito is mild")),
            tool(result("c-k", "Kyoto is cold")),
        ),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            never=("RESULTS_MOVED_TO_CALL",),
            pairs=[("temperature", "Kyoto is cold"), ("temperature", "Quito is mild")],
        ),
    ),
    variant(
        "one turn, the other way round",
        neutral(
            human("left and right"),
            ai(call("l", "hand", {"side": "left"}), call("r", "hand", {"side": "right"})),
            tool(result("r", "right hand: a glove"), result("l", "left hand: a ring")),
        ),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            pairs=[("hand", "left hand: a ring"), ("hand", "right hand: a glove")],
        ),
    ),
    variant(
        "four in any order give the same bytes",
        _four((3, 1, 0, 2)),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            pairs=[
                ("rain_in", "Oslo: rain"),
                ("sun_in", "Rome: sun"),
                ("sun_in", "Cairo: dust"),
                ("rain_in", "Lima: mist"),
            ],
        ),
        arrivals=[_four(order) for order in permutations(range(4))],
    ),
    variant(
        "chat shape",
        _races("c", "a", "b"),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            pairs=[("time_of_lane", f"lane {lane}: 58 s") for lane in "abc"],
        ),
        arrivals=[_races(*order) for order in permutations("abc")],
    ),
    variant(
        "anthropic shape",
        claude(
            ("user", "both engines"),
            ("assistant", [tool_use("toolu_e1", "engine"), tool_use("toolu_e2", "engine")]),
            (
                "user",
                [tool_result("toolu_e2", "second runs"), tool_result("toolu_e1", "first stalls")],
            ),
        ),
        Expect(
            reports=("RESULTS_REORDERED x1",),
            pairs=[("engine", "first stalls"), ("engine", "second runs")],
        ),
    ),
]
