"""Blocks as wires can take them: nothing crashes a render, is lost in silence, or is refused."""

import json
from typing import Any

import pytest

from app.formats.registry import TARGETS
from app.model.conversation import Opaque, Text, Turn
from app.replay.options import ReplayOptions
from app.replay.rendering import Loaded, render
from tests import judges
from tests.every import every
from tests.histories import History, posted, said
from tests.replay.paired import ai, human, tool
from tests.replay.test_repairs import FILE, IMAGE, SERVER, THOUGHT, text, turn, with_result

WIRES = [target for target in TARGETS if target in judges.TARGETS]
# A number that no double holds.
BEYOND = 10**400
# A wire's own native blocks, each by the provider that issues it.
NATIVE: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "anthropic": ("anthropic", [THOUGHT, SERVER]),
    "kimi": ("kimi", [{"type": "thinking", "text": "hm", "wire": "chat", "native": {}}]),
    "deepseek": ("deepseek", [{"type": "thinking", "text": "hm", "wire": "chat", "native": {}}]),
    "bedrock": (
        "bedrock",
        [{"type": "thinking", "text": "hm", "wire": "bedrock", "native": {"reasoningContent": {}}}],
    ),
    "gemini": (
        "gemini",
        [{"type": "thinking", "text": "hm", "wire": "gemini", "native": {"text": "hm"}}],
    ),
}


def complaints(history: History, target: str) -> list[str]:
    if why := judges.available(target):
        pytest.skip(why)
    return judges.history_complaints(target, history.render(target).request)


def results_shown(target: str, result: dict[str, Any]) -> tuple[Any, set[str]]:
    """What is shown for a result, and the codes of its repairs."""
    block = {"type": "tool_result", "call_id": "x", **result}
    done = said(human("h"), ai("x"), turn("tool", block), provider=target).render(target)
    ((_, _, _, shown),) = judges.calls_and_results(target, done.request)
    return shown, done.codes


@pytest.mark.parametrize("speaker", ["human", "tool", "ai", "system"])
@every("target", WIRES)
def test_whoever_says_whatever_block_the_render_is_accepted(target: str, speaker: str) -> None:
    blocks = [text("a"), IMAGE, FILE, {"type": "hologram"}, text(" "), text("b")]
    spoken = turn(speaker, *blocks)
    assert complaints(said(human("h"), spoken, human("h")), target) == []


@pytest.mark.parametrize("speaker", ["human", "tool"])
@pytest.mark.parametrize("target", [target for target in NATIVE if target in WIRES])
def test_native_blocks_of_others_than_the_model_are_left_out(target: str, speaker: str) -> None:
    provider, blocks = NATIVE[target]
    history = said(turn(speaker, *blocks, text("a")), human("h"), provider=provider)
    assert complaints(history, target) == []


@pytest.mark.parametrize("place", ["leading", "inner"])
def test_an_opaque_block_of_the_system_is_named_and_breaks_nothing(place: str) -> None:
    upload = {"type": "container_upload", "file_id": "file_1"}
    spoken = {"role": "system", "content": [{"type": "text", "text": "s"}, upload]}
    hello = {"role": "user", "content": "h"}
    messages = [spoken, hello] if place == "leading" else [hello, spoken]
    done = posted({"provider": "anthropic", "messages": messages}).render("anthropic")
    assert "BLOCK_OMITTED" in done.codes


@every("target", WIRES)
def test_broken_unicode_anywhere_is_mended(target: str) -> None:
    bad = "\ud800"
    image = {"type": "image", "data": f"https://example.org/{bad}", "detail": bad}
    file = {"type": "file", "data": "data:application/pdf;base64,JVBERi0=", "name": f"a{bad}.pdf"}
    call = {"type": "tool_call", "id": bad, "name": bad, "parameters": {bad: bad}}
    result = {"type": "tool_result", "call_id": bad, "result": {bad: bad}}
    history = said(
        turn("system", text(bad)),
        turn("human", text(bad), image, file),
        turn("ai", text(bad), call),
        turn("tool", result),
        human("h"),
    )
    assert complaints(history, target) == []


