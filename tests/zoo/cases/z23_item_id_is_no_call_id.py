"""Responses has two ids: `call_id` pairs, the item's own `id` has a prefix and is optional."""

from collections.abc import Sequence

from tests.zoo.expecting import Expect, Seen, variant
from tests.zoo.spoken import items

TITLE = "item ids and call ids are confused"
TARGETS = ("openai-responses", "openai", "anthropic", "kimi", "mistral")


def no_item_ids(seen: Seen) -> Sequence[str]:
    return [f"an item carries its id: {item}" for item in seen.messages if "id" in item]


NONE = Expect(on=("openai-responses",), also=no_item_ids, ids=r"call_[A-Za-z0-9_-]{24}")


def asked(name: str, call_id: str, item_id: str | None) -> dict[str, object]:
    item: dict[str, object] = {"type": "function_call", "call_id": call_id, "name": name}
    item["arguments"] = "{}"
    return item | {"id": item_id} if item_id is not None else item


def gave(call_id: str, output: str) -> dict[str, object]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


VARIANTS = [
    variant(
        "the call id stands in both",
        items(
            "openai-responses", asked("dive", "call_D1", "call_D1"), gave("call_D1", "12 m deep")
        ),
        NONE,
        Expect(pairs=[("dive", "12 m deep")], never=("ORPHAN_RESULT", "SYNTH_RESULT")),
    ),
    variant(
        "proper item ids",
        items(
            "openai-responses",
            {"role": "user", "content": "dive twice"},
            asked("dive", "call_A", "fc_1"),
            asked("dive", "call_B", "fc_2"),
            gave("call_B", "second dive: reef"),
            gave("call_A", "first dive: sand"),
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Two dives.", "annotations": []}],
            },
        ),
        NONE,
        Expect(
            pairs=[("dive", "first dive: sand"), ("dive", "second dive: reef")],
            raw_hides=("fc_1", "msg_1"),
            shows=("Two dives.",),
        ),
    ),
    variant(
        "ids of other makers",
        items(
            "openai-responses",
            asked("swim", "item_77", "item_77"),
            gave("item_77", "forty lengths"),
            {"role": "assistant", "id": "chatcmpl-5", "content": "Forty."},
            {"role": "user", "content": "once more"},
            asked("swim", "toolu_x", "msg_9"),
            gave("toolu_x", "fifty lengths"),
        ),
        NONE,
        Expect(pairs=[("swim", "forty lengths"), ("swim", "fifty lengths")]),
    ),
    variant(
        "empty and absent item ids",
        items(
            "openai-responses",
            {"role": "user", "content": "float"},
            asked("float", "call_F", ""),
            asked("float", "call_G", None),
            gave("call_F", "floats well"),
            gave("call_G", "sinks slowly"),
        ),
        NONE,
        Expect(pairs=[("float", "floats well"), ("float", "sinks slowly")]),
    ),
    variant(
        "the item id where the call id belongs",
        items(
            "openai-responses",
            {"role": "user", "content": "surface"},
            asked("rise", "call_R", "fc_R"),
            gave("fc_R", "up at the surface"),
        ),
        NONE,
        # The only open call, and the ids agree but for their prefixes.
        Expect(pairs=[("rise", "up at the surface")], reports=("MATCHED_BY_FALLBACK x1",)),
    ),
]
