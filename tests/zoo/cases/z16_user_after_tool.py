"""The user speaks directly after a tool, before the model did."""

from collections.abc import Sequence

from tests.zoo.expecting import ALL, Expect, Seen, variant
from tests.zoo.spoken import (
    GREEN,
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
    system,
    text,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "the user speaks directly after a tool"
TARGETS = ALL
OTHERS = tuple(target for target in ALL if target != "mistral")


def bridges(count: int) -> tuple[Expect, Expect]:
    def no_user_behind_tool(seen: Seen) -> Sequence[str]:
        pairs = zip(seen.roles, seen.roles[1:], strict=False)
        return [f"{pair} side by side" for pair in pairs if pair == ("tool", "user")]

    there = Expect(
        on=("mistral",), reports=(f"BRIDGE_ASSISTANT x{count}",), also=no_user_behind_tool
    )
    return there, Expect(on=OTHERS, never=("BRIDGE_ASSISTANT",))


VARIANTS = [
    variant(
        "never mind",
        neutral(
            human("look for the cat"),
            ai(call("cat-1", "look_for", {"pet": "cat"})),
            tool(result("cat-1", "no cat anywhere")),
            human("never mind the cat"),
        ),
        *bridges(1),
        Expect(
            pairs=[("look_for", "no cat anywhere")], order=("no cat anywhere", "never mind the cat")
        ),
    ),
    variant(
        "again and again",
        neutral(
            *(
                turn
                for pet in ("dog", "owl", "hen")
                for turn in (
                    human(f"call the {pet}"),
                    ai(call(f"{pet}-1", "whistle")),
                    tool(result(f"{pet}-1", f"the {pet} comes")),
                )
            ),
            human("enough"),
        ),
        *bridges(3),
        Expect(pairs=[("whistle", f"the {pet} comes") for pet in ("dog", "owl", "hen")]),
    ),
    variant(
        "a note inside the tool's own turn",
        neutral(
            human("feed them"),
            ai(call("feed-1", "feed"), call("feed-2", "feed")),
            tool(
                result("feed-1", "hay given"), result("feed-2", "corn given"), "hook: barn is low"
            ),
        ),
        *bridges(1),
        Expect(order=("hay given", "corn given", "hook: barn is low")),
    ),
    variant(
        "the system speaks after a tool",
        neutral(
            human("close the barn"),
            ai(call("barn-1", "close")),
            tool(result("barn-1", "barn closed")),
            system("it is night now"),
            human("lights out"),
        ),
        *bridges(1),
        Expect(order=("barn closed", "it is night now", "lights out")),
    ),
    variant(
        "a picture inside the result",
        neutral(
            human("show me the foal"),
            ai(call("foal-1", "photograph")),
            tool(result("foal-1", "foal in the grass"), image(GREEN)),
            ai("A fine foal."),
        ),
        *bridges(1),
        Expect(pairs=[("photograph", "foal in the grass")]),
        Expect(on=("mistral", "openai", "kimi", "anthropic"), once=(GREEN,)),
    ),
    variant(
        "chat shape, a strange result behind",
        chat(
            user("count the sheep"),
            assistant("", function("call_sheep", "count")),
            answer("call_sheep", "forty sheep"),
            answer("call_goats", "two goats"),
        ),
        *bridges(1),
        Expect(pairs=[("count", "forty sheep")], shows=("two goats",)),
    ),
    variant(
        "anthropic shape, the user interrupts",
        claude(
            ("user", "shear the sheep"),
            ("assistant", tool_use("toolu_shear", "shear")),
            ("user", [tool_result("toolu_shear", "half of them shorn"), text("stop the shearing")]),
        ),
        *bridges(1),
        Expect(order=("half of them shorn", "stop the shearing")),
    ),
]
