"""Results that are lists or bare values, where a wire wants an object."""

import json
from collections.abc import Callable, Sequence

from tests.zoo.expecting import ALL, CHAT, Expect, Seen, variant
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
    rounds,
    tool,
    user,
)

TITLE = "a result is no object"
TARGETS = ALL


def as_json(*values: object) -> Callable[[Seen], Sequence[str]]:
    """On wires of text, every result is the JSON of its value."""

    def same(seen: Seen) -> Sequence[str]:
        found = [json.loads(str(words)) for *_, words in seen.calls]
        return [] if found == list(values) else [f"the results are {found}"]

    return same


def responses(*values: object) -> Expect:
    def same(seen: Seen) -> Sequence[str]:
        parts = [part for content in seen.messages for part in content["parts"]]
        shown = [part["function_response"] for part in parts if "function_response" in part]
        found = [one["response"] for one in shown]
        return [] if found == list(values) else [f"the responses are {found}"]

    return Expect(on=("gemini",), also=same)


VARIANTS = [
    variant(
        "a list",
        neutral(
            human("primes"),
            ai(call("pr", "primes", {"to": 12})),
            tool(result("pr", [2, 3, 5, 7, 11])),
        ),
        Expect(on=(*CHAT, "anthropic", "openai-responses"), also=as_json([2, 3, 5, 7, 11])),
        responses({"result": [2, 3, 5, 7, 11]}),
        Expect(on=("gemini",), reports=("RESULT_WRAPPED x1",)),
    ),
    variant(
        "bare values and a text",
        neutral(
            *rounds(1),
            human("facts"),
            ai(*(call(f"f{n}", "fact") for n in range(4))),
            tool(
                result("f0", 42),
                result("f1", True),
                result("f2", "a plain saying"),
                result("f3", ["x", {"y": None}]),
            ),
        ),
        Expect(
            pairs=[
                ("look_up", "entry of <0>"),
                ("fact", "42"),
                ("fact", "true"),
                ("fact", "a plain saying"),
                ("fact", "x"),
            ]
        ),
        responses(
            {"result": "entry of <0>"},
            {"result": 42},
            {"result": True},
            {"result": "a plain saying"},
            {"result": ["x", {"y": None}]},
        ),
        Expect(on=("gemini",), reports=("RESULT_WRAPPED x3",)),
    ),
    variant(
        "an object stays what it is",
        neutral(
            human("a record"),
            ai(call("r", "record")),
            tool(result("r", {"name": "Ada", "tags": ["first"]})),
        ),
        Expect(never=("RESULT_WRAPPED",)),
        Expect(on=(*CHAT, "anthropic"), also=as_json({"name": "Ada", "tags": ["first"]})),
        responses({"name": "Ada", "tags": ["first"]}),
    ),
    variant(
        "chat shape, a list that is no list of parts",
        chat(
            user("rows"),
            assistant("", function("call_r", "rows"), function("call_t", "rows")),
            answer("call_r", [["a", 1], ["b", 2]]),
            answer("call_t", [{"type": "text", "text": "a part after all"}]),
        ),
        Expect(pairs=[("rows", "a"), ("rows", "a part after all")]),
        Expect(on=("gemini",), reports=("RESULT_WRAPPED x1",)),
    ),
]
