"""The model's turn goes on after a call: steps were merged, or it thought between its calls."""

from collections.abc import Sequence

from tests.zoo.expecting import ALL, Expect, Seen, variant
from tests.zoo.spoken import (
    ai,
    call,
    claude,
    human,
    neutral,
    result,
    rounds,
    signed,
    text,
    tool,
    tool_result,
    tool_use,
)

TITLE = "text or thinking stands after a call"
TARGETS = ALL
MOVED = ("anthropic", "bedrock")


def calls_stand_last(seen: Seen) -> Sequence[str]:
    faults = []
    for message in seen.messages:
        if message["role"] != "assistant" or isinstance(message["content"], str):
            continue
        kinds = ["call" if "tool_use" in str(b.get("type", b)) else "" for b in message["content"]]
        if kinds != sorted(kinds):
            faults.append(f"something follows the calls: {message}")
    return faults


VARIANTS = [
    variant(
        "text between two calls",
        neutral(
            human("fetch both books"),
            ai(
                "First the atlas.",
                call("b-1", "fetch", {"book": "atlas"}),
                "Now the herbal.",
                call("b-2", "fetch", {"book": "herbal"}),
            ),
            tool(result("b-1", "atlas on desk"), result("b-2", "herbal on desk")),
        ),
        Expect(
            pairs=[("fetch", "atlas on desk"), ("fetch", "herbal on desk")],
            order=("First the atlas.", "Now the herbal.", "atlas on desk", "herbal on desk"),
        ),
        Expect(on=MOVED, reports=("TOOLUSE_MOVED_LAST x1",)),
        Expect(on=("anthropic",), also=calls_stand_last),
        Expect(on=("openai", "kimi", "mistral"), never=("TOOLUSE_MOVED_LAST",)),
    ),
    variant(
        "text at the very end",
        neutral(
            *rounds(1),
            human("return the map"),
            ai(call("m-1", "give_back"), "I have handed it in."),
            tool(result("m-1", "stamped as returned")),
            human("fine"),
        ),
        Expect(
            pairs=[("look_up", "entry of <0>"), ("give_back", "stamped as returned")],
            order=("I have handed it in.", "stamped as returned", "fine"),
        ),
        Expect(on=MOVED, reports=("TOOLUSE_MOVED_LAST x1",)),
        Expect(on=("anthropic",), also=calls_stand_last),
    ),
    variant(
        "results apart and out of order",
        neutral(
            human("three shelves"),
            ai(
                call("s-1", "dust", {"shelf": 1}),
                "one",
                call("s-2", "dust", {"shelf": 2}),
                "two",
                call("s-3", "dust", {"shelf": 3}),
            ),
            tool(result("s-3", "third shelf clean")),
            tool(result("s-1", "first shelf clean")),
            human("and the second?"),
            tool(result("s-2", "second shelf clean")),
        ),
        Expect(
            reports=("RESULTS_REORDERED x1", "RESULTS_MOVED_TO_CALL x1"),
            pairs=[
                ("dust", "first shelf clean"),
                ("dust", "second shelf clean"),
                ("dust", "third shelf clean"),
            ],
        ),
        Expect(on=MOVED, reports=("TOOLUSE_MOVED_LAST x1",)),
    ),
    variant(
        "anthropic shape without thinking",
        claude(
            ("user", "shelve these"),
            (
                "assistant",
                [
                    tool_use("toolu_x", "shelve", {"n": 1}),
                    text("that was quick"),
                    tool_use("toolu_y", "shelve", {"n": 2}),
                ],
            ),
            (
                "user",
                [tool_result("toolu_x", "one shelved"), tool_result("toolu_y", "two shelved")],
            ),
        ),
        Expect(
            pairs=[("shelve", "one shelved"), ("shelve", "two shelved")], shows=("that was quick",)
        ),
        Expect(on=MOVED, reports=("TOOLUSE_MOVED_LAST x1",)),
    ),
    variant(
        "signed thinking pins everything to its place",
        claude(
            ("user", "read it to me"),
            (
                "assistant",
                [
                    signed("which page?", "sig-page"),
                    tool_use("toolu_p", "page", {"n": 7}),
                    text("turning the leaf"),
                    signed("and the next", "sig-next"),
                    tool_use("toolu_q", "page", {"n": 8}),
                ],
            ),
            ("user", [tool_result("toolu_p", "page seven"), tool_result("toolu_q", "page eight")]),
        ),
        Expect(pairs=[("page", "page seven"), ("page", "page eight")], shows=("turning the leaf",)),
        Expect(
            on=("anthropic",),
            never=("TOOLUSE_MOVED_LAST", "THINKING_DROPPED"),
            raw_shows=("sig-page", "sig-next"),
            also=lambda seen: (
                []
                if [block["type"] for block in seen.messages[1]["content"]]
                == ["thinking", "tool_use", "text", "thinking", "tool_use"]
                else [f"the blocks moved: {seen.messages[1]}"]
            ),
        ),
        Expect(on=("openai", "mistral"), reports=("THINKING_DROPPED x2",), raw_hides=("sig-",)),
    ),
]
