"""Item ids that point to nothing stored, or stand on two items."""

from collections.abc import Sequence

from tests.zoo.expecting import KEEPING, NAMING, Expect, Seen, variant
from tests.zoo.spoken import items, neutral, rounds

TITLE = "item ids point to nothing or appear twice"
TARGETS = ("openai-responses", "openai", "anthropic")
WIRE = "openai-responses"


def says(item_id: str, text: str) -> dict[str, object]:
    return {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }


def no_server_ids(seen: Seen) -> Sequence[str]:
    return [
        f"{item} leans on the server"
        for item in seen.messages
        if "id" in item or item.get("type") == "item_reference"
    ]


OWN = Expect(on=(WIRE,), also=no_server_ids)

VARIANTS = [
    variant(
        "two messages under one id and a reference",
        items(
            WIRE,
            says("msg_4", "first verse"),
            says("msg_4", "second verse"),
            {"type": "item_reference", "id": "rs_9"},
        ),
        OWN,
        Expect(order=("first verse", "second verse"), raw_hides=("msg_4", "rs_9")),
        Expect(reports=("BLOCK_OMITTED x1",)),
    ),
    variant(
        "references among real items",
        items(
            WIRE,
            {"role": "user", "content": "sing on"},
            {"type": "item_reference", "id": "msg_1"},
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "hum",
                "arguments": "{}",
            },
            {"type": "item_reference", "id": "fc_1"},
            {"type": "function_call_output", "id": "fc_1", "call_id": "call_1", "output": "hummed"},
        ),
        OWN,
        Expect(
            reports=("BLOCK_OMITTED x2",), pairs=[("hum", "hummed")], raw_hides=("item_reference",)
        ),
    ),
    variant(
        "ids counted by a client, after a healthy history",
        [
            neutral(*rounds(1)),
            items(WIRE, says("msg_0", "third verse"), {"role": "user", "content": "more"}),
            items(WIRE, says("msg_0", "fourth verse"), {"role": "user", "content": "thanks"}),
        ],
        OWN,
        Expect(order=("third verse", "more", "fourth verse", "thanks"), raw_hides=("msg_0",)),
    ),
    variant(
        "one output twice",
        items(
            WIRE,
            {"role": "user", "content": "drum"},
            {
                "type": "function_call",
                "id": "fc_2",
                "call_id": "call_2",
                "name": "drum",
                "arguments": "{}",
            },
            {
                "type": "function_call",
                "id": "fc_2",
                "call_id": "call_2",
                "name": "drum",
                "arguments": "{}",
            },
            {"type": "function_call_output", "call_id": "call_2", "output": "one beat"},
            {"type": "function_call_output", "call_id": "call_2", "output": "two beats"},
        ),
        OWN,
        Expect(pairs=[("drum", "one beat"), ("drum", "two beats")]),
        Expect(on=KEEPING, reports=("ID_REMAPPED x1",)),
        Expect(on=NAMING, reports=("ID_REMAPPED x2",)),
    ),
]
