"""Numbers that other programs round: more than 53 bits, or written in an unusual way."""

from tests.zoo.expecting import ALL, Expect, variant
from tests.zoo.spoken import verbatim

TITLE = "numbers lose their digits"
TARGETS = ALL

VARIANTS = [
    variant(
        "integers of more than 53 and 64 bits as arguments",
        verbatim(
            """{"provider": "neutral", "messages": [
            {"speaker": "human", "blocks": [{"type": "text", "text": "fetch the row"}]},
            {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "c", "name": "row",
              "parameters": {"key": 9007199254740993, "tweet": 1823475629103847424,
                             "wide": 340282366920938463463374607431768211457}}]},
            {"speaker": "tool", "blocks": [
              {"type": "tool_result", "call_id": "c", "result": "row fetched"}]}]}"""
        ),
        Expect(
            raw_shows=(
                "9007199254740993",
                "1823475629103847424",
                "340282366920938463463374607431768211457",
            ),
            pairs=[("row", "row fetched")],
        ),
    ),
    variant(
        "in a text of arguments",
        verbatim(
            r"""{"provider": "openai", "messages": [
            {"role": "user", "content": "fetch another"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1",
              "type": "function", "function": {"name": "row",
              "arguments": "{\"id\": 7205759403792793601, \"rate\": 1.10, \"cap\": 5E-9}"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "row of the other"}]}"""
        ),
        Expect(
            raw_shows=("7205759403792793601", "1.10", "5E-9"),
            pairs=[("row", "row of the other")],
        ),
    ),
    variant(
        "as results, bare and nested",
        verbatim(
            """{"provider": "neutral", "messages": [
            {"speaker": "human", "blocks": [{"type": "text", "text": "sum it up"}]},
            {"speaker": "ai", "blocks": [
              {"type": "tool_call", "id": "a", "name": "total", "parameters": {}},
              {"type": "tool_call", "id": "b", "name": "detail", "parameters": {}}]},
            {"speaker": "tool", "blocks": [
              {"type": "tool_result", "call_id": "a", "result": 18446744073709551617},
              {"type": "tool_result", "call_id": "b",
               "result": {"sum": 12345678901234567891, "parts": [{"n": 98765432109876543213}]}}]}
            ]}"""
        ),
        Expect(
            raw_shows=("18446744073709551617", "12345678901234567891", "98765432109876543213"),
        ),
    ),
    variant(
        "unusual but exact ways to write a number",
        verbatim(
            """{"provider": "anthropic", "messages": [
            {"role": "user", "content": "calibrate"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1",
              "name": "scale", "input": {"a": 1.0, "b": 1.50, "c": 2e3, "d": -0.0, "e": 1E-7}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1",
              "content": "calibrated to 1.50"}]}]}"""
        ),
        Expect(raw_shows=("1.0", "1.50", "2e3", "-0.0", "1E-7"), pairs=[("scale", "calibrated")]),
        Expect(on=("anthropic",), raw_shows=('{"a":1.0,"b":1.50,"c":2e3,"d":-0.0,"e":1E-7}',)),
    ),
]
