"""A reasoning item and the item after it are one unit."""

from tests.zoo.expecting import Expect, variant
from tests.zoo.spoken import items, neutral, rounds

TITLE = "reasoning without its item, or an item without its reasoning"
TARGETS = ("openai-responses", "openai", "anthropic")
WIRE = "openai-responses"


def reasoning(item_id: str, sealed: str | None, *summary: str) -> dict[str, object]:
    told = [{"type": "summary_text", "text": one} for one in summary]
    return {"type": "reasoning", "id": item_id, "summary": told, "encrypted_content": sealed}


def asked(name: str, call_id: str) -> dict[str, object]:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": "{}",
    }


def gave(call_id: str, output: str) -> dict[str, object]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def says(text: str) -> dict[str, object]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


USER = {"role": "user", "content": "weave a net"}
ELSEWHERE = Expect(on=("openai", "anthropic"), raw_hides=("SEALED",))

VARIANTS = [
    variant(
        "not sealed, so it stays away, with its item id",
        items(
            WIRE, USER, reasoning("rs_1", None), asked("weave", "call_1"), gave("call_1", "a net")
        ),
        Expect(
            reports=("THINKING_DROPPED x1",),
            raw_hides=("rs_1", "fc_call_1"),
            pairs=[("weave", "a net")],
        ),
    ),
    variant(
        "nothing follows it",
        items(
            WIRE,
            USER,
            reasoning("rs_1", "SEALED-1", "knots"),
            asked("weave", "call_1"),
            gave("call_1", "half a net"),
            reasoning("rs_2", "SEALED-2"),
            {"role": "user", "content": "go on"},
        ),
        ELSEWHERE,
        Expect(
            on=(WIRE,),
            raw_shows=("SEALED-1",),
            raw_hides=("SEALED-2",),
            reports=("THINKING_DROPPED x1",),
            order=("knots", "half a net", "go on"),
        ),
        Expect(pairs=[("weave", "half a net")]),
    ),
    variant(
        "sealed, before calls and before words",
        [
            neutral(*rounds(1)),
            items(
                WIRE,
                USER,
                reasoning("rs_1", "SEALED-1"),
                asked("weave", "call_1"),
                asked("knot", "call_2"),
                gave("call_1", "woven"),
                gave("call_2", "knotted"),
                reasoning("rs_2", "SEALED-2"),
                says("The net is ready."),
            ),
        ],
        ELSEWHERE,
        Expect(
            on=(WIRE,),
            raw_shows=("SEALED-1", "SEALED-2"),
            never=("THINKING_DROPPED",),
            order=("woven", "knotted", "The net is ready."),
        ),
        Expect(pairs=[("look_up", "entry of <0>"), ("weave", "woven"), ("knot", "knotted")]),
    ),
    variant(
        "thinking between two calls of one turn",
        items(
            WIRE,
            USER,
            reasoning("rs_1", "SEALED-1"),
            asked("weave", "call_1"),
            reasoning("rs_2", "SEALED-2"),
            asked("knot", "call_2"),
            gave("call_2", "two knots"),
            gave("call_1", "one row"),
        ),
        ELSEWHERE,
        Expect(on=(WIRE,), raw_shows=("SEALED-1", "SEALED-2")),
        Expect(
            pairs=[("weave", "one row"), ("knot", "two knots")], reports=("RESULTS_REORDERED x1",)
        ),
    ),
    variant(
        "not wanted at all",
        items(
            WIRE,
            USER,
            reasoning("rs_1", "SEALED-1", "knots"),
            asked("weave", "call_1"),
            gave("call_1", "a small net"),
            reasoning("rs_2", "SEALED-2"),
            says("Small but strong."),
        ),
        Expect(
            raw_hides=("SEALED", "rs_", "reasoning"),
            reports=("THINKING_DROPPED x2",),
            pairs=[("weave", "a small net")],
        ),
        options={"reasoning": "drop"},
    ),
    variant(
        "responses of one reasoning item twice",
        items(
            WIRE,
            USER,
            reasoning("rs_1", "SEALED-1"),
            says("First draft."),
            {"role": "user", "content": "again"},
            reasoning("rs_1", "SEALED-1"),
            says("Second draft."),
        ),
        ELSEWHERE,
        Expect(on=(WIRE,), once=("SEALED-1",), reports=("THINKING_DROPPED x1",)),
        Expect(order=("First draft.", "again", "Second draft.")),
    ),
]
