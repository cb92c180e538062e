"""Calls and results without ids, with empty ones, or with the tool's name for an id."""

from tests.zoo.expecting import ALL, KEEPING, NAMING, UNKNOWN, Expect, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    claude,
    function,
    human,
    items,
    neutral,
    result,
    rounds,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "calls have no ids"
TARGETS = ALL

VARIANTS = [
    variant(
        "empty ids",
        neutral(
            human("search both woods"),
            ai(call("", "search", {"wood": "oak"}), call("", "search", {"wood": "pine"})),
            tool(result("", "acorns in the oaks"), result("", "cones in the pines")),
        ),
        Expect(
            reports=("ID_SYNTHESIZED x2", "MATCHED_BY_FALLBACK x2"),
            never=("SYNTH_RESULT", "ORPHAN_RESULT", "DUP_RESULT_SUPERSEDED"),
            pairs=[("search", "acorns in the oaks"), ("search", "cones in the pines")],
            arguments=[{"wood": "oak"}, {"wood": "pine"}],
        ),
    ),
    variant(
        "names in another order",
        neutral(
            *rounds(1),
            human("north and south"),
            ai(call(None, "north"), call(None, "south"), call(None, "north")),
            tool(
                result(None, "south is mossy", name="south"),
                result(None, "north is bare", name="north"),
                result(None, "north again", name="north"),
            ),
        ),
        Expect(
            reports=("ID_SYNTHESIZED x3", "MATCHED_BY_FALLBACK x3", "RESULTS_REORDERED x1"),
            pairs=[
                ("look_up", "entry of <0>"),
                ("north", "north is bare"),
                ("south", "south is mossy"),
                ("north", "north again"),
            ],
        ),
    ),
    variant(
        "the tool's name for an id",
        chat(
            user("track the deer"),
            assistant("", function("track", "track", '{"n": 1}'), function("track", "track")),
            answer("track", "prints by the brook"),
            answer("track", "prints by the hill"),
            provider="ollama",
        ),
        Expect(on=KEEPING, reports=("ID_REMAPPED x1",)),
        Expect(on=NAMING, reports=("ID_REMAPPED x2",)),
        Expect(
            never=("DUP_RESULT_SUPERSEDED", "SYNTH_RESULT"),
            pairs=[("track", "prints by the brook"), ("track", "prints by the hill")],
        ),
    ),
    variant(
        "chat shape, more calls than results",
        chat(
            user("three traps"),
            assistant("", *(function(None, "trap", f'{{"n": {n}}}') for n in range(3))),
            answer(None, "trap zero: a hare"),
            answer("", "trap one: empty"),
            user("and the third?"),
            provider="ollama",
        ),
        Expect(
            reports=("ID_SYNTHESIZED x3", "SYNTH_RESULT x1", "MATCHED_BY_FALLBACK x2"),
            pairs=[("trap", "trap zero: a hare"), ("trap", "trap one: empty"), ("trap", UNKNOWN)],
        ),
    ),
    variant(
        "in every round again",
        neutral(
            human("walk on"),
            *(
                turn
                for mile in range(4)
                for turn in (
                    ai(call(None, "walk"), call(None, "rest")),
                    tool(result(None, f"mile {mile} walked"), result(None, f"rested after {mile}")),
                )
            ),
        ),
        Expect(
            reports=("ID_SYNTHESIZED x8",),
            never=("SYNTH_RESULT", "ORPHAN_RESULT"),
            pairs=[
                pair
                for mile in range(4)
                for pair in (("walk", f"mile {mile} walked"), ("rest", f"rested after {mile}"))
            ],
        ),
    ),
    variant(
        "gemini shape",
        items(
            "gemini",
            {"role": "user", "parts": [{"text": "count birds"}]},
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "owls", "args": {}}},
                    {"functionCall": {"name": "jays", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "jays", "response": {"result": "nine jays"}}},
                    {"functionResponse": {"name": "owls", "response": {"result": "two owls"}}},
                ],
            },
        ),
        Expect(reports=("ID_SYNTHESIZED x2",), pairs=[("owls", "two owls"), ("jays", "nine jays")]),
    ),
    variant(
        "anthropic shape, ids lost by a proxy",
        claude(
            ("user", "camp"),
            ("assistant", [tool_use(None, "tent"), tool_use(None, "fire")]),
            ("user", [tool_result(None, "tent stands"), tool_result(None, "fire burns")]),
        ),
        Expect(
            reports=("ID_SYNTHESIZED x2",), pairs=[("tent", "tent stands"), ("fire", "fire burns")]
        ),
    ),
]
