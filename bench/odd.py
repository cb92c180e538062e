"""Histories that are odd, and yet agents have them: in the chat shape, and how they are judged.

Nothing but the standard library is imported: the peers read this in their own environment.
"""

import json
import re
from typing import Any

from bench.turns import Message


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def calling(*calls: tuple[str, str]) -> Message:
    made = [
        {
            "id": name,
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"path": path})},
        }
        for name, path in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": made}


def result(name: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": name, "content": text}


ASKED = user("Read.")
# What is looked for in what comes back: arguments of calls and texts of results.
CALLS, RESULTS = ("a.txt", "b.txt"), ("alpha", "beta")
ONE = [ASKED, calling(("call_1", "a.txt")), result("call_1", "alpha")]
HISTORIES: dict[str, list[Message]] = {
    "a result without its call": [ASKED, result("call_9", "alpha")],
    "a call without a result": [ASKED, calling(("call_1", "a.txt")), user("Well?")],
    "the same append twice": [*ONE, ONE[-1]],
    "a raw id used again": [
        *(ASKED, calling(("functions.read:0", "a.txt")), result("functions.read:0", "alpha")),
        *(calling(("functions.read:0", "b.txt")), result("functions.read:0", "beta")),
    ],
    "a result behind the next message": [
        *(ASKED, calling(("call_1", "a.txt")), user("Hurry.")),
        result("call_1", "alpha"),
    ],
}


def counted(given: object) -> str:
    """How many calls and results are in what a model is given."""
    text = json.dumps(given)
    calls, results = (sum(text.count(one) for one in kind) for kind in (CALLS, RESULTS))
    return f"{calls} and {results}"


def refusals(messages: list[Any]) -> list[str]:
    """Rules of Anthropic's messages that a request breaks."""
    found: list[str] = []
    open_calls: list[str] = []
    every: list[str] = []
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        given = [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]
        if set(given) - set(open_calls):
            found.append("a result without its call")
        if set(open_calls) - set(given):
            found.append("a call without a result")
        if len(given) > len(set(given)):
            found.append("two results of one call")
        if given and [one["type"] for one in blocks[: len(given)]] != ["tool_result"] * len(given):
            found.append("a text before the results")
        open_calls = [one["id"] for one in blocks if one["type"] == "tool_use"]
        every += open_calls
        found += ["an id that is refused" for one in open_calls if not re.fullmatch(r"[\w-]+", one)]
    if len(every) > len(set(every)):
        found.append("an id that is used twice")
    return list(dict.fromkeys([*found, *(["a call without a result"] if open_calls else [])]))
