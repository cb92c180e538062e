"""Kimi: ids that name the tool, reasoning beside the content, usage inside the last choice."""

from typing import Any

from tests.streams.recordings.chat import USAGE, Frame, begin, call, called, choice, more, texts
from tests.streams.recordings.frames import Event, Recording, sse

K2 = Frame("kimi", "kimi-k2", "chatcmpl-k")
ROLE: Event = {"role": "assistant", "content": ""}


def told(
    name: str, deltas: list[Event], message: Event, finish: str = "stop", *, partial: str = ""
) -> Recording:
    # platform.kimi.ai: the last choice of a stream carries the usage.
    last = K2.chunk(choice({}, finish, usage=USAGE))
    events: list[Any] = [*K2.deltas(ROLE, *deltas), last]
    return K2.recording(name, events, K2.completion({"content": "", **message}, finish))


def thoughts(*said: str) -> list[Event]:
    return [{"reasoning_content": one} for one in said]


def _failed() -> Recording:
    error = {"error": {"message": "engine overloaded", "type": "engine_overloaded_error"}}
    events = [*K2.deltas(ROLE, *thoughts("Hm"), begin(0, "functions.read:0", "read", '{"p')), error]
    return Recording("kimi", "an error in the middle", sse(*events), None, whole=False)


def _searched() -> Recording:
    """The built-in search is a call whose arguments go back as its result."""
    found = '{"search_result":{"search_id":"s1"},"usage":{"total_tokens":12}}'
    piece = {"index": 0, "id": "t-1", "type": "builtin_function"}
    events = [
        {"tool_calls": [{**piece, "function": {"name": "$web_search", "arguments": ""}}]},
        more(0, found[:30]),
        more(0, found[30:]),
    ]
    whole = call("t-1", "$web_search", found) | {"type": "builtin_function"}
    return told("the built-in search", events, {"tool_calls": [whole]}, "tool_calls")


LONG = '{"query":"selbstverständlich \\"quoted\\" 数","top":10}'
RECORDINGS = [
    told("plain text", texts("Moon", "light."), {"content": "Moonlight."}),
    told(
        "reasoning, then text",
        [*thoughts("Let me", " think."), *texts("Done", ".")],
        {"reasoning_content": "Let me think.", "content": "Done."},
    ),
    told(
        "reasoning, then calls",
        [
            *thoughts("I need both."),
            begin(0, "functions.read:0", "read"),
            more(0, '{"path":"a"}'),
            begin(1, "functions.read:1", "read"),
            more(1, '{"path":"b"}'),
        ],
        {
            "reasoning_content": "I need both.",
            "tool_calls": [
                call("functions.read:0", "read", '{"path":"a"}'),
                call("functions.read:1", "read", '{"path":"b"}'),
            ],
        },
        "tool_calls",
    ),
    told(
        "long arguments in tiny pieces",
        called(0, "functions.search:0", "search", LONG, 12),
        {"tool_calls": [call("functions.search:0", "search", LONG)]},
        "tool_calls",
    ),
    told("Chinese and emoji", texts("你", "好，🌙", "！"), {"content": "你好，🌙！"}),
    told(
        "ids that begin again at 0",
        [
            *texts("Again."),
            begin(0, "functions.look:0", "look", "{}"),
            begin(1, "functions.find:0", "find", '{"n":1}'),
        ],
        {
            "content": "Again.",
            "tool_calls": [
                call("functions.look:0", "look", "{}"),
                call("functions.find:0", "find", '{"n":1}'),
            ],
        },
        "tool_calls",
    ),
    told(
        "ids of another host",
        called(0, "call_9f", "search", '{"q":"x"}', 4),
        {"tool_calls": [call("call_9f", "search", '{"q":"x"}')]},
        "tool_calls",
    ),
    told("stopped by length", texts("On and o"), {"content": "On and o"}, "length"),
    told(
        "stopped inside the reasoning",
        thoughts("First, I ", "wou"),
        {"reasoning_content": "First, I wou"},
        "length",
    ),
    _searched(),
    told(
        "text with line ends",
        texts("a\r", "\nb\n\n", "data: c\n"),
        {"content": "a\r\nb\n\ndata: c\n"},
    ),
    _failed(),
]
