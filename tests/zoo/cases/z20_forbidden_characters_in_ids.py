"""Ids with characters that another wire refuses."""

from tests.zoo.expecting import ALL, Expect, variant
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
    verbatim,
)

TITLE = "an id has characters that a wire refuses"
TARGETS = ALL
PLAIN = Expect(on=("anthropic", "bedrock"), ids=r"[a-zA-Z0-9_-]{1,64}")
REFUSING = ("anthropic", "bedrock", "mistral")
STRANGE = ("call one", "call|two", "cäll", "日本語", "\u00a0", "a\nb", 'quo"te', "\\", "😀", "%00")

VARIANTS = [
    variant(
        "from kimi",
        chat(
            user("note it down"),
            assistant(None, function("functions.take_note:0", "take_note", '{"text": "milk"}')),
            answer("functions.take_note:0", "noted: milk"),
            provider="kimi",
        ),
        PLAIN,
        Expect(pairs=[("take_note", "noted: milk")]),
        Expect(on=REFUSING, reports=("ID_REMAPPED x1",)),
        Expect(on=("kimi",), call_ids=("functions.take_note:0",), never=("ID_REMAPPED",)),
        Expect(on=("openai", "openai-responses"), never=("ID_REMAPPED",)),
    ),
    variant(
        "alike once they are cleaned",
        neutral(
            human("four lists"),
            ai(*(call(raw, "list_of", {"id": raw}) for raw in ("a.b", "a_b", "a:b", "a b"))),
            tool(
                result("a b", "blank list"),
                result("a_b", "underlined list"),
                result("a.b", "dotted list"),
                result("a:b", "colon list"),
            ),
        ),
        PLAIN,
        Expect(
            reports=("RESULTS_REORDERED x1",),
            pairs=[
                ("list_of", "dotted list"),
                ("list_of", "underlined list"),
                ("list_of", "colon list"),
                ("list_of", "blank list"),
            ],
        ),
        Expect(on=("anthropic", "bedrock"), reports=("ID_REMAPPED x3",)),
    ),
    variant(
        "everything a keyboard has",
        neutral(
            *rounds(1),
            human("many pens"),
            ai(*(call(raw, f"pen_{at}") for at, raw in enumerate(STRANGE))),
            *(tool(result(raw, f"pen {at} writes")) for at, raw in enumerate(STRANGE)),
        ),
        PLAIN,
        Expect(
            pairs=[
                ("look_up", "entry of <0>"),
                *((f"pen_{at}", f"pen {at} writes") for at in range(len(STRANGE))),
            ]
        ),
        Expect(on=("anthropic", "bedrock"), reports=(f"ID_REMAPPED x{len(STRANGE)}",)),
    ),
    variant(
        "no Unicode at all",
        verbatim(
            r"""{"provider": "neutral", "messages": [
            {"speaker": "human", "blocks": [{"type": "text", "text": "broken pens"}]},
            {"speaker": "ai", "blocks": [
              {"type": "tool_call", "id": "half \ud83d", "name": "pen", "parameters": {}},
              {"type": "tool_call", "id": "nul \u0000", "name": "pen", "parameters": {}}]},
            {"speaker": "tool", "blocks": [
              {"type": "tool_result", "call_id": "nul \u0000", "result": "nul pen leaks"},
              {"type": "tool_result", "call_id": "half \ud83d", "result": "half a pen"}]}]}"""
        ),
        PLAIN,
        Expect(pairs=[("pen", "half a pen"), ("pen", "nul pen leaks")]),
        Expect(on=REFUSING, reports=("ID_REMAPPED x2",)),
    ),
    variant(
        "hosted kimi without its prefix",
        chat(
            user("read and search"),
            assistant("", function("Read:158", "Read"), function("search:0", "search")),
            answer("search:0", "found in chapter nine"),
            answer("Read:158", "chapter one"),
            provider="kimi",
        ),
        PLAIN,
        Expect(pairs=[("Read", "chapter one"), ("search", "found in chapter nine")]),
        Expect(on=(*REFUSING, "kimi"), reports=("ID_REMAPPED x2",)),
        Expect(on=("kimi",), call_ids=("functions.Read:0", "functions.search:1")),
    ),
]
