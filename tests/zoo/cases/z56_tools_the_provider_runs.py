"""Tools that the provider runs itself: whole pairs go back to it, halves and others do not."""

from tests.zoo.expecting import ALL, Expect, variant
from tests.zoo.spoken import claude, items, neutral, rounds, signed, text, tool_result, tool_use

TITLE = "provider-executed tools"
TARGETS = ALL
OTHERS = tuple(target for target in ALL if target != "anthropic")


def searched(item_id: str, query: str) -> dict[str, object]:
    return {
        "type": "server_tool_use",
        "id": item_id,
        "name": "web_search",
        "input": {"query": query},
    }


def found(item_id: str, title: str) -> dict[str, object]:
    page = {
        "type": "web_search_result",
        "url": "https://example.org/",
        "title": title,
        "encrypted_content": "RW5j",
        "page_age": None,
    }
    return {"type": "web_search_tool_result", "tool_use_id": item_id, "content": [page]}


VARIANTS = [
    variant(
        "half a pair",
        claude(
            ("user", "any news?"),
            ("assistant", [searched("srvtoolu_1", "harbour news")]),
            ("user", "go on"),
        ),
        Expect(
            reports=("SERVER_TOOL_DROPPED x1",),
            raw_hides=("srvtoolu_1",),
            pairs=[],
            order=("any news?", "go on"),
        ),
    ),
    variant(
        "a whole pair",
        claude(
            ("user", "what about the tides?"),
            (
                "assistant",
                [
                    text("Searching."),
                    searched("srvtoolu_2", "tides"),
                    found("srvtoolu_2", "Tide tables"),
                    text("High at nine."),
                ],
            ),
            ("user", "good"),
        ),
        Expect(
            on=("anthropic",),
            never=("SERVER_TOOL_DROPPED",),
            raw_shows=('"type":"server_tool_use","id":"srvtoolu_2"', "Tide tables"),
        ),
        Expect(on=OTHERS, reports=("SERVER_TOOL_DROPPED x2",), raw_hides=("srvtoolu_2",)),
        Expect(order=("Searching.", "High at nine.", "good"), pairs=[]),
    ),
    variant(
        "pairs among signed thinking and calls of ours",
        [
            neutral(*rounds(1)),
            claude(
                ("user", "plan the trip"),
                (
                    "assistant",
                    [
                        signed("ferries first", "SIG-f"),
                        searched("srvtoolu_3", "ferries"),
                        found("srvtoolu_3", "Ferry times"),
                        searched("srvtoolu_4", "never answered"),
                        tool_use("toolu_1", "book"),
                    ],
                ),
                ("user", tool_result("toolu_1", "booked for two")),
            ),
        ],
        Expect(
            on=("anthropic",),
            reports=("SERVER_TOOL_DROPPED x1",),
            raw_shows=("SIG-f", "srvtoolu_3", "Ferry times"),
            raw_hides=("srvtoolu_4",),
        ),
        Expect(on=OTHERS, reports=("SERVER_TOOL_DROPPED x3",)),
        Expect(pairs=[("look_up", "entry of <0>"), ("book", "booked for two")]),
    ),
    variant(
        "a result without its use",
        claude(
            ("user", "and the weather?"),
            ("assistant", [found("srvtoolu_9", "Old weather"), text("Fair.")]),
        ),
        Expect(
            reports=("SERVER_TOOL_DROPPED x1",), raw_hides=("srvtoolu_9", "Old weather"), pairs=[]
        ),
        Expect(shows=("Fair.",)),
    ),
    variant(
        "a search of Responses",
        items(
            "openai-responses",
            {"role": "user", "content": "look it up"},
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "knots"},
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "A bowline."}],
            },
            {"type": "function_call", "call_id": "call_1", "name": "tie", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "tied"},
        ),
        Expect(on=("openai-responses",), raw_shows=("ws_1",), never=("SERVER_TOOL_DROPPED",)),
        Expect(
            on=tuple(target for target in ALL if target != "openai-responses"),
            reports=("SERVER_TOOL_DROPPED x1",),
            raw_hides=("ws_1",),
        ),
        Expect(pairs=[("tie", "tied")], shows=("A bowline.",)),
    ),
    variant(
        "code that gemini ran",
        items(
            "gemini",
            {"role": "user", "parts": [{"text": "add them up"}]},
            {
                "role": "model",
                "parts": [
                    {"executable_code": {"language": "PYTHON", "code": "print(2+2)"}},
                    {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "4"}},
                    {"text": "It is four."},
                ],
            },
            {"role": "user", "parts": [{"text": "sure?"}]},
        ),
        Expect(on=("gemini",), raw_shows=("print(2+2)",), never=("SERVER_TOOL_DROPPED",)),
        Expect(
            on=tuple(target for target in ALL if target != "gemini"),
            reports=("SERVER_TOOL_DROPPED x2",),
            raw_hides=("print(2+2)",),
        ),
        Expect(order=("It is four.", "sure?"), pairs=[]),
    ),
]
