"""Chat Completions as OpenAI streams them: role first, usage in a chunk of its own."""

from typing import Any

from tests.streams.recordings.chat import (
    DONE,
    USAGE,
    Frame,
    begin,
    call,
    called,
    choice,
    more,
    texts,
)
from tests.streams.recordings.frames import Event, Recording, sse

GPT = Frame("openai", "gpt-5", "chatcmpl-1")
ROLE: Event = {"role": "assistant", "content": "", "refusal": None}
CALLING: Event = {"role": "assistant", "content": None}
USED = GPT.chunk(usage=USAGE)


def told(name: str, deltas: list[Event], message: Event, finish: str = "stop") -> Recording:
    events: list[Any] = [*GPT.deltas(*deltas), GPT.chunk(choice({}, finish)), USED]
    return GPT.recording(name, events, GPT.completion(message, finish))


def _two_choices() -> Recording:
    events: list[Event | str] = [
        GPT.chunk(choice({**ROLE, "content": "Yes"})),
        GPT.chunk(choice({**ROLE, "content": "No"}, index=1)),
        GPT.chunk(choice({"content": "!"}), choice({"content": "?"}, index=1)),
        GPT.chunk(choice({}, "stop", 1)),
        GPT.chunk(choice({}, "stop")),
        USED,
    ]
    finished = GPT.completion({"content": "Yes!"})
    other = {"role": "assistant", "content": "No?"}
    finished["choices"].append({"index": 1, "message": other, "finish_reason": "stop"})
    return GPT.recording("two choices", events, finished)


def _filtered() -> Recording:
    """Azure: the first chunk has no choice and no id, the text is stopped by a filter."""
    first = GPT.chunk(prompt_filter_results=[{"prompt_index": 0}]) | {"id": "", "model": ""}
    events: list[Event | str] = [
        first,
        *GPT.deltas(ROLE, *texts("It is")),
        GPT.chunk(choice({}, "content_filter")),
        USED,
    ]
    finished = GPT.completion({"content": "It is"}, "content_filter")
    return GPT.recording("stopped by a filter", events, finished)


def _custom() -> Recording:
    first = {"index": 0, "id": "call_c", "type": "custom", "custom": {"name": "sql", "input": ""}}
    events = [
        {**CALLING, "tool_calls": [first]},
        {"tool_calls": [{"index": 0, "custom": {"input": "select "}}]},
        {"tool_calls": [{"index": 0, "custom": {"input": '"n"\n'}}]},
    ]
    whole = {"name": "sql", "input": 'select "n"\n'}
    message = {"tool_calls": [{"id": "call_c", "type": "custom", "custom": whole}]}
    return told("a custom tool", events, message, "tool_calls")


def _legacy() -> Recording:
    events: list[Event] = [
        {**CALLING, "function_call": {"name": "find", "arguments": ""}},
        {"function_call": {"arguments": '{"q":'}},
        {"function_call": {"arguments": '"elm"}'}},
    ]
    message = {"function_call": {"name": "find", "arguments": '{"q":"elm"}'}}
    return told("a function call of old", events, message, "function_call")


def _annotated() -> Recording:
    cited = {"type": "url_citation", "url_citation": {"url": "https://e.org", "title": "E"}}
    events = [ROLE, *texts("See ", "E."), {"annotations": [cited]}]
    return told("citations", events, {"content": "See E.", "annotations": [cited]})


def _failed() -> Recording:
    error = {"error": {"message": "The server had an error", "type": "server_error", "code": None}}
    events: list[Event | str] = [*GPT.deltas(ROLE, *texts("Hel")), error]
    return Recording("openai", "an error in the middle", sse(*events), None, whole=False)


LONG = '{"path":"/srv/données/été.txt","lines":[1,20,300],"deep":{"a":{"b":[true,null]}}}'
RECORDINGS = [
    told("plain text", [ROLE, *texts("Hel", "lo", " there.")], {"content": "Hello there."}),
    told(
        "parallel calls",
        [
            CALLING,
            begin(0, "call_a", "weather"),
            more(0, '{"city":"Bonn"}'),
            begin(1, "call_b", "time"),
            more(1, '{"zone":'),
            more(1, '"CET"}'),
        ],
        {
            "tool_calls": [
                call("call_a", "weather", '{"city":"Bonn"}'),
                call("call_b", "time", '{"zone":"CET"}'),
            ]
        },
        "tool_calls",
    ),
    told(
        "long arguments in tiny pieces",
        [CALLING, *called(0, "call_l", "read", LONG, 14)],
        {"tool_calls": [call("call_l", "read", LONG)]},
        "tool_calls",
    ),
    told(
        "many scripts",
        [ROLE, *texts("žluť", "oučký 🐎", " 日本", "語\u2028\x7f\\n")],
        {"content": "žluťoučký 🐎 日本語\u2028\x7f\\n"},
    ),
    told(
        "a refusal",
        [ROLE, {"refusal": "I can"}, {"refusal": "not."}],
        {"content": None, "refusal": "I cannot."},
    ),
    told(
        "stopped inside arguments",
        [CALLING, *called(0, "call_s", "write", '{"text":"once upo', 9)],
        {"tool_calls": [call("call_s", "write", '{"text":"once upo')]},
        "length",
    ),
    told(
        "text, then calls without arguments",
        [
            ROLE,
            *texts("Let me ", "look."),
            begin(0, "call_e", "now"),
            begin(1, "call_f", "who", "{}"),
        ],
        {
            "content": "Let me look.",
            "tool_calls": [call("call_e", "now", ""), call("call_f", "who", "{}")],
        },
        "tool_calls",
    ),
    _two_choices(),
    _filtered(),
    _custom(),
    _legacy(),
    _annotated(),
    GPT.recording(
        "log probabilities",
        [
            GPT.chunk(choice(ROLE, logprobs={"content": [], "refusal": None})),
            GPT.chunk(
                choice(
                    {"content": "Hi"},
                    logprobs={
                        "content": [
                            {"token": "Hi", "logprob": -0.1, "bytes": [72, 105], "top_logprobs": []}
                        ],
                        "refusal": None,
                    },
                )
            ),
            GPT.chunk(choice({}, "stop")),
            USED,
        ],
        GPT.completion({"content": "Hi"}),
    ),
    _failed(),
]
__all__ = ["DONE", "RECORDINGS"]
