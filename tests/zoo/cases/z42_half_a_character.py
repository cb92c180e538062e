"""Half an emoji: a lone surrogate, which no strict reader takes."""

from tests.zoo.expecting import ALL, Expect, variant
from tests.zoo.spoken import verbatim

TITLE = "a lone surrogate"
TARGETS = ALL
GONE = "\N{REPLACEMENT CHARACTER}"

VARIANTS = [
    variant(
        "at the end of a result",
        verbatim(
            r"""{"provider": "neutral", "messages": [
            {"speaker": "human", "blocks": [{"type": "text", "text": "smile"}]},
            {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "s", "name": "smile"}]},
            {"speaker": "tool", "blocks": [
              {"type": "tool_result", "call_id": "s", "result": "a smile \ud83d"}]}]}"""
        ),
        Expect(reports=("UNICODE_REPLACED x1",), pairs=[("smile", f"a smile {GONE}")]),
    ),
    variant(
        "in words of every speaker",
        verbatim(
            r"""{"provider": "openai", "messages": [
            {"role": "system", "content": "rule \udc00"},
            {"role": "user", "content": "low \ude00 then high \ud83d"},
            {"role": "assistant", "content": "\ud83d\ud83d twice"},
            {"role": "user", "content": "a whole one: \ud83d\ude00"}]}"""
        ),
        Expect(
            reports=("UNICODE_REPLACED x3",),
            shows=(f"rule {GONE}", f"low {GONE} then high {GONE}", f"{GONE}{GONE} twice", "😀"),
        ),
    ),
    variant(
        "in arguments, keys and names of tools",
        verbatim(
            r"""{"provider": "anthropic", "messages": [
            {"role": "user", "content": "wave"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1",
              "name": "wave", "input": {"hand \ud83d": ["left \udc4b", {"deep": "\ud800"}]}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1",
              "content": "waved"}]}]}"""
        ),
        Expect(
            reports=("UNICODE_REPLACED x1",),
            arguments=[{f"hand {GONE}": [f"left {GONE}", {"deep": GONE}]}],
            pairs=[("wave", "waved")],
        ),
    ),
    variant(
        "in a text of arguments, escaped twice",
        verbatim(
            r"""{"provider": "kimi", "messages": [
            {"role": "user", "content": "wink"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "functions.wink:0",
              "type": "function", "function": {"name": "wink",
              "arguments": "{\"eye\": \"\\ud83d\"}"}}]},
            {"role": "tool", "tool_call_id": "functions.wink:0", "content": "winked"}]}"""
        ),
        Expect(
            reports=("UNICODE_REPLACED x1",), arguments=[{"eye": GONE}], pairs=[("wink", "winked")]
        ),
    ),
    variant(
        "in a tool's name and inside a value",
        verbatim(
            r"""{"provider": "neutral", "messages": [
            {"speaker": "human", "blocks": [{"type": "text", "text": "nod"}]},
            {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "n", "name": "nod\ud83d"}]},
            {"speaker": "tool", "blocks": [{"type": "tool_result", "call_id": "n",
              "result": {"head": "down \ud83d", "\udc00": [1]}}]}]}"""
        ),
        Expect(reports=("NAME_SANITIZED x1",)),
        # Inside the JSON text of a value an escape may stand for it; as a value it may not.
        Expect(
            on=("gemini", "bedrock", "vercel", "vercel-v4"),
            reports=("UNICODE_REPLACED x1",),
            shows=(f"down {GONE}",),
        ),
    ),
    variant(
        "in an error and in an orphan",
        verbatim(
            r"""{"provider": "neutral", "messages": [
            {"speaker": "human", "blocks": [{"type": "text", "text": "shrug"}]},
            {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "g", "name": "shrug"}]},
            {"speaker": "tool", "blocks": [
              {"type": "tool_result", "call_id": "g", "status": "error", "error": "stiff \ud83d"},
              {"type": "tool_result", "call_id": "x", "result": "lost \udc00"}]}]}"""
        ),
        Expect(
            reports=("UNICODE_REPLACED x2", "ORPHAN_RESULT x1"),
            shows=(f"stiff {GONE}", f"lost {GONE}"),
            failed=(True,),
        ),
    ),
]
