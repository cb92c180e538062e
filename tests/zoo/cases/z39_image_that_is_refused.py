"""One picture that a provider refuses must not spoil every later request."""

import base64
import struct

from tests.zoo.expecting import Expect, variant
from tests.zoo.spoken import (
    GREEN,
    ai,
    assistant,
    call,
    chat,
    claude,
    human,
    image,
    neutral,
    png,
    result,
    rounds,
    tool,
    user,
)

TITLE = "an image is too large or broken"
TARGETS = ("anthropic", "openai", "gemini", "bedrock", "kimi", "mistral", "openai-responses")
HEAD = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 1, 1, 8, 2, 0, 0, 0)
WIDE = HEAD[:16] + struct.pack(">II", 9000, 9000) + HEAD[24:]


def _picture(content: bytes) -> dict[str, str]:
    return {"type": "image", "data": png(base64.b64encode(content).decode())}


def _talk(picture: dict[str, str]) -> list[dict[str, object]]:
    return [human("look at this", picture), ai("I see."), human("only words now")]


STUB = Expect(reports=("IMAGE_OMITTED x1",), order=("look at this", "[turnkeep]", "only words now"))

VARIANTS = [
    variant(
        "six megabytes",
        neutral(*_talk(_picture(HEAD + b"\0" * 6 * 1024 * 1024))),
        Expect(
            on=("anthropic", "bedrock"),
            reports=("IMAGE_OMITTED x1",),
            order=("look at this", "[turnkeep]", "bytes", "only words now"),
            also=lambda seen: (
                []
                if seen.history.remembered.turns[0].turn_id in "\n".join(seen.texts)
                else ["the stub does not say of which turn it is"]
            ),
        ),
        targets=("anthropic", "bedrock"),
        huge=True,
    ),
    variant(
        "nine thousand pixels wide",
        neutral(*rounds(1), *_talk(_picture(WIDE))),
        Expect(
            on=("anthropic", "bedrock"),
            reports=("IMAGE_OMITTED x1",),
            order=("look at this", "9000", "only words now"),
        ),
    ),
    variant(
        "another type than declared",
        neutral(*_talk({"type": "image", "data": f"data:image/jpeg;base64,{GREEN}"})),
        STUB,
        Expect(raw_hides=(GREEN,), shows=("image/png",)),
    ),
    variant(
        "no picture at all",
        neutral(*_talk({"type": "image", "data": "data:image/png;base64,not~base64"})),
        STUB,
    ),
    variant(
        "a type that nobody takes, chat shape",
        chat(
            user(
                [
                    {"type": "text", "text": "look at this"},
                    {"type": "image_url", "image_url": {"url": "data:image/tiff;base64,SUkqAA=="}},
                ]
            ),
            assistant("I see."),
            user("only words now"),
        ),
        STUB,
        Expect(raw_hides=("SUkqAA",)),
    ),
    variant(
        "one bad picture beside a good one",
        claude(
            (
                "user",
                [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "%%%"},
                    },
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": GREEN},
                    },
                    {"type": "text", "text": "compare them"},
                ],
            ),
        ),
        Expect(reports=("IMAGE_OMITTED x1",), once=(GREEN,), raw_hides=("%%%",)),
    ),
    variant(
        "inside a result",
        neutral(
            human("take a picture"),
            ai(call("tp", "take")),
            tool(result("tp", "taken"), {"type": "image", "data": "data:;base64,"}, image(GREEN)),
        ),
        Expect(reports=("IMAGE_OMITTED x1",), once=(GREEN,), pairs=[("take", "taken")]),
    ),
]
