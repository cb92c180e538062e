"""A result that carries no name, or another name than its call."""

from tests.zoo.expecting import ALL, Expect, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    function,
    human,
    items,
    neutral,
    result,
    rounds,
    tool,
    user,
)

TITLE = "a result has another name than its call"
TARGETS = ALL
# On wires whose results carry names the judges compare them with the call's.
NAMING = ("gemini", "mistral", "vercel", "vercel-v4")

VARIANTS = [
    variant(
        "the bridged tool's own name",
        chat(
            user("open an issue"),
            assistant(None, function("call_1", "use_bridge", "{}")),
            answer("call_1", "issue is open", name="bridge__tracker__open"),
        ),
        Expect(pairs=[("use_bridge", "issue is open")]),
        Expect(on=NAMING, raw_hides=("bridge__tracker__open",)),
    ),
    variant(
        "no name, and a name that says unknown",
        neutral(
            *rounds(1),
            human("two posts"),
            ai(call("p1", "post"), call("p2", "mail")),
            tool(result("p1", "posted it", name="unknown"), result("p2", "mailed it")),
        ),
        Expect(pairs=[("look_up", "entry of <0>"), ("post", "posted it"), ("mail", "mailed it")]),
        Expect(on=NAMING, raw_hides=("unknown",)),
    ),
    variant(
        "names swapped, ids right",
        neutral(
            human("swap"),
            ai(call("s1", "left"), call("s2", "right")),
            tool(
                result("s2", "of the right", name="left"), result("s1", "of the left", name="right")
            ),
        ),
        Expect(pairs=[("left", "of the left"), ("right", "of the right")]),
    ),
    variant(
        "gemini shape, the id is right and the name is not",
        items(
            "gemini",
            {"role": "user", "parts": [{"text": "bridge it"}]},
            {
                "role": "model",
                "parts": [{"functionCall": {"id": "g1", "name": "bridge", "args": {}}}],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "g1",
                            "name": "mcp__real",
                            "response": {"result": "bridged"},
                        }
                    }
                ],
            },
        ),
        Expect(pairs=[("bridge", "bridged")]),
        Expect(on=NAMING, raw_hides=("mcp__real",)),
    ),
    variant(
        "a refused name is mapped on both sides",
        neutral(
            human("dotted"),
            ai(call("d1", "git hub.open")),
            tool(result("d1", "opened", name="git hub.open")),
        ),
        Expect(pairs=[(None, "opened")], reports=("NAME_SANITIZED x1",)),
    ),
]
