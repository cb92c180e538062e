"""OpenAI Responses: the SDK's own parameter types made strict, then rules R1 to R15.

Calls may be grouped or alternate with their outputs; nothing else may stand between a call and
its output, and outputs come in call order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

from tests.formats.chat.judge import OPENAI_NAME, parameter_faults
from tests.judges.pairing import Break, Call, Event, Result, Rules, pairing_faults
from tests.judges.strict_types import misfits
from tests.judges.wellformed import file_fault, is_blank, leaves, object_text, objects, url_fault

MESSAGES = "input"

_RULES = Rules(unanswered="R5", orphan="R6", reused="R4, R15")
_ITEM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
# R1, R2: the prefix of an item's own id, by the kind of item.
_MEDIA = {"image_url": url_fault, "file_url": url_fault, "file_data": file_fault}
_PREFIX = {"function_call": "fc", "message": "msg", "reasoning": "rs"}


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    whole = _as_the_sdk_writes_it({"model": model or "any", **request})
    faults = misfits(ResponseCreateParamsNonStreaming, whole, "request")
    items = objects(request.get("input"))
    if not items:
        faults.append("input: must hold at least one item (C8)")
    if "instructions" in request and is_blank(request["instructions"]):
        faults.append("instructions: blank (C9)")
    for at, item in enumerate(items):
        faults += _item_faults(item, f"input[{at}]")
    faults += pairing_faults(events(request), _RULES)
    return faults + _reasoning_faults(items) + _repeated_ids(items) + _tool_faults(request)


def events(request: dict[str, object]) -> Iterator[Event]:
    """Only calls and their outputs stand together; every other item parts them."""
    for at, item in enumerate(objects(request.get("input"))):
        where = f"input[{at}]"
        match item.get("type"):
            case "function_call":
                arguments, _ = object_text(item.get("arguments"))
                yield Call(where, item.get("call_id"), item.get("name"), arguments)
            case "function_call_output":
                output = item.get("output")
                value = output if isinstance(output, str) else "\n".join(_part_texts(output))
                yield Result(where, item.get("call_id"), value)
            case _:
                yield Break(where)


def texts(request: dict[str, object]) -> list[str]:
    """Instructions, messages, reasoning summaries and outputs in order."""
    shown = leaves(request["instructions"]) if "instructions" in request else []
    for item in objects(request.get("input")):
        for key in ("summary", "content", "output"):
            value = item.get(key)
            shown += [value] if isinstance(value, str) else _part_texts(value)
    return shown


def _part_texts(content: object) -> list[str]:
    keys = ("text", "refusal")
    return [str(part[key]) for part in objects(content) for key in keys if key in part]


def _as_the_sdk_writes_it(request: dict[str, object]) -> dict[str, object]:
    """R11: a replayed assistant message may leave out id, status and annotations."""
    items = request.get("input")
    if not isinstance(items, list):
        return request
    return request | {"input": [_completed(item) for item in items]}


def _completed(item: object) -> object:
    if not isinstance(item, dict) or item.get("role") != "assistant":
        return item
    if not isinstance(item.get("content"), list):
        return item
    parts = [
        {"annotations": []} | part
        if isinstance(part, dict) and part.get("type") == "output_text"
        else part
        for part in item["content"]
    ]
    return {"id": "msg_0", "status": "completed", "type": "message"} | item | {"content": parts}


def _item_faults(item: dict[str, object], where: str) -> list[str]:
    kind, faults = str(item.get("type", "message")), _id_faults(item, where)
    match kind:
        case "message":
            faults += _message_faults(item, where)
        case "function_call":
            if not OPENAI_NAME.fullmatch(str(item.get("name"))):
                faults.append(f"{where}: name {item.get('name')!r} refused (C5)")
            if fault := object_text(item.get("arguments"))[1]:
                faults.append(f"{where}: arguments {fault} (C7)")
        case "function_call_output":
            faults += _part_faults(item.get("output"), f"{where}.output")
            # The error text of Z41 names this limit.
            output = item.get("output")
            if isinstance(output, str) and len(output) > 10_485_760:
                faults.append(f"{where}: output is over 10485760 characters (Z41)")
        case "item_reference":
            faults.append(f"{where}: item_reference points to nothing stored (R9)")
        case "reasoning" if not item.get("encrypted_content"):
            faults.append(f"{where}: reasoning without encrypted_content (R9)")
        case _:
            pass
    return faults


def _id_faults(item: dict[str, object], where: str) -> list[str]:
    kind, faults = str(item.get("type", "message")), list[str]()
    if kind in ("function_call", "function_call_output"):
        call_id = item.get("call_id")
        if not isinstance(call_id, str) or not 1 <= len(call_id) <= 64:
            faults.append(f"{where}: call_id {call_id!r} must have 1 to 64 characters (R4)")
    if (own := item.get("id")) is not None:
        if not isinstance(own, str) or not _ITEM_ID.fullmatch(own):
            faults.append(f"{where}: id {own!r} must match {_ITEM_ID.pattern} (R3)")
        elif not own.startswith(_PREFIX.get(kind, "")):
            faults.append(f"{where}: id {own!r} must begin with {_PREFIX[kind]!r} (R1, R2)")
    return faults


def _message_faults(item: dict[str, object], where: str) -> list[str]:
    content, role = item.get("content"), item.get("role")
    said = content if isinstance(content, str) else "".join(_part_texts(content))
    if content in ("", []) or (role == "assistant" and is_blank(said)):
        return [f"{where}: message says nothing (C8, C9)"]
    faults = _part_faults(content, f"{where}.content")
    own = ("output_text", "refusal")
    for place, part in enumerate(objects(content)):
        if (part.get("type") in own) != (role == "assistant"):
            spot = f"{where}.content[{place}]"
            faults.append(f"{spot}: {part.get('type')} in a message of {role} (R10)")
    return faults


def _part_faults(content: object, where: str) -> list[str]:
    faults: list[str] = []
    for place, part in enumerate(objects(content)):
        spot = f"{where}[{place}]"
        if part.get("type") in ("input_text", "output_text") and not part.get("text"):
            faults.append(f"{spot}: text is empty (C9)")
        media = ("file_id", *_MEDIA)
        if part.get("type") in ("input_image", "input_file") and not any(map(part.get, media)):
            faults.append(f"{spot}: {part['type']} has no source")
        for key, fault_of in _MEDIA.items():
            if part.get(key) is not None and (fault := fault_of(part[key])):
                faults.append(f"{spot}.{key}: {fault}")
    return faults


def _reasoning_faults(items: list[dict[str, object]]) -> list[str]:
    """R7: what follows reasoning is what the model made of it."""
    faults = []
    for at, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        after = items[at + 1] if at + 1 < len(items) else {}
        given = str(after.get("type", "message")).endswith(("message", "_output"))
        if given and after.get("role") != "assistant":
            faults.append(f"input[{at}]: reasoning without its required following item (R7)")
    return faults


def _repeated_ids(items: list[dict[str, object]]) -> list[str]:
    own = [str(item["id"]) for item in items if item.get("id")]
    return [
        f"input: duplicate item found with id {each} (R15)"
        for each in sorted({each for each in own if own.count(each) > 1})
    ]


def _tool_faults(request: dict[str, object]) -> list[str]:
    faults = ["tools: empty list (C8)"] if request.get("tools") == [] else []
    names: list[object] = []
    for at, tool in enumerate(objects(request.get("tools"))):
        where, name = f"tools[{at}]", tool.get("name")
        if tool.get("type") != "function":
            continue
        if not OPENAI_NAME.fullmatch(str(name)):
            faults.append(f"{where}: name {name!r} refused (C5, R12)")
        if name in names:
            faults.append(f"{where}: name {name!r} given twice (A15)")
        names.append(name)
        faults += parameter_faults(tool, where)
    return faults
