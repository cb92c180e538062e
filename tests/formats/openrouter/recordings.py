"""OpenRouter: comments while one waits, role and content on every delta, reasoning twice.

Chunks as in @openrouter/sdk (ChatStreamChunk, ReasoningDetailUnion), with the members `provider`
and `native_finish_reason` that the service adds. `reasoning` is the same text as the details have;
pieces of one detail share its index, and a signature comes with the last of them.
"""

from typing import Any

from tests.streams.recordings.chat import USAGE, Frame, begin, call, called, choice, more
from tests.streams.recordings.frames import Event, Recording, sse

GEN = Frame("openrouter", "anthropic/claude-sonnet-4.5", "gen-1772969079-x")
WAIT = ": OPENROUTER PROCESSING"
USED: Event = USAGE | {"cost": 0.00012195, "is_byok": False}
CLAUDE, GPT, GEMINI = "anthropic-claude-v1", "openai-responses-v1", "google-gemini-v1"


def chunk(delta: Event, finish: str | None = None, **more_members: Any) -> Event:
    said = {"role": "assistant", "content": "", **delta}
    one = choice(said, finish, native_finish_reason=finish)
    return GEN.chunk(one, provider="Amazon Bedrock", **more_members)


def told(name: str, deltas: list[Event], message: Event, finish: str = "stop") -> Recording:
    used = GEN.chunk(usage=USED, provider="Amazon Bedrock")
    events: list[Any] = [WAIT, *map(chunk, deltas), WAIT, chunk({}, finish), used]
    whole = GEN.completion({"content": "", "refusal": None, **message}, finish, usage=USED)
    return GEN.recording(name, events, whole)


def texts(*said: str) -> list[Event]:
    return [{"content": one} for one in said]


def text(said: str, format: str = CLAUDE, index: int = 0, **more_members: Any) -> Event:
    return {
        "type": "reasoning.text",
        "text": said,
        "format": format,
        "index": index,
        **more_members,
    }


def summary(said: str, index: int = 0) -> Event:
    return {"type": "reasoning.summary", "summary": said, "format": GPT, "index": index}


def encrypted(data: str, id: str | None, format: str = GPT, index: int = 0) -> Event:
    return {"type": "reasoning.encrypted", "data": data, "id": id, "format": format, "index": index}


def thoughts(*details: Event) -> list[Event]:
    """A delta for each piece, its words told a second time."""
    return [
        {"reasoning": detail.get("text", detail.get("summary")), "reasoning_details": [detail]}
        for detail in details
    ]


def thought(said: str | None, *details: Event) -> Event:
    """The same as members of a whole message."""
    return {"reasoning": said, "reasoning_details": list(details)}


def _failed() -> Recording:
    """An error in the middle: a chunk that has one, and a choice that ends with it."""
    failure = {"code": 502, "message": "Provider disconnected"}
    events: list[Any] = [WAIT, *map(chunk, texts("Well")), chunk({}, "error", error=failure)]
    return Recording("openrouter", "an error in the middle", sse(*events), None, whole=False)


LONG = '{"sql":"select \\u00e9 from \\"t\\" where n > 1e3","limit":null}'
RECORDINGS = [
    told("plain text", texts("Many", " roads."), {"content": "Many roads."}),
    told(
        "signed reasoning, then text",
        [
            *thoughts(text("1+1"), text(" is 2.")),
            {"reasoning_details": [text("", signature="EqQB/Cg==")]},
            *texts("2"),
        ],
        {
            "content": "2",
            **thought("1+1 is 2.", text("1+1 is 2.", signature="EqQB/Cg==")),
        },
    ),
    told(
        "nulls for the signature that is still to come",
        [
            *thoughts(text("Look ", signature=None), text("it up.", signature="EqQBCg==")),
            begin(0, "toolu_1", "find", '{"q":"elm"}'),
        ],
        {
            "tool_calls": [call("toolu_1", "find", '{"q":"elm"}')],
            **thought("Look it up.", text("Look it up.", signature="EqQBCg==")),
        },
        "tool_calls",
    ),
    told(
        "a summary, then what is encrypted, then calls",
        [
            *thoughts(summary("**Executing"), summary(" both**")),
            {"reasoning_details": [encrypted("gAAAAABpl3jd", "rs_1")]},
            *called(0, "call_a", "add", '{"a":2,"b":3}', 5),
            *called(1, "call_b", "multiply", '{"a":2,"b":3}', 4),
        ],
        {
            "tool_calls": [
                call("call_a", "add", '{"a":2,"b":3}'),
                call("call_b", "multiply", '{"a":2,"b":3}'),
            ],
            **thought(
                "**Executing both**",
                summary("**Executing both**"),
                encrypted("gAAAAABpl3jd", "rs_1"),
            ),
        },
        "tool_calls",
    ),
    told(
        "only what is encrypted",
        [{"reasoning_details": [encrypted("CiQB4/8=", "tool_1", GEMINI)]}, *texts("Elm.")],
        {"content": "Elm.", "reasoning_details": [encrypted("CiQB4/8=", "tool_1", GEMINI)]},
    ),
    told(
        "two thoughts, each with its signature",
        [
            *thoughts(text("First.", signature="AA=="), text("Then ", index=1)),
            *thoughts(text("this.", index=1, signature="BB==")),
            *texts("Done."),
        ],
        {
            "content": "Done.",
            **thought(
                "First.Then this.",
                text("First.", signature="AA=="),
                text("Then this.", index=1, signature="BB=="),
            ),
        },
    ),
    told(
        "reasoning of a model without signatures",
        [*thoughts(text("Hm, ", "unknown"), text("an elm.", "unknown")), *texts("An elm.")],
        {"content": "An elm.", **thought("Hm, an elm.", text("Hm, an elm.", "unknown"))},
    ),
    told(
        "reasoning without details",
        [{"reasoning": "So "}, {"reasoning": "what."}, *texts("What.")],
        {"content": "What.", "reasoning": "So what."},
    ),
    told(
        "parallel calls, mixed",
        [
            begin(0, "call_a", "left"),
            begin(1, "call_b", "right"),
            more(0, '{"m":'),
            more(1, '{"n":'),
            more(0, "1}"),
            more(1, "2}"),
        ],
        {"tool_calls": [call("call_a", "left", '{"m":1}'), call("call_b", "right", '{"n":2}')]},
        "tool_calls",
    ),
    told(
        "long arguments in tiny pieces",
        called(0, "call_l", "query", LONG, 7),
        {"tool_calls": [call("call_l", "query", LONG)]},
        "tool_calls",
    ),
    told(
        "a call without arguments",
        [begin(0, "toolu_e", "now"), more(0, ""), more(0, "")],
        {"tool_calls": [call("toolu_e", "now", "")]},
        "tool_calls",
    ),
    told("emoji and Chinese", texts("路", "由🛰", "器"), {"content": "路由🛰器"}),
    told("stopped by length", texts("So lo"), {"content": "So lo"}, "length"),
    _failed(),
]
