"""Vercel AI SDK, version 4 and current: the SDK itself, then what it loses in silence.

The SDK accepts the other version's calls and loses their arguments, does not see orphans, and
before version 6 not even missing results (docs/providers, section 7, cited as V).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.judges.ai_sdk import ask, available
from tests.judges.pairing import Break, Call, Event, Result, Rules, pairing_faults
from tests.judges.schemas import schema_faults
from tests.judges.wellformed import file_fault, is_blank, leaves, objects, url_fault

_RULES = Rules(unanswered="V: missing tool result", orphan="V: orphan tool result")
_KEYS = ("system", "messages", "tools", "toolChoice")


@dataclass(frozen=True)
class Version:
    """One version of the SDK, as a judge; the keys are where the versions differ."""

    target: str
    arguments: str
    result: str
    foreign: tuple[str, ...]
    schema: str

    def available(self) -> str | None:
        return available()

    def complaints(self, request: dict[str, object], model: str | None) -> list[str]:
        """The SDK first, then the rule sheet."""
        faults = ask(self.target, request)
        faults += [f"request: unknown key {key!r} (V)" for key in request if key not in _KEYS]
        messages = objects(request.get("messages"))
        if not messages:
            faults.append("messages: must not be empty (V)")
        if "system" in request and is_blank(request["system"]):
            faults.append("system: blank (V)")
        for at, message in enumerate(messages):
            faults += self._message_faults(message, f"messages[{at}]")
        return faults + pairing_faults(self.events(request), _RULES) + self._tool_faults(request)

    def events(self, request: dict[str, object]) -> Iterator[Event]:
        """Tool messages answer; every other message parts what came before from the rest."""
        for at, message in enumerate(objects(request.get("messages"))):
            if message.get("role") != "tool":
                yield Break(f"messages[{at}]")
            for place, part in enumerate(objects(message.get("content"))):
                where, name = f"messages[{at}].content[{place}]", part.get("toolName")
                if part.get("type") == "tool-call" and not part.get("providerExecuted"):
                    yield Call(where, part.get("toolCallId"), name, part.get(self.arguments))
                elif part.get("type") == "tool-result" and message.get("role") == "tool":
                    yield Result(where, part.get("toolCallId"), self._value(part), name)

    def texts(self, request: dict[str, object]) -> list[str]:
        """System, texts, reasoning and results in order."""
        shown = leaves(request["system"]) if "system" in request else []
        for message in objects(request.get("messages")):
            content = message.get("content")
            shown += [content] if isinstance(content, str) else []
            for part in objects(content):
                if part.get("type") == "tool-result":
                    shown += leaves(self._value(part))
                elif isinstance(part.get("text"), str):
                    shown.append(str(part["text"]))
        return shown

    def _value(self, part: dict[str, object]) -> object:
        value = part.get(self.result)
        if self.result == "output" and isinstance(value, dict):
            return value.get("value", value.get("reason", ""))
        return value

    def _message_faults(self, message: dict[str, object], where: str) -> list[str]:
        content = message.get("content")
        if content in ("", []):
            return [f"{where}: content is empty (V)"]
        faults: list[str] = []
        for place, part in enumerate(objects(content)):
            faults += self._part_faults(part, f"{where}.content[{place}]")
        return faults

    def _part_faults(self, part: dict[str, object], where: str) -> list[str]:
        faults = [
            f"{where}: {key} is of another version (V)" for key in self.foreign if key in part
        ]
        match part.get("type"):
            case "text" if part.get("text") == "":
                faults.append(f"{where}: empty text, the SDK drops it (V)")
            case "image" | "file":
                fault = _media_fault(part.get("image", part.get("data")))
                faults += [f"{where}: {fault}"] if fault else []
            case "tool-call":
                faults += _unnamed(part, where)
                if not isinstance(part.get(self.arguments), dict):
                    faults.append(f"{where}: {self.arguments} must be an object (V)")
            case "tool-result":
                faults += _unnamed(part, where)
                if part.get(self.result) is None:
                    faults.append(f"{where}: {self.result} must not be null (V)")
            case _:
                pass
        return faults

    def _tool_faults(self, request: dict[str, object]) -> list[str]:
        tools = request.get("tools", {})
        if not isinstance(tools, dict):
            return ["tools: must be an object by name (V)"]
        faults = _choice_faults(request)
        known = {"type", "description", "strict", "providerOptions", self.schema}
        for name, tool in tools.items():
            where, own = f"tools.{name}", tool if isinstance(tool, dict) else {}
            faults += [f"{where}: unknown key {key!r} (V)" for key in own if key not in known]
            faults += schema_faults(
                own.get(self.schema), f"{where}.{self.schema}", must_be_object=True
            )
            if not isinstance(own.get("description", ""), str):
                faults.append(f"{where}: description must be text (V)")
        return faults


def _choice_faults(request: dict[str, object]) -> list[str]:
    """The SDK hands any toolChoice on to the model; its types know these."""
    match request.get("toolChoice", "auto"):
        case "auto" | "none" | "required" | {"type": "tool", "toolName": str()}:
            return []
        case other:
            return [f"toolChoice: {other!r} is unknown (V)"]


def _unnamed(part: dict[str, object], where: str) -> list[str]:
    return [f"{where}: {key} is missing or empty (V)"
            for key in ("toolCallId", "toolName") if not part.get(key)]  # fmt: skip


def _media_fault(data: object) -> str | None:
    if isinstance(data, dict):
        return _media_fault(data.get("data")) if data.get("type") == "data" else None
    web = isinstance(data, str) and data.startswith("http")
    return url_fault(data) if web else file_fault(data)
