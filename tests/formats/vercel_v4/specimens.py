"""Vercel AI SDK 4: `args`, `result` and `isError`."""

from __future__ import annotations

from typing import Any

from tests.formats.vercel import specimens as vercel
from tests.judges.specimens.damage import Fault, drop, put


def healthy() -> dict[str, Any]:
    request = vercel.healthy()
    photo = request["messages"][0]["content"][1]
    photo["mimeType"] = photo.pop("mediaType")
    request["messages"][1]["content"][0]["signature"] = "c2ln"
    for call in request["messages"][1]["content"][2:]:
        call["args"] = call.pop("input")
    for result in request["messages"][2]["content"]:
        result["result"] = result.pop("output")["value"]
    request["messages"][2]["content"][1]["isError"] = True
    for tool in request["tools"].values():
        tool["parameters"] = tool.pop("inputSchema")
    return request


_CALL = "messages.1.content.2"
_RESULT = "messages.2.content.0"

FAULTS = [
    *vercel.SHARED,
    Fault("args are text", put(f"{_CALL}.args", "{}"), "object"),
    Fault("args are missing", drop(f"{_CALL}.args"), "object"),
    Fault("a result of null", put(f"{_RESULT}.result", None), "null"),
    Fault("a result that is missing", drop(f"{_RESULT}.result"), "null"),
    Fault("input of later versions", put(f"{_CALL}.input", {}), "another version"),
    Fault("output of later versions", put(f"{_RESULT}.output", {}), "another version"),
    Fault("a signature that is no text", put("messages.1.content.0.signature", 1), "signature"),
    Fault("a signature of a text", put("messages.1.content.1.signature", "c2ln"), "signature"),
    Fault("an error flag that is text", put(f"{_RESULT}.isError", "yes"), "isError"),
    Fault("mediaType of later versions", put("messages.0.content.1.mediaType", "a/b"), "mediaType"),
    Fault("inputSchema of later versions", put("tools.clock", {"inputSchema": {}}), "parameters"),
]
