"""Two turns in a row have the same speaker."""

from tests.zoo.expecting import ALL, Expect, alternates, variant
from tests.zoo.spoken import (
    BLUE,
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
    result,
    rounds,
    tool,
    tool_use,
    user,
)

TITLE = "the same speaker speaks twice in a row"
TARGETS = ALL
ALTERNATING = ("anthropic", "mistral", "bedrock")
MERGED = Expect(on=ALTERNATING, reports=("ROLES_MERGED",), also=alternates)
APART = Expect(on=("openai", "kimi"), never=("ROLES_MERGED",))

VARIANTS = [
    variant(
        "both of them",
        neutral(
            human("draw a house"),
            human("with a red door"),
            ai("A house."),
            ai("The door next.", call("paint-1", "paint", {"what": "door"})),
            tool(result("paint-1", "door is red")),
        ),
        MERGED,
        APART,
        Expect(
            pairs=[("paint", "door is red")],
            order=("draw a house", "with a red door", "A house.", "The door next.", "door is red"),
        ),
        Expect(on=("openai",), roles=("user", "user", "assistant", "assistant", "tool")),
        Expect(on=ALTERNATING, reports=("ROLES_MERGED x2",)),
    ),
    variant(
        "the user five times, with a picture",
        neutral(
            human("one line"),
            human("two lines"),
            human(image(BLUE)),
            human("three lines"),
            human("four lines"),
            ai("Four lines and a dot."),
        ),
        MERGED,
        APART,
        Expect(order=("one line", "two lines", "three lines", "four lines")),
        Expect(on=("anthropic", "mistral", "openai", "kimi"), once=(BLUE,)),
        Expect(on=ALTERNATING, reports=("ROLES_MERGED x4",)),
    ),
    variant(
        "the user after results",
        neutral(
            *rounds(1),
            human("shade it"),
            ai(call("shade-1", "shade")),
            tool(result("shade-1", "shaded grey")),
            human("darker"),
            human("no, lighter"),
        ),
        MERGED,
        APART,
        Expect(order=("shaded grey", "darker", "no, lighter")),
        Expect(on=("anthropic",), groups=2),
    ),
    variant(
        "two model turns with calls and no results between",
        neutral(
            human("frame and hang"),
            ai(call("frame-1", "frame")),
            ai(call("hang-1", "hang")),
            tool(result("frame-1", "framed in oak"), result("hang-1", "hangs straight")),
        ),
        Expect(on=ALTERNATING, also=alternates),
        Expect(pairs=[("frame", "framed in oak"), ("hang", "hangs straight")]),
    ),
    variant(
        "chat shape, a retry stored twice",
        chat(
            user("sign it"),
            user("sign it"),
            assistant("Signed"),
            assistant("in the corner.", function("call_sign", "sign")),
            answer("call_sign", "signature is dry"),
        ),
        MERGED,
        APART,
        Expect(pairs=[("sign", "signature is dry")]),
    ),
    variant(
        "anthropic shape, a sub-agent's words appended",
        claude(
            ("user", "varnish"),
            ("assistant", "I ask my helper."),
            ("assistant", [{"type": "text", "text": "helper: gloss or matt?"}]),
            ("user", "matt"),
            ("assistant", tool_use("toolu_v", "varnish")),
        ),
        MERGED,
        APART,
        Expect(order=("I ask my helper.", "helper: gloss or matt?", "matt")),
    ),
]
