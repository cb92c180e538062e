"""Repair codes are a promise: all known ones are used, all used ones are known and provoked."""

import ast
import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.model.conversation import Turn
from app.model.limits import Limits
from app.model.repairs import CODES, Repair
from app.replay.options import ReplayOptions
from app.replay.rendering import Loaded, render
from app.tools.commands import offer
from app.tools.toolreading import read_tool_set
from tests.histories import posted, said
from tests.replay.paired import ai, human, system, tool

APP = Path(__file__).parents[2] / "app"
# Who makes repairs and notes, and which of its arguments is the code.
MAKERS = {"Repair": 0, "repair": 0, "_repair": 0, "_report": 0, "report": 0, "Note": 0, "_note": 0}
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def turn(speaker: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"speaker": speaker, "blocks": list(blocks)}


def call(arguments: str = "{}", *, name: str = "read", raw_id: str | None = "x") -> dict[str, Any]:
    block = {"type": "tool_call", "id": raw_id, "name": name, "arguments": arguments}
    return turn("ai", block)


def text(said_text: str) -> dict[str, Any]:
    return {"type": "text", "text": said_text}


def chat(target: str, *messages: dict[str, Any], **envelope: Any) -> set[str]:
    history = posted({"provider": "openai", "messages": list(messages), **envelope})
    return history.render(target).codes


def shown(
    target: str, *turns: dict[str, Any], provider: str = "neutral", **options: Any
) -> set[str]:
    return said(*turns, provider=provider).render(target, **options).codes


def bare(turns: list[Turn], target: str = "openai") -> set[str]:
    return {repair.code for repair in render(Loaded(turns, {}, {}), ReplayOptions(target)).repairs}


def offered(target: str, source: str, *tools: dict[str, Any], **members: Any) -> set[str]:
    given: dict[str, Any] = {"tools": list(tools), **members}
    tool_set = read_tool_set(source, given, Limits())
    offered = offer(tool_set, target)
    return {r.code for r in render(Loaded([], {}, {}), ReplayOptions(target), offered).repairs}


def claude(schema: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"name": "f", "input_schema": {"type": "object", **schema}, **members}


def gpt(schema: dict[str, Any]) -> dict[str, Any]:
    function = {"name": "f", "description": "Does f.", "parameters": schema}
    return {"type": "function", "function": function}


