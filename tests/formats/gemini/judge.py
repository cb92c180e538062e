"""Google Gemini: google-genai's own types (unknown keys refused), then rules G1 to G11.

The request is the snake_case form that the SDK takes. Calls without ids are paired by place, as
the API does, and then go by a made-up id `contents[1]#0`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from google.genai import types
from pydantic import BaseModel, ValidationError

from tests.judges.pairing import Break, Call, Event, Result, Rules, pairing_faults
from tests.judges.schemas import schema_faults
from tests.judges.wellformed import base64_fault, is_blank, leaves, objects

ENDS = "G10"
MESSAGES = "contents"
NEXT = {"role": "user", "parts": [{"text": "And what comes next?"}]}

_RULES = Rules(unanswered="G1", orphan="G3", twice="G1", order="G1")
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
# A part's one-of; the other keys (thought, thought_signature, …) only accompany it.
_DATA = ("text", "inline_data", "file_data", "function_call", "function_response",
         "executable_code", "code_execution_result", "tool_call", "tool_response")  # fmt: skip
_KEYS = ("contents", "system_instruction", "tools", "tool_config")


def complaints(request: dict[str, object], model: str | None) -> list[str]:
    """Shape first, then the rule sheet."""
    contents = objects(request.get("contents"))
    faults = _shape_faults(request)
    if not contents:
        faults.append("contents: must hold at least one content (G5)")
    elif contents[0].get("role") != "user":
        faults.append("contents[0]: history must start with the user (G2, Z14)")
    for at, content in enumerate(contents):
        faults += _content_faults(content, f"contents[{at}]")
        if at and _has(content, "function_call") and contents[at - 1].get("role") != "user":
            faults.append(f"contents[{at}]: call turn must follow a user or response turn (G2)")
    faults += pairing_faults(events(request), _RULES) + _tool_faults(request)
    if "system_instruction" in request and is_blank("".join(_system_texts(request))):
        faults.append("system_instruction: blank (G6)")
    version = re.search(r"gemini-(\d+)", model or "")
    if version and int(version[1]) >= 3:
        faults += _signature_faults(contents)
    return faults


def events(request: dict[str, object]) -> Iterator[Event]:
    """Only the user content right after a model content may answer."""
    before: dict[str, object] = {}
    for at, content in enumerate(objects(request.get("contents"))):
        answers = (before.get("role"), content.get("role")) == ("model", "user")
        if not answers:
            yield Break(f"contents[{at}]")
        home = f"contents[{at - 1}]" if answers else f"contents[{at}]"
        for number, (kind, where, inner) in enumerate(_tool_parts(content, f"contents[{at}]")):
            name, call_id = inner.get("name"), inner.get("id") or f"{home}#{number}"
            if kind == "function_call":
                yield Call(where, call_id, name, inner.get("args", {}))
            else:
                yield Result(where, call_id, inner.get("response"), name)
        before = content


def texts(request: dict[str, object]) -> list[str]:
    """System, texts, thoughts and results in order."""
    shown = _system_texts(request)
    for content in objects(request.get("contents")):
        for part in objects(content.get("parts")):
            if isinstance(part.get("text"), str):
                shown.append(str(part["text"]))
            response = part.get("function_response")
            if isinstance(response, dict):
                shown += leaves(response.get("response"))
    return shown


def _tool_parts(
    content: dict[str, object], where: str
) -> Iterator[tuple[str, str, dict[str, object]]]:
    for place, part in enumerate(objects(content.get("parts"))):
        for kind in ("function_call", "function_response"):
            inner = part.get(kind)
            if isinstance(inner, dict):
                yield kind, f"{where}.parts[{place}]", inner


def _has(content: dict[str, object], kind: str) -> bool:
    return any(kind in part for part in objects(content.get("parts")))


def _system_texts(request: dict[str, object]) -> list[str]:
    system = request.get("system_instruction")
    if isinstance(system, dict):
        return [str(part["text"]) for part in objects(system.get("parts")) if "text" in part]
    return [system] if isinstance(system, str) else []


def _shape_faults(request: dict[str, object]) -> list[str]:
    faults = [f"request: unknown key {key!r} (G11)" for key in request if key not in _KEYS]
    contents, tools = request.get("contents"), request.get("tools", [])
    if not isinstance(contents, list) or not isinstance(tools, list):
        return [*faults, "request: contents and tools must be lists (G11)"]
    for at, content in enumerate(contents):
        faults += _refusals(types.Content, content, f"contents[{at}]")
    for at, tool in enumerate(tools):
        faults += _refusals(types.Tool, tool, f"tools[{at}]")
    if "tool_config" in request:
        faults += _refusals(types.ToolConfig, request["tool_config"], "tool_config")
    system = request.get("system_instruction", "")
    return faults if isinstance(system, str) else [
        *faults, *_refusals(types.Content, system, "system_instruction")]  # fmt: skip


def _refusals(kind: type[BaseModel], value: object, where: str) -> list[str]:
    try:
        with warnings.catch_warnings():
            # google-genai only warns of an unknown enum value.
            warnings.simplefilter("error", UserWarning)
            kind.model_validate(value)
    except ValidationError as error:
        return [f"{where}.{'.'.join(map(str, e['loc']))}: {e['msg']} (G11)" for e in error.errors()]
    except (UserWarning, AttributeError) as error:
        # So it ends for an enum that is unknown, or no text at all.
        return [f"{where}: {error} (G11)"]
    return []


def _content_faults(content: dict[str, object], where: str) -> list[str]:
    role, parts = content.get("role"), objects(content.get("parts"))
    faults = [] if parts else [f"{where}: no parts (G5)"]
    if role not in ("user", "model"):
        faults.append(f"{where}: role {role!r}; use a valid role: user, model (G4)")
    if _has(content, "function_response"):
        if any("function_response" not in part for part in parts):
            faults.append(f"{where}: response turn holds only responses (G9)")
        if role != "user":
            faults.append(f"{where}: response in a turn of {role} (G3)")
    if _has(content, "function_call") and role != "model":
        faults.append(f"{where}: call in a turn of {role} (G2)")
    for place, part in enumerate(parts):
        faults += _part_faults(part, f"{where}.parts[{place}]")
    for kind, spot, inner in _tool_parts(content, where):
        faults += _named(inner.get("name"), spot)
        key = "args" if kind == "function_call" else "response"
        # google-genai: FunctionCall.args is optional.
        if not isinstance(inner.get(key, {} if key == "args" else None), dict):
            faults.append(f"{spot}: {key} must be an object (G11)")
    return faults


def _part_faults(part: dict[str, object], where: str) -> list[str]:
    faults: list[str] = []
    if sum(part.get(key) is not None for key in _DATA) != 1:
        faults.append(f"{where}: required oneof field 'data' must have one initialized field (G5)")
    if part.get("text") == "":
        faults.append(f"{where}: empty text parameter (G6)")
    if part.get("thought_signature") == "":
        faults.append(f"{where}: empty thought_signature (G7)")
    inline = part.get("inline_data")
    if isinstance(inline, dict):
        fault = base64_fault(inline.get("data"))
        faults += [f"{where}: {fault}"] if fault else []
        if not inline.get("mime_type"):
            faults.append(f"{where}: inline_data without mime_type")
    return faults


def _signature_faults(contents: list[dict[str, object]]) -> list[str]:
    """G7: in the current turn, the first call of each step carries its signature."""
    spoken = [
        at
        for at, content in enumerate(contents)
        if content.get("role") == "user" and not _has(content, "function_response")
    ]
    faults = []
    for at in range(max(spoken, default=0), len(contents)):
        calls = [p for p in objects(contents[at].get("parts")) if "function_call" in p]
        if calls and not calls[0].get("thought_signature"):
            faults.append(f"contents[{at}]: function call is missing a thought_signature (G7)")
    return faults


def _named(name: object, where: str) -> list[str]:
    if isinstance(name, str) and _NAME.fullmatch(name):
        return []
    return [f"{where}: invalid function name {name!r} (G8)"]


def _tool_faults(request: dict[str, object]) -> list[str]:
    faults = ["tools: empty list (G11)"] if request.get("tools") == [] else []
    names: list[object] = []
    for at, tool in enumerate(objects(request.get("tools"))):
        where = f"tools[{at}]"
        if not any(tool.values()):
            faults.append(f"{where}: declares nothing (G11)")
        for declaration in objects(tool.get("function_declarations")):
            faults += _named(declaration.get("name"), where)
            if declaration.get("name") in names:
                faults.append(f"{where}: {declaration.get('name')!r} given twice (A15)")
            names.append(declaration.get("name"))
            if "parameters_json_schema" in declaration:
                faults += schema_faults(declaration["parameters_json_schema"], where)
    return faults
