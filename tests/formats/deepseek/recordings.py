"""DeepSeek: nulls for what is silent, comments while one waits, usage on the last chunk."""

from typing import Any

from tests.streams.recordings.chat import USAGE, Frame, begin, call, called, choice, more
from tests.streams.recordings.frames import Event, Recording, sse

V4 = Frame("deepseek", "deepseek-chat", "6f2c-11")
WAIT = ": keep-alive"
USED: Event = USAGE | {"prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 1}


def told(name: str, deltas: list[Event], message: Event, finish: str = "stop") -> Recording:
    role: Event = {"role": "assistant", "content": ""}
    last = V4.chunk(choice({"content": ""}, finish, logprobs=None), usage=USED)
    events: list[Any] = [WAIT, *V4.deltas(role, *deltas), WAIT, last]
    whole = V4.completion({"content": "", **message}, finish, usage=USED)
    return V4.recording(name, events, whole)


def thoughts(*said: str) -> list[Event]:
    return [{"content": None, "reasoning_content": one} for one in said]


def texts(*said: str) -> list[Event]:
    return [{"content": one, "reasoning_content": None} for one in said]


def _failed() -> Recording:
    events: list[Event | str] = [WAIT, *V4.deltas(*texts("Well")), {"error": {"message": "busy"}}]
    return Recording("deepseek", "an error in the middle", sse(*events), None, whole=False)


LONG = '{"sql":"select \\u00e9 from \\"t\\" where n > 1e3","limit":null}'
RECORDINGS = [
    told("plain text", texts("Deep", " water."), {"content": "Deep water."}),
    told(
        "reasoning, then text",
        [*thoughts("1+1", " is 2."), *texts("2")],
        {"reasoning_content": "1+1 is 2.", "content": "2"},
    ),
    told(
        "reasoning, then a call",
        [*thoughts("Look it up."), *called(0, "call_00_x", "find", '{"q":"elm"}', 3)],
        {
            "reasoning_content": "Look it up.",
            "tool_calls": [call("call_00_x", "find", '{"q":"elm"}')],
        },
        "tool_calls",
    ),
    told(
        "parallel calls, mixed",
        [
            begin(0, "call_00_a", "left"),
            begin(1, "call_01_b", "right"),
            more(0, '{"m":'),
            more(1, '{"n":'),
            more(0, "1}"),
            more(1, "2}"),
        ],
        {
            "tool_calls": [
                call("call_00_a", "left", '{"m":1}'),
                call("call_01_b", "right", '{"n":2}'),
            ]
        },
        "tool_calls",
    ),
    told(
        "long arguments in tiny pieces",
        called(0, "call_00_l", "query", LONG, 12),
        {"tool_calls": [call("call_00_l", "query", LONG)]},
        "tool_calls",
    ),
    told("emoji and Chinese", texts("深", "度🐋", "求索"), {"content": "深度🐋求索"}),
    told("stopped by length", texts("So lo"), {"content": "So lo"}, "length"),
    told(
        "stopped for want of machines",
        thoughts("Hm"),
        {"reasoning_content": "Hm"},
        "insufficient_system_resource",
    ),
    told(
        "a call without arguments",
        [begin(0, "call_00_e", "now"), more(0, "{}")],
        {"tool_calls": [call("call_00_e", "now", "{}")]},
        "tool_calls",
    ),
    told(
        "one token a chunk",
        texts(*"To be, or"),
        {"content": "To be, or"},
    ),
    told(
        "reasoning, text and a call",
        [*thoughts("Both."), *texts("I will look."), begin(0, "call_00_m", "look", '{"at":0.10}')],
        {
            "reasoning_content": "Both.",
            "content": "I will look.",
            "tool_calls": [call("call_00_m", "look", '{"at":0.10}')],
        },
        "tool_calls",
    ),
    _failed(),
]