def with_result(*parts: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return ai("x"), turn("tool", {"type": "tool_result", "call_id": "x", "content": list(parts)})


def thought_by(model: str) -> dict[str, Any]:
    native = {"type": "thinking", "thinking": "hm", "signature": "s"}
    block = {"type": "thinking", "text": "hm", "native": native, "wire": "anthropic"}
    said = turn("ai", block, text("a"))
    return said | {"provider": "anthropic", "model": model}


def responses(target: str, *items: dict[str, Any]) -> set[str]:
    """Items of the Responses API, after a question of the user."""
    messages = [{"role": "user", "content": "h"}, *items]
    return posted({"provider": "openai-responses", "messages": messages}).render(target).codes


def marked(count: int) -> set[str]:
    """So many texts with a mark for Anthropic's prompt cache."""
    mark = {"type": "ephemeral"}
    parts = [{"type": "text", "text": str(n), "cache_control": mark} for n in range(count)]
    messages = [{"role": "user", "content": parts}]
    return posted({"provider": "anthropic", "messages": messages}).render("anthropic").codes


SHELL = {
    "type": "shell_call",
    "call_id": "s",
    "status": "completed",
    "action": {"commands": ["ls"]},
}
CUSTOM = {"type": "custom_tool_call", "call_id": "x", "name": "patch", "input": "a"}
IMAGE = {"type": "image", "data": PNG}
FILE = {"type": "file", "data": "data:application/x-foo;base64,AAAA"}
THOUGHT = {"type": "thinking", "text": "hm", "signature": "s"}
SERVER = {"type": "opaque", "kind": "server_tool", "native": {}, "wire": "anthropic"}

OPTIONAL = {"properties": {"a": {"description": "Optional: a name"}}, "required": ["a"]}
EITHER = {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
ADDRESS = {"properties": {"a": {"type": "string", "format": "uri"}}}

# The shortest history that needs the repair, and the wire that needs it.
PROVOKED: dict[str, Callable[[], set[str]]] = {
    "SYNTH_RESULT": lambda: shown("openai", ai("x")),
    "ORPHAN_RESULT": lambda: shown("openai", tool("x")),
    "RESULTS_MOVED_TO_CALL": lambda: shown("openai", ai("x"), human("h"), tool("x")),
    "RESULTS_REORDERED": lambda: shown("openai", ai("x", "y"), tool("y"), tool("x")),
    "LATE_RESULT_APPLIED": lambda: shown("openai", ai("x"), ai(text="a"), tool("x")),
    "DUP_RESULT_SUPERSEDED": lambda: shown("openai", ai("x"), tool("x"), tool("x")),
    "TOOLUSE_MOVED_LAST": lambda: shown("anthropic", turn("ai", *call()["blocks"], text("after"))),
    "ROLES_MERGED": lambda: shown("anthropic", human("a"), human("b")),
    "BRIDGE_USER": lambda: shown("anthropic", ai(text="a")),
    "BRIDGE_ASSISTANT": lambda: shown("mistral", human("h"), ai("x"), tool("x"), human("h")),
    "ENDS_WITH_ASSISTANT": lambda: shown("anthropic", human("h"), ai(text="a")),
    "MARKED_AS_PREFIX": lambda: shown("mistral", human("h"), ai(text="a"), ready=True),
    "TRAILING_TRIMMED": lambda: shown("anthropic", human("h"), ai(text="a ")),
    "SYSTEM_DEMOTED": lambda: shown("anthropic", human("h"), system("s")),
    "WINDOW_ALIGNED": lambda: shown("openai", ai("x"), tool("x"), last=1),
    "ID_REMAPPED": lambda: shown("anthropic", ai("functions.read:0")),
    "ID_SYNTHESIZED": lambda: shown("openai", call(raw_id=None)),
    "MATCHED_BY_FALLBACK": lambda: shown("openai", ai("call_7"), tool("7")),
    "ARGS_UNPARSEABLE": lambda: shown("openai", call('{"a":')),
    "ARGS_UNWRAPPED": lambda: shown("openai", call('"{}"')),
    "ARGS_COERCED_OBJECT": lambda: shown("openai", call("5")),
    "NAME_SANITIZED": lambda: shown("openai", call(name="mcp.read")),
    "EMPTY_TEXT_OMITTED": lambda: shown("openai", human(" ")),
    "EMPTY_RESULT_PLACEHOLDER": lambda: shown("anthropic", ai("x"), tool("x", "")),
    "CONTENT_NORMALISED": lambda: shown("openai", turn("human")),
    "THINKING_DROPPED": lambda: shown("openai", turn("ai", THOUGHT, text("a"))),
    "MODEL_CHANGED": lambda: shown("anthropic", thought_by("m-1"), thought_by("m-2")),
    "THINKING_AS_TEXT": lambda: shown("openai", turn("ai", THOUGHT), reasoning="text"),
    "THINKING_UNAVAILABLE": lambda: shown("anthropic", human("h"), ai("x"), tool("x")),
    "SIGNATURE_PLACEHOLDER": lambda: shown("gemini", human("h"), ai("x"), tool("x")),
    "STATE_SPLIT_FROM_ID": lambda: shown("openai", ai("call_7__thought__c2ln")),
    "RESULT_WRAPPED": lambda: shown("gemini", ai("x"), tool("x", result=[1])),
    "RESULT_AS_TEXT": lambda: shown("vercel", ai("x"), tool("x", result={"n": 10**309})),
    "RESULT_ELIDED": lambda: shown("openai", ai("x"), tool("x", "r" * 10_485_761)),
    "SUSPECT_MARKUP": lambda: shown("openai", ai(text="<tool_call>{}</tool_call>")),
    "TOOLS_STUBBED": lambda: shown("bedrock", human("h"), ai("x"), tool("x")),
    "IMAGE_RELOCATED": lambda: shown("openai", *with_result(IMAGE)),
    "IMAGE_OMITTED": lambda: shown("deepseek", turn("human", IMAGE)),
    "FILE_OMITTED": lambda: shown("openai", turn("human", FILE)),
    "SERVER_TOOL_DROPPED": lambda: shown("openai", turn("ai", SERVER, text("a"))),
    "CUSTOM_TOOL_AS_FUNCTION": lambda: responses("openai", CUSTOM),
    "CALL_WAITS_FOR_OUTPUT": lambda: responses("openai-responses", SHELL),
    "MEMBERS_OMITTED": lambda: chat("anthropic", {"role": "user", "content": "h", "name": "Ada"}),
    "CACHE_MARKS_STRIPPED": lambda: marked(5),
    "BLOCK_OMITTED": lambda: shown("openai", turn("human", {"type": "hologram"}, text("a"))),
    "UNICODE_REPLACED": lambda: shown("openai", human("\ud800")),
    "TURN_INTERRUPTED": lambda: shown("openai", ai(text="a") | {"status": "interrupted"}),
    "TURN_COMPLETED": lambda: bare([Turn(1, "t1", "ai", (), "x", completed_at=2)]),
    "TURN_QUARANTINED": lambda: bare([Turn(1, "t1", "human", None, "x")]),
    "TOOL_DROPPED": lambda: offered("openai", "anthropic", {"name": "f", "input_schema": 5}),
    "MEMBERS_DROPPED": lambda: offered(
        "openai", "anthropic", claude(ADDRESS, cache_control={"type": "ephemeral"})
    ),
    "DESCRIPTION_MISSING": lambda: offered(
        "anthropic", "openai", {"type": "function", "function": {"name": "f"}}
    ),
    "REQUIRED_FILTERED": lambda: offered("openai", "anthropic", claude(OPTIONAL)),
    "FORMAT_REMOVED": lambda: offered("openai", "anthropic", claude(ADDRESS)),
    "SCHEMA_LOOSENED": lambda: offered("anthropic", "openai", gpt(EITHER)),
    "REFERENCE_OPEN": lambda: offered("openai", "anthropic", claude({"$ref": "https://x/y"})),
    "STRICT_DROPPED": lambda: offered("openai", "anthropic", claude(ADDRESS, strict=True)),
    "CHOICE_CHANGED": lambda: offered("bedrock", "openai", gpt({}), tool_choice="none"),
    "PARALLEL_UNSAID": lambda: offered("kimi", "openai", gpt({}), parallel_tool_calls=False),
    "FLATTENED_TO_TEXT": lambda: shown("openai", ai("x"), tools="flatten"),
    "EMPTY_HISTORY": lambda: bare([]),
}


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_provoked_by_a_history(code: str) -> None:
    assert code in PROVOKED[code]()


def _made_in(path: Path) -> Iterator[ast.expr]:
    """What stands for the code wherever this module makes a repair or a note."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            place = MAKERS.get(getattr(node.func, "id", getattr(node.func, "attr", "")))
            if place is not None and len(node.args) > place:
                yield node.args[place]


def _pattern(code: ast.expr) -> str | None:
    """A pattern for the codes that an expression can give; None for a plain variable."""
    match code:
        case ast.Constant(value=str() as literal):
            return re.escape(literal)
        case ast.JoinedStr(values=values):
            return "".join(_pattern(value) or "[A-Z]+" for value in values)
        case _:
            return None


def test_codes_that_are_known_are_those_that_are_used() -> None:
    patterns = {
        pattern
        for path in APP.rglob("*.py")
        for code in _made_in(path)
        if (pattern := _pattern(code)) is not None
    }
    known = {pattern: [one for one in CODES if re.fullmatch(pattern, one)] for pattern in patterns}
    assert [pattern for pattern, codes in known.items() if not codes] == []
    by_value = {
        *("ARGS_UNPARSEABLE", "ARGS_UNWRAPPED", "ARGS_COERCED_OBJECT"),
        "CUSTOM_TOOL_AS_FUNCTION",
    }
    assert CODES.keys() - by_value - {code for codes in known.values() for code in codes} == set()


def test_a_code_has_a_stable_form_and_a_meaning() -> None:
    for code, meaning in CODES.items():
        assert re.fullmatch(r"[A-Z]+(_[A-Z]+)+", code)
        assert meaning[0].islower(), code
        assert not meaning.endswith("."), code


def test_an_unknown_code_cannot_be_reported() -> None:
    with pytest.raises(AssertionError, match="NO_SUCH_CODE"):
        Repair("NO_SUCH_CODE", "")


def test_a_repair_names_its_turn_its_call_and_its_block() -> None:
    assert Repair("SYNTH_RESULT", "why", "t1", "c1", 0).json() == {
        "code": "SYNTH_RESULT",
        "turn_id": "t1",
        "call_id": "c1",
        "block": 0,
        "detail": "why",
    }


def test_a_repair_leaves_out_what_it_does_not_know() -> None:
    assert Repair("EMPTY_HISTORY", "why").json() == {
        "code": "EMPTY_HISTORY",
        "turn_id": None,
        "detail": "why",
    }


def test_every_code_is_documented() -> None:
    documented = "".join(path.read_text() for path in (APP.parent / "docs").rglob("*.md"))
    assert [code for code in CODES if code not in documented] == []
