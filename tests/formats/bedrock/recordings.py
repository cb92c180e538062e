"""Events of ConverseStream, each an object with one member; here one per line of JSON.

The wire frames them in binary; `frames_of_aws` writes that for botocore, which gives back the
events that stand here.
"""

from typing import Any

from tests.streams.recordings.frames import Event, Recording, pieces, written

USAGE: Event = {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13}
METRICS: Event = {"latencyMs": 100}
SIGNATURE = "EqQBCgIYAhIM+/9k=="


def start(index: int, **what: Any) -> Event:
    return {"contentBlockStart": {"start": what, "contentBlockIndex": index}}


def delta(index: int, **what: Any) -> Event:
    return {"contentBlockDelta": {"delta": what, "contentBlockIndex": index}}


def stop(index: int) -> Event:
    return {"contentBlockStop": {"contentBlockIndex": index}}


def text(index: int, *said: str) -> list[Event]:
    return [*(delta(index, text=one) for one in said), stop(index)]


def using(index: int, id: str, name: str, *given: str) -> list[Event]:
    inputs = (delta(index, toolUse={"input": one}) for one in given)
    return [start(index, toolUse={"toolUseId": id, "name": name}), *inputs, stop(index)]


def reasoning(index: int, *said: str, signature: str | None = SIGNATURE) -> list[Event]:
    events = [delta(index, reasoningContent={"text": one}) for one in said]
    if signature:
        events.append(delta(index, reasoningContent={"signature": signature}))
    return [*events, stop(index)]


def events_of(*blocks: list[Event], stopped: str) -> list[Event]:
    inside = [event for block in blocks for event in block]
    begin: Event = {"messageStart": {"role": "assistant"}}
    end: Event = {"messageStop": {"stopReason": stopped}}
    return [begin, *inside, end, {"metadata": {"usage": USAGE, "metrics": METRICS}}]


def told(
    name: str, blocks: list[list[Event]], content: list[Event] | None, stopped: str = "end_turn"
) -> Recording:
    stream = "".join(written(one) + "\n" for one in events_of(*blocks, stopped=stopped)).encode()
    finished: Event = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stopped,
        "usage": USAGE,
        "metrics": METRICS,
    }
    return Recording("bedrock", name, stream, None if content is None else finished)


def use(id: str, name: str, given: Any) -> Event:
    return {"toolUse": {"toolUseId": id, "name": name, "input": given}}


def thought(words: str, **more: str) -> Event:
    return {"reasoningContent": {"reasoningText": {"text": words, **more}}}


def _cited() -> Recording:
    place = {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}
    cited: Event = {"title": "E", "sourceContent": [{"text": "An elm"}], "location": place}
    return told(
        "citations",
        [[delta(0, text="An "), delta(0, text="elm."), delta(0, citation=cited), stop(0)]],
        [{"citationsContent": {"content": [{"text": "An elm."}], "citations": [cited]}}],
    )


def _grounded() -> Recording:
    """A tool that the provider runs: both its call and its result stand in the answer."""
    served = {"toolUseId": "srv_1", "name": "nova_grounding", "type": "server_tool_use"}
    answer = {"toolUseId": "srv_1", "type": "nova_grounding_result", "status": "success"}
    found: Event = {"text": "elms"}
    return told(
        "a tool that the provider runs",
        [
            [start(0, toolUse=served), delta(0, toolUse={"input": '{"q":"elm"}'}), stop(0)],
            [start(1, toolResult=answer), delta(1, toolResult=[found]), stop(1)],
            text(2, "Elms."),
        ],
        [
            {"toolUse": {**served, "input": {"q": "elm"}}},
            {"toolResult": {**answer, "content": [found]}},
            {"text": "Elms."},
        ],
    )


def _image() -> Recording:
    data = "R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="
    source = {"source": {"bytes": data}}
    return told(
        "an image",
        [text(0, "Here:"), [start(1, image={"format": "gif"}), delta(1, image=source), stop(1)]],
        [{"text": "Here:"}, {"image": {"format": "gif", **source}}],
    )


def _failed() -> Recording:
    error = {"modelStreamErrorException": {"message": "The model failed"}}
    events = [*events_of(text(0, "Hm"), stopped="end_turn")[:-3], error]
    stream = "".join(written(one) + "\n" for one in events).encode()
    return Recording("bedrock", "an error in the middle", stream, None, whole=False)


DEEP: Event = {"path": "/srv/données", "lines": [1, 20], "deep": {"a": [True, None]}}
RECORDINGS = [
    told("plain text", [text(0, "Hel", "lo", " there.")], [{"text": "Hello there."}]),
    told(
        "text, then parallel calls",
        [
            text(0, "Looking."),
            using(1, "tooluse_a", "weather", '{"city":', '"Bonn"}'),
            using(2, "tooluse_b", "time", '{"zone":"CET"}'),
        ],
        [
            {"text": "Looking."},
            use("tooluse_a", "weather", {"city": "Bonn"}),
            use("tooluse_b", "time", {"zone": "CET"}),
        ],
        "tool_use",
    ),
    told(
        "a long input in tiny pieces",
        [using(0, "tooluse_l", "read", *pieces(written(DEEP), 6))],
        [use("tooluse_l", "read", DEEP)],
        "tool_use",
    ),
    told("many scripts", [text(0, "žluť 🐎", " 日本語\u2028")], [{"text": "žluť 🐎 日本語\u2028"}]),
    told(
        "signed reasoning, then a call",
        [reasoning(0, "Let me", " see."), using(1, "tooluse_r", "find", '{"q":"elm"}')],
        [thought("Let me see.", signature=SIGNATURE), use("tooluse_r", "find", {"q": "elm"})],
        "tool_use",
    ),
    told(
        "reasoning without a signature",
        [reasoning(0, "Hm.", signature=None), text(1, "So.")],
        [thought("Hm."), {"text": "So."}],
    ),
    told(
        "reasoning that is not shown",
        [[delta(0, reasoningContent={"redactedContent": "EmwK+w=="}), stop(0)], text(1, "So.")],
        [{"reasoningContent": {"redactedContent": "EmwK+w=="}}, {"text": "So."}],
    ),
    told(
        "an empty input",
        [using(0, "tooluse_e", "now", ""), using(1, "tooluse_f", "who")],
        [use("tooluse_e", "now", {}), use("tooluse_f", "who", {})],
        "tool_use",
    ),
    told("stopped by length", [text(0, "On and o")], [{"text": "On and o"}], "max_tokens"),
    told("stopped by a word", [text(0, "a, b")], [{"text": "a, b"}], "stop_sequence"),
    told(
        "stopped by a guardrail",
        [text(0, "Sorry, not that.")],
        [{"text": "Sorry, not that."}],
        "guardrail_intervened",
    ),
    told(
        "stopped inside an input",
        [using(0, "tooluse_m", "write", '{"text":"once', " upo")],
        None,
        "max_tokens",
    ),
    _cited(),
    _grounded(),
    _image(),
    _failed(),
]
