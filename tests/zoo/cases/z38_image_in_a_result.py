"""Images and files inside results."""

from collections.abc import Sequence

from tests.zoo.expecting import ALL, BLIND, CHAT, SEEING, Expect, Seen, variant
from tests.zoo.spoken import (
    BLUE,
    GREEN,
    RED,
    ai,
    answer,
    assistant,
    call,
    chat,
    claude,
    function,
    human,
    image,
    neutral,
    png,
    result,
    rounds,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "a result holds an image"
TARGETS = ALL
INSIDE = ("anthropic", "bedrock")
BEHIND = ("openai", "kimi", "mistral")
PDF = "JVBERi0xLjQKJcOkw7zDtsOfCg=="


def source(data: str) -> dict[str, object]:
    kind = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": kind}


def behind_all_results(seen: Seen) -> Sequence[str]:
    """Pictures stand in a user message, and no result comes after one."""
    faults, shown = [], False
    for message in seen.messages:
        has_picture = "image_url" in str(message["content"])
        if has_picture and message["role"] != "user":
            faults.append(f"a picture stands in a message of {message['role']}")
        if shown and message["role"] == "tool":
            faults.append("a result stands behind the picture")
        shown = (shown or has_picture) and message["role"] != "assistant"
    return faults


MOVED = Expect(on=BEHIND, also=behind_all_results)
UNSEEN = Expect(on=BLIND, reports=("IMAGE_OMITTED",), raw_hides=(RED, GREEN, BLUE))

VARIANTS = [
    variant(
        "between two results",
        neutral(
            human("photograph the nest"),
            ai(call("ph", "photograph"), call("tm", "time")),
            tool(result("ph", "see the picture"), image(RED), result("tm", "noon exactly")),
        ),
        MOVED,
        UNSEEN,
        Expect(pairs=[("photograph", "see the picture"), ("time", "noon exactly")]),
        Expect(on=SEEING, once=(RED,)),
        Expect(on=BEHIND, reports=("IMAGE_RELOCATED x1",)),
        Expect(on=INSIDE, never=("IMAGE_RELOCATED", "IMAGE_OMITTED")),
        Expect(
            on=("anthropic",),
            also=lambda seen: (
                []
                if RED in str(seen.messages[2]["content"][0]) and len(seen.messages) == 3
                else [f"the picture is not in its result: {seen.messages[2]}"]
            ),
        ),
    ),
    variant(
        "three pictures of two results",
        neutral(
            *rounds(1),
            human("both nests"),
            ai(call("n1", "photograph"), call("n2", "photograph")),
            tool(result("n1", "nest one"), image(RED), image(GREEN)),
            tool(result("n2", "nest two"), image(BLUE)),
            ai("Three pictures."),
        ),
        MOVED,
        UNSEEN,
        Expect(on=SEEING, once=(RED, GREEN, BLUE)),
        Expect(on=BEHIND, reports=("IMAGE_RELOCATED x3",)),
    ),
    variant(
        "anthropic shape, picture without words",
        claude(
            ("user", "look"),
            ("assistant", tool_use("toolu_l", "look")),
            ("user", tool_result("toolu_l", [source(GREEN)])),
            ("assistant", "A green dot."),
        ),
        MOVED,
        UNSEEN,
        Expect(on=SEEING, once=(GREEN,)),
        Expect(pairs=[("look", "")], shows=("A green dot.",)),
    ),
    variant(
        "a failed result with a picture",
        claude(
            ("user", "look again"),
            ("assistant", tool_use("toolu_f", "look")),
            (
                "user",
                tool_result(
                    "toolu_f",
                    [{"type": "text", "text": "lens is dirty"}, source(BLUE)],
                    is_error=True,
                ),
            ),
        ),
        MOVED,
        UNSEEN,
        Expect(on=SEEING, once=(BLUE,)),
        Expect(pairs=[("look", "lens is dirty")], failed=(True,)),
    ),
    variant(
        "chat shape, parts inside a tool message",
        chat(
            user("draw"),
            assistant("", function("call_d", "draw"), function("call_e", "erase")),
            answer(
                "call_d",
                [
                    {"type": "text", "text": "drawn in red"},
                    {"type": "image_url", "image_url": {"url": png(RED)}},
                ],
            ),
            answer("call_e", "erased half"),
            user("nice"),
        ),
        MOVED,
        UNSEEN,
        Expect(pairs=[("draw", "drawn in red"), ("erase", "erased half")]),
        Expect(on=SEEING, once=(RED,)),
    ),
    variant(
        "a file inside a result",
        neutral(
            human("the survey as a file"),
            ai(call("sv", "export_survey")),
            {
                "speaker": "tool",
                "blocks": [
                    result("sv", "survey attached"),
                    {
                        "type": "file",
                        "data": f"data:application/pdf;base64,{PDF}",
                        "name": "survey.pdf",
                    },
                ],
            },
        ),
        Expect(pairs=[("export_survey", "survey attached")]),
        Expect(on=("openai", "anthropic", "bedrock", "gemini"), once=(PDF,)),
        Expect(on=("kimi", "mistral", "deepseek"), reports=("FILE_OMITTED x1",)),
    ),
    variant(
        "nobody is asked to see what a wire cannot show",
        neutral(
            human(image(GREEN), "what is this?"),
            ai(call("w", "what"), image(RED)),
            tool(result("w", "a leaf"), image(BLUE)),
        ),
        # Pictures of the model's own go to no provider; they are named in its words instead.
        Expect(reports=("IMAGE_OMITTED",), raw_hides=(RED,), pairs=[("what", "a leaf")]),
        Expect(on=CHAT, also=behind_all_results),
    ),
]