@every("target", WIRES)
@pytest.mark.parametrize(
    "value", [BEYOND, {"n": -BEYOND}, [{"n": [1, BEYOND]}]], ids=["bare", "object", "list"]
)
def test_a_number_that_no_double_holds_is_accepted_and_named(target: str, value: Any) -> None:
    call = {"type": "tool_call", "id": "x", "name": "f", "arguments": '{"n":1e400}'}
    answer = {"type": "tool_result", "call_id": "x", "result": value}
    history = said(human("h"), turn("ai", call), turn("tool", answer))
    assert complaints(history, target) == []
    done = history.render(target)
    assert "ARGS_UNPARSEABLE" in done.codes
    takes_values = target in ("bedrock", "gemini", "vercel", "vercel-v4")
    assert ("RESULT_AS_TEXT" in done.codes) is takes_values
    ((_, _, given, shown),) = judges.calls_and_results(target, done.request)
    assert (given, str(BEYOND) in str(shown)) == ({}, True)


@every("target", WIRES)
def test_an_image_with_an_unknown_detail_is_accepted(target: str) -> None:
    image = {"type": "image", "data": "https://example.org/a.png", "detail": "gigantic"}
    assert complaints(said(turn("human", text("see"), image)), target) == []


@every("target", WIRES)
@pytest.mark.parametrize("content", [[], [text("")]])
def test_a_result_of_blank_parts_is_shown_like_an_empty_result(
    target: str, content: list[dict[str, Any]]
) -> None:
    whole, codes = results_shown(target, {"result": ""})
    blank, blank_codes = results_shown(target, {"content": content})
    assert str(blank).strip() == str(whole).strip()
    assert blank_codes == codes


@every("target", WIRES)
@pytest.mark.parametrize("result", [{"result": ""}, {"result": None}, {"content": [text("")]}])
def test_a_failed_result_without_words_gets_some_and_says_so(
    target: str, result: dict[str, Any]
) -> None:
    shown, codes = results_shown(target, {**result, "status": "error"})
    assert "(tool failed without message)" in str(shown)
    assert "EMPTY_RESULT_PLACEHOLDER" in codes


@every("target", WIRES)
@pytest.mark.parametrize("said_text", ["boom", "[Error] boom"])
def test_a_failed_result_says_so_at_most_once(target: str, said_text: str) -> None:
    shown, _ = results_shown(target, {"error": said_text})
    assert str(shown).count("[Error]") <= 1
    assert "boom" in str(shown)


@every("target", WIRES)
@pytest.mark.parametrize("value", [False, 0, [], {}, [1, "ä"], {"a": None}])
def test_values_that_are_no_text_are_shown(target: str, value: Any) -> None:
    shown, _ = results_shown(target, {"result": value})
    assert str(shown) not in ("", "None", "(no output)")


@every("target", WIRES)
@pytest.mark.parametrize("status", ["ok", "error", "denied"])
def test_images_and_files_in_a_result_are_accepted(target: str, status: str) -> None:
    call, answer = with_result(text("see"), IMAGE, FILE)
    answer["blocks"][0]["status"] = status
    assert complaints(said(human("h"), call, answer, human("h")), target) == []


def test_arguments_as_deep_as_the_limit_break_no_render() -> None:
    deep = {"type": "tool_call", "id": "x", "name": "f", "arguments": "[" * 64 + "]" * 64}
    assert "ARGS_COERCED_OBJECT" in said(turn("ai", deep), tool("x")).render("openai").codes


@pytest.mark.parametrize("kind", [IMAGE, FILE, {"type": "hologram"}])
def test_what_a_flattened_result_cannot_show_is_named(kind: dict[str, Any]) -> None:
    done = said(human("h"), *with_result(text("see"), kind)).render("openai", tools="flatten")
    shown = kind is IMAGE and IMAGE["data"].encode() in done.raw
    assert shown or {"FILE_OMITTED", "BLOCK_OMITTED"} & done.codes


def test_a_turn_of_an_earlier_release_keeps_only_parts_that_the_ai_sdk_knows() -> None:
    """It has no original that says which parts the SDK accepts; the SDK refuses unknown kinds."""
    parts = [Opaque(kind, {"type": kind}, "vercel") for kind in ("source-url", "custom")]
    spoken = Turn(1, "t1", "ai", (*parts, Text("a")), "vercel", format="vercel")
    done = render(Loaded([spoken], {}, {}), ReplayOptions("vercel"))
    assert [(one.code, one.block) for one in done.repairs if one.block is not None] == [
        ("BLOCK_OMITTED", 0)
    ]
    shown = json.loads(b"".join(done.request()))["messages"]
    assert [part["type"] for part in shown[-1]["content"]] == ["custom", "text"]
