"""Ids that are longer than a wire takes."""

from tests.zoo.expecting import ALL, Expect, Refused, variant
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

TITLE = "an id is too long"
TARGETS = ALL
SHORT = ("openai", "deepseek", "qwen")
LONG = "fc_" + "0f1e2d3c4b" * 5
# Alike in their first forty characters, as ids of one response often are.
TWINS = ("gw_" + "a" * 60 + "1", "gw_" + "a" * 60 + "2")
ID_LENGTHS = (
    Expect(on=SHORT, ids=r".{1,40}"),
    Expect(on=("openai-responses", "bedrock"), ids=r".{1,64}"),
    Expect(on=("anthropic",), ids=r"toolu_[A-Za-z0-9_-]{24}"),
    Expect(on=("mistral",), ids=r"[A-Za-z0-9]{9}"),
)

VARIANTS = [
    variant(
        "an item id of Responses",
        neutral(
            human("find the ledger"),
            ai(call(LONG, "find", {"what": "ledger"})),
            tool(result(LONG, "ledger in drawer two")),
        ),
        Expect(pairs=[("find", "ledger in drawer two")], raw_hides=(LONG,)),
        Expect(on=SHORT, reports=("ID_REMAPPED x1",)),
        Expect(on=("openai-responses", "anthropic"), never=("ID_REMAPPED",)),
        *ID_LENGTHS,
    ),
    variant(
        "two that differ in the last character",
        neutral(
            *rounds(1),
            human("both accounts"),
            ai(call(TWINS[0], "sum", {"account": 1}), call(TWINS[1], "sum", {"account": 2})),
            tool(result(TWINS[1], "account two: red"), result(TWINS[0], "account one: black")),
        ),
        Expect(
            pairs=[
                ("look_up", "entry of <0>"),
                ("sum", "account one: black"),
                ("sum", "account two: red"),
            ]
        ),
        Expect(on=SHORT, reports=("ID_REMAPPED x2",)),
        *ID_LENGTHS,
    ),
    variant(
        "forty characters pass, one more does not",
        chat(
            user("audit"),
            assistant("", function("c" * 40, "audit"), function("c" * 41, "audit")),
            answer("c" * 40, "audit of forty"),
            answer("c" * 41, "audit of forty-one"),
        ),
        Expect(pairs=[("audit", "audit of forty"), ("audit", "audit of forty-one")]),
        Expect(on=SHORT, reports=("ID_REMAPPED x1",)),
        *ID_LENGTHS,
    ),
    variant(
        "a gateway's id of thousands of characters",
        chat(
            user("reconcile"),
            assistant("", function("gw:" + "x." * 2300, "reconcile")),
            answer("gw:" + "x." * 2300, "books agree"),
            user("good"),
            provider="gateway",
        ),
        Expect(pairs=[("reconcile", "books agree")], raw_hides=("x.x.x.x.",)),
        Expect(on=(*SHORT, "anthropic", "bedrock", "mistral", "kimi"), reports=("ID_REMAPPED x1",)),
        *ID_LENGTHS,
    ),
    variant(
        "anthropic shape, the longest id that is taken",
        claude(
            ("user", "close the books"),
            ("assistant", tool_use("t" * 65_536, "close")),
            ("user", tool_result("t" * 65_536, "books are closed")),
        ),
        Expect(pairs=[("close", "books are closed")], raw_hides=("t" * 41,)),
        Expect(on=SHORT, reports=("ID_REMAPPED x1",)),
        *ID_LENGTHS,
    ),
]

REFUSED = [
    Refused(
        "longer than the limit",
        neutral(human("x"), ai(call("t" * 65_537, "close"))),
        "/messages/1",
    ),
    Refused(
        "longer than the limit, beside a system prompt",
        claude(("user", "x"), ("assistant", tool_use("t" * 65_537, "close")), system="rules"),
        "/messages/1",
    ),
]
