"""A window, a limit or a budget cuts between a call and its results."""

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
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "a window cuts inside a tool group"
TARGETS = ALL

_GROUP = neutral(
    human("first riddle"),
    ai(call("r-1", "riddle", {"n": 1}), call("r-2", "riddle", {"n": 2})),
    tool(result("r-1", "answer: a river")),
    tool(result("r-2", "answer: a candle")),
    ai("River and candle."),
    human("second riddle"),
)
_BOTH = [("riddle", "answer: a river"), ("riddle", "answer: a candle")]

VARIANTS = [
    variant(
        "between the two results",
        _GROUP,
        Expect(reports=("WINDOW_ALIGNED x1",), pairs=_BOTH, hides=("first riddle",)),
        options={"last": 3},
    ),
    variant(
        "between the call and its results",
        _GROUP,
        Expect(reports=("WINDOW_ALIGNED x1",), pairs=_BOTH, hides=("first riddle",)),
        options={"last": 4},
    ),
    variant(
        "at the border of the group nothing is widened",
        _GROUP,
        Expect(never=("WINDOW_ALIGNED",), pairs=_BOTH, hides=("first riddle",)),
        options={"last": 5},
    ),
    variant(
        "behind the group nothing is pulled in",
        _GROUP,
        Expect(never=("WINDOW_ALIGNED",), pairs=[], shows=("River and candle.", "second riddle")),
        options={"last": 2},
    ),
    variant(
        "the call stands far outside, its late result inside",
        neutral(
            system("you tell riddles"),
            human("think of one"),
            ai(call("think-1", "think")),
            human("take your time"),
            ai("Thinking."),
            *rounds(3),
            tool(result("think-1", "it is a shadow")),
        ),
        Expect(
            reports=("WINDOW_ALIGNED x1",),
            never=("ORPHAN_RESULT", "SYNTH_RESULT"),
            pairs=[("think", "it is a shadow")],
            shows=("you tell riddles",),
        ),
        options={"last": 1},
    ),
    variant(
        "one id inside, one outside, one nowhere",
        neutral(
            human("three hints"),
            ai(call("hint-1", "hint", {"n": 1})),
            human("more"),
            ai(call("hint-2", "hint", {"n": 2})),
            tool(
                result("hint-2", "it has hands"),
                result("hint-1", "it has a face"),
                result("hint-9", "it has no voice"),
            ),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1", "WINDOW_ALIGNED x1"),
            pairs=[("hint", "it has a face"), ("hint", "it has hands")],
            shows=("it has no voice",),
        ),
        options={"last": 1},
    ),
    variant(
        "a budget of tokens",
        neutral(*rounds(5)),
        Expect(
            never=("ORPHAN_RESULT", "SYNTH_RESULT"),
            pairs=[("look_up", "entry of <4>")],
            hides=("entry of <0>", "entry of <3>"),
            shows=("question number <4>", "conclusion <4>"),
        ),
        options={"max_tokens": 40},
    ),
    variant(
        "chat shape, five results, the last one asked for",
        chat(
            user("five guesses"),
            assistant("", *(function(f"call_g{n}", "guess") for n in range(5))),
            *(answer(f"call_g{n}", f"guess {n}: wrong") for n in range(5)),
        ),
        Expect(
            reports=("WINDOW_ALIGNED x1",), pairs=[("guess", f"guess {n}: wrong") for n in range(5)]
        ),
        options={"last": 1},
    ),
    variant(
        "anthropic shape, window of the answer alone",
        claude(
            ("user", "one more"),
            ("assistant", tool_use("toolu_m", "more")),
            ("user", tool_result("toolu_m", "no more riddles")),
        ),
        Expect(reports=("WINDOW_ALIGNED x1",), pairs=[("more", "no more riddles")]),
        options={"last": 1},
    ),
]
