"""The character NUL in texts, arguments and results; databases like to cut there."""

from tests.zoo.expecting import ALL, Expect, variant
from tests.zoo.spoken import verbatim

TITLE = "the character NUL"
TARGETS = ALL
NUL = "\0"

VARIANTS = [
    variant(
        "in a result",
        verbatim(
            r"""{"provider": "neutral", "messages": [
            {"speaker": "human", "blocks": [{"type": "text", "text": "dump it"}]},
            {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "d", "name": "dump"}]},
            {"speaker": "tool", "blocks": [
              {"type": "tool_result", "call_id": "d", "result": "before\u0000after"}]}]}"""
        ),
        Expect(pairs=[("dump", f"before{NUL}after")], never=("UNICODE_REPLACED",)),
    ),
    variant(
        "at the beginning, at the end, alone",
        verbatim(
            r"""{"provider": "openai", "messages": [
            {"role": "user", "content": "\u0000 in front"},
            {"role": "assistant", "content": "behind \u0000", "tool_calls": [{"id": "call_1",
              "type": "function", "function": {"name": "see", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "\u0000"}]}"""
        ),
        Expect(shows=(f"{NUL} in front", f"behind {NUL}"), pairs=[("see", NUL)]),
    ),
    variant(
        "in arguments and keys",
        verbatim(
            r"""{"provider": "anthropic", "messages": [
            {"role": "user", "content": "write bytes"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1",
              "name": "write", "input": {"da\u0000ta": "x\u0000y"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1",
              "content": "written"}]}]}"""
        ),
        Expect(arguments=[{f"da{NUL}ta": f"x{NUL}y"}], pairs=[("write", "written")]),
    ),
    variant(
        "in a value, with other control characters",
        verbatim(
            r"""{"provider": "neutral", "messages": [
            {"speaker": "human", "blocks": [{"type": "text", "text": "raw bytes"}]},
            {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "r", "name": "raw"}]},
            {"speaker": "tool", "blocks": [{"type": "tool_result", "call_id": "r",
              "result": {"stdout": "a\u0000b\u0001c\u001b[0m\u007f", "list": ["\u0000"]}}]}]}"""
        ),
        Expect(pairs=[("raw", "")], raw_shows=("u0000b",)),
    ),
]
