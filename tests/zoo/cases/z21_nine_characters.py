"""Mistral takes ids of nine letters and digits only."""

from tests.zoo.expecting import Expect, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    function,
    human,
    neutral,
    result,
    tool,
    user,
)

TITLE = "ids must have nine letters and digits"
TARGETS = ("mistral", "anthropic", "openai")
NINE = Expect(on=("mistral",), ids=r"[A-Za-z0-9]{9}")

VARIANTS = [
    variant(
        "alike in their first nine characters",
        neutral(
            human("two tunes"),
            ai(call("call_TUNEaaaaaaaaaa1", "play"), call("call_TUNEaaaaaaaaaa2", "play")),
            tool(
                result("call_TUNEaaaaaaaaaa1", "a waltz"), result("call_TUNEaaaaaaaaaa2", "a polka")
            ),
        ),
        NINE,
        Expect(pairs=[("play", "a waltz"), ("play", "a polka")]),
        Expect(on=("mistral",), reports=("ID_REMAPPED x2",)),
    ),
    variant(
        "its own ids are kept",
        chat(
            user("two more"),
            assistant("", function("D681PevKs", "play"), function("a1B2c3D4e", "stop")),
            answer("D681PevKs", "a march"),
            answer("a1B2c3D4e", "silence"),
            provider="mistral",
        ),
        NINE,
        Expect(pairs=[("play", "a march"), ("stop", "silence")]),
        Expect(on=("mistral",), call_ids=("D681PevKs", "a1B2c3D4e"), never=("ID_REMAPPED",)),
    ),
    variant(
        "its own id used twice",
        chat(
            user("once"),
            assistant("", function("sameSAME1", "play")),
            answer("sameSAME1", "first time"),
            user("and again"),
            assistant("", function("sameSAME1", "play")),
            answer("sameSAME1", "second time"),
            provider="mistral",
        ),
        NINE,
        Expect(pairs=[("play", "first time"), ("play", "second time")]),
        Expect(
            on=("mistral",),
            reports=("ID_REMAPPED",),
            also=lambda seen: (
                []
                if seen.calls[0][0] == "sameSAME1" != seen.calls[1][0]
                else [f"the first call lost its id: {seen.calls}"]
            ),
        ),
    ),
    variant(
        "almost nine",
        neutral(
            human("tune the strings"),
            ai(
                *(call(raw, "tune") for raw in ("12345678", "1234567890", "12345678_", "abcdefg-i"))
            ),
            *(
                tool(result(raw, f"string {raw} is tuned"))
                for raw in ("12345678", "1234567890", "12345678_", "abcdefg-i")
            ),
        ),
        NINE,
        Expect(
            pairs=[
                ("tune", f"string {raw} is tuned")
                for raw in ("12345678", "1234567890", "12345678_", "abcdefg-i")
            ]
        ),
        Expect(on=("mistral",), reports=("ID_REMAPPED x4",)),
    ),
    variant(
        "a hundred calls",
        neutral(
            human("all notes"),
            *(
                turn
                for bar in range(10)
                for turn in (
                    ai(*(call(f"call_{n}", "note", {"n": n}) for n in range(10))),
                    tool(*(result(f"call_{n}", f"bar {bar} note {n} sounds") for n in range(10))),
                )
            ),
        ),
        NINE,
        Expect(
            pairs=[("note", f"bar {bar} note {n} sounds") for bar in range(10) for n in range(10)]
        ),
        Expect(on=("mistral",), reports=("ID_REMAPPED x100",)),
    ),
]
