"""Turns that mix what other converters drop: text beside results, images, unknown things."""

from tests.zoo.expecting import ALL, BLIND, SEEING, Expect, Refused, variant
from tests.zoo.spoken import (
    BLUE,
    GREEN,
    RED,
    ai,
    assistant,
    call,
    chat,
    claude,
    human,
    image,
    neutral,
    result,
    rounds,
    text,
    thinking,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "blocks are lost in mixed turns"
TARGETS = ALL

VARIANTS = [
    variant(
        "result, note and picture in one turn",
        neutral(
            human("survey the field"),
            ai(call("sv", "survey")),
            tool(result("sv", "surveyed"), "and a note", image(RED)),
        ),
        Expect(pairs=[("survey", "surveyed")], order=("surveyed", "and a note")),
        Expect(on=SEEING, once=(RED,)),
        Expect(on=BLIND, reports=("IMAGE_OMITTED x1",)),
    ),
    variant(
        "an orphan with everything beside it",
        neutral(
            tool(result("gone", "of an old survey"), "a second note", image(GREEN)),
            ai(image(BLUE), "My drawing."),
            human("nice"),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1", "IMAGE_OMITTED"),
            order=("of an old survey", "a second note", "My drawing.", "nice"),
            raw_hides=(BLUE,),
        ),
    ),
    variant(
        "blocks that nobody knows",
        neutral(
            *rounds(1),
            human("listen", {"type": "audio", "data": "T2dnUw=="}),
            ai({"type": "hologram", "rays": [1, 2]}, "I hear.", {"type": "audio", "data": "AAAA"}),
            tool({"type": "telemetry", "bits": 7}),
            {"speaker": "system", "blocks": [{"type": "badge", "n": 1}, text("end")]},
        ),
        Expect(
            reports=("BLOCK_OMITTED x5",),
            order=("listen", "I hear.", "end"),
            raw_hides=("hologram", "telemetry", "badge", "T2dnUw=="),
        ),
    ),
    variant(
        "thinking, words, calls, pictures and results at once",
        neutral(
            human("first", image(RED), "second", image(GREEN), "third"),
            ai(thinking("to myself"), "aloud", call("a", "act"), "aside", image(BLUE)),
            tool("before", result("a", "acted"), image(BLUE), "after"),
            human("fourth"),
        ),
        Expect(
            pairs=[("act", "acted")],
            shows=("first", "second", "third", "aloud", "aside", "before", "after", "fourth"),
            reports=("IMAGE_OMITTED",),
        ),
        Expect(on=SEEING, once=(RED, GREEN, BLUE), reports=("IMAGE_OMITTED x1",)),
    ),
    variant(
        "chat parts that others do not take",
        chat(
            user(
                [
                    {"type": "text", "text": "transcribe"},
                    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                    {"type": "file", "file": {"file_id": "file-77"}},
                ]
            ),
            assistant([{"type": "refusal", "refusal": "I would rather not."}]),
        ),
        Expect(order=("transcribe", "I would rather not.")),
        Expect(on=("openai",), once=("file-77", "UklGRg=="), never=("BLOCK_OMITTED",)),
        Expect(
            on=tuple(target for target in ALL if target != "openai"),
            reports=("BLOCK_OMITTED x2",),
            raw_hides=("file-77", "UklGRg=="),
        ),
    ),
    variant(
        "anthropic documents and unknown blocks",
        claude(
            (
                "user",
                [
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "page one"},
                    },
                    {"type": "container_upload", "file_id": "file_9"},
                    text("read it"),
                ],
            ),
            ("assistant", [text("Reading."), tool_use("toolu_1", "read")]),
            (
                "user",
                [
                    tool_result(
                        "toolu_1",
                        [
                            text("it says"),
                            {
                                "type": "search_result",
                                "source": "s",
                                "title": "t",
                                "content": [text("quoted")],
                            },
                        ],
                    ),
                    text("and?"),
                ],
            ),
        ),
        Expect(pairs=[("read", "it says")], order=("read it", "Reading.", "it says", "and?")),
        Expect(
            on=tuple(target for target in ALL if target != "anthropic"),
            reports=("BLOCK_OMITTED",),
            raw_hides=("file_9",),
        ),
    ),
]

REFUSED = [
    Refused(
        "an unknown speaker", neutral({"speaker": "critic", "blocks": []}), "/messages/0/speaker"
    ),
    Refused("no speaker", neutral({"blocks": [text("x")]}), "/messages/0/speaker"),
    Refused("a block without a type", neutral(human({"text": "x"})), "/messages/0/blocks/0/type"),
    Refused(
        "a block that is no object",
        neutral({"speaker": "human", "blocks": ["x"]}),
        "/messages/0/blocks/0",
    ),
    Refused("a human who calls a tool", neutral(human("x"), human(call("c", "f"))), "/messages/1"),
    Refused(
        "an unknown role", chat(user("x"), {"role": "critic", "content": "y"}), "/messages/1/role"
    ),
    Refused(
        "a result in a state that nobody knows",
        neutral(tool(result("c", "x", status="perhaps"))),
        "/messages/0/blocks/0/status",
    ),
]
