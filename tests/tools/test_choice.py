"""Tool choice from every source to every target; what cannot be said is in the notes."""

from itertools import product
from typing import Any

import pytest

from app.formats.registry import TARGETS
from app.model.errors import RuleBroken
from tests.every import every
from tests.tools.shapes import (
    CHAT,
    SAYS_ALLOWED,
    SAYS_NONE,
    SAYS_PARALLEL,
    SHAPES,
    Said,
    choice_of,
    chosen,
    codes,
    convert,
    faults,
    parallel_of,
    written,
)

TOOLS = tuple(Said(name, f"Does {name}.", {"type": "object"}) for name in ("a", "b", "c"))
NAMES = {"named": ("a",), "allowed": ("a", "b")}
PAIRS = list(product(SHAPES, TARGETS))


def says(source: str, kind: str) -> bool:
    if kind == "allowed":
        return source in (*CHAT, *SAYS_ALLOWED)
    return kind != "none" or source in SAYS_NONE


@every(
    ("source", "target", "kind"),
    [
        (source, target, kind)
        for source, target in PAIRS
        for kind in ("auto", "any", "none", "named", "allowed")
        if says(source, kind)
    ],
)
def test_a_choice_is_said_or_reported(source: str, target: str, kind: str) -> None:
    names = NAMES.get(kind, ())
    choice = chosen(source, kind, *names)
    answer = convert(source, target, written(source, *TOOLS), tool_choice=choice)
    sayable = target in {"none": SAYS_NONE, "allowed": SAYS_ALLOWED}.get(kind, TARGETS)
    instead = "auto" if kind == "none" else "any"
    shown = chosen(target, kind, *names) if sayable else chosen(target, instead)
    assert choice_of(target, answer["request"]) == shown
    assert codes(answer) == ([] if sayable else ["CHOICE_CHANGED"])
    assert faults(target, answer["request"]) == []


@pytest.mark.parametrize("on", [True, False])
@every(("source", "target"), PAIRS)
def test_parallel_calls_are_said_or_reported(source: str, target: str, on: bool) -> None:
    tools = written(source, *TOOLS)
    answer = convert(source, target, tools, parallel_tool_calls=on)
    sayable = target in SAYS_PARALLEL
    assert parallel_of(target, answer["request"]) is (on if sayable else None)
    assert codes(answer) == ([] if sayable else ["PARALLEL_UNSAID"])
    assert faults(target, answer["request"]) == []


@every("target", TARGETS)
@pytest.mark.parametrize("disabled", [True, False])
def test_the_word_of_anthropic_for_parallel_calls_is_understood(
    target: str, disabled: bool
) -> None:
    choice = {"type": "any", "disable_parallel_tool_use": disabled}
    answer = convert("anthropic", target, written("anthropic", *TOOLS), tool_choice=choice)
    assert choice_of(target, answer["request"]) == chosen(target, "any")
    said = not disabled if target in SAYS_PARALLEL else None
    assert parallel_of(target, answer["request"]) is said


@every("target", TARGETS)
def test_a_chosen_name_is_mapped_like_the_tool(target: str) -> None:
    tools = [{"name": "my tool", "description": "d"}]
    choice = {"mode": "tool", "name": "my tool"}
    answer = convert("neutral", target, tools, tool_choice=choice)
    assert faults(target, answer["request"]) == []
    assert codes(answer) in ([], ["NAME_SANITIZED"])


@every("target", TARGETS)
def test_a_chosen_tool_that_is_not_defined_is_reported(target: str) -> None:
    tools, choice = written("neutral", *TOOLS), {"mode": "tool", "name": "absent"}
    answer = convert("neutral", target, tools, tool_choice=choice)
    assert choice_of(target, answer["request"]) == chosen(target, "auto")
    assert codes(answer) == ["CHOICE_CHANGED"]


@every("target", TARGETS)
@pytest.mark.parametrize("allowed", [["absent"], ["a", "absent"]])
def test_an_allowed_tool_that_is_not_defined_is_reported(allowed: list[str], target: str) -> None:
    choice = {"mode": "any", "allowed": allowed}
    answer = convert("neutral", target, written("neutral", *TOOLS), tool_choice=choice)
    assert "CHOICE_CHANGED" in codes(answer)


@pytest.mark.parametrize("target", SAYS_NONE)
def test_none_stays_none_beside_a_list_of_allowed_tools(target: str) -> None:
    choice = {"mode": "none", "allowed": ["a"]}
    answer = convert("neutral", target, written("neutral", *TOOLS), tool_choice=choice)
    shown = choice_of(target, answer["request"])
    if target == "neutral":
        assert shown["mode"] == "none"
    else:
        assert shown == chosen(target, "none")
    assert faults(target, answer["request"]) == []


@every("target", TARGETS)
def test_a_choice_without_any_tool_is_not_rendered(target: str) -> None:
    answer = convert("openai", target, [], tool_choice="required")
    assert target == "neutral" or answer["request"] == {}


def test_a_choice_that_lost_its_tools_is_reported() -> None:
    answer = convert("openai", "anthropic", [{"type": "invalid"}], tool_choice="required")
    assert (answer["tool_choice"], codes(answer)) == (None, ["CHOICE_CHANGED"])


@pytest.mark.parametrize(
    ("source", "tool", "choice"),
    [
        ("openai-responses", {"type": "web_search"}, {"type": "web_search"}),
        ("openai-responses", {"type": "custom", "name": "x"}, {"type": "custom", "name": "x"}),
        (
            "openai",
            {"type": "custom", "custom": {"name": "x"}},
            {"type": "custom", "custom": {"name": "x"}},
        ),
    ],
)
def test_a_choice_of_a_tool_that_the_provider_runs_is_kept(
    source: str, tool: Any, choice: Any
) -> None:
    assert convert(source, source, [tool], tool_choice=choice)["tool_choice"] == choice


@every("source", SHAPES)
@pytest.mark.parametrize("choice", [7, True, [], {}, "sometimes", {"type": "tool"}, {"mode": 1}])
def test_a_choice_that_a_source_does_not_know_is_refused(source: str, choice: Any) -> None:
    with pytest.raises(RuleBroken) as refused:
        convert(source, "openai", written(source, *TOOLS), tool_choice=choice)
    assert refused.value.pointer == "/tool_choice"


MCP = [{"type": "mcp", "server_label": label, "server_url": "https://x"} for label in ("a b", "c")]


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "mcp", "server_label": "a b"},
        {"type": "mcp", "server_label": "c", "name": "look"},
        {
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [
                {"type": "mcp", "server_label": "c"},
                {"type": "function", "name": "a"},
                {"type": "web_search"},
            ],
        },
    ],
)
def test_servers_and_hosted_tools_are_chosen_in_the_words_of_responses(choice: Any) -> None:
    tools = [*MCP, {"type": "web_search"}, *written("openai-responses", *TOOLS)]
    there = convert("openai-responses", "neutral", tools, tool_choice=choice)
    assert (there["dropped"], there["notes"]) == ([], [])
    back = convert("neutral", "openai-responses", there["tools"], tool_choice=there["tool_choice"])
    assert (back["tools"], back["tool_choice"]) == (
        convert("openai-responses", "openai-responses", tools)["tools"],
        choice,
    )


def test_a_narrowed_list_may_hold_a_custom_tool_of_chat() -> None:
    custom = {"type": "custom", "custom": {"name": "x"}}
    listed = [custom, {"type": "function", "function": {"name": "a"}}]
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": listed}}
    tools = [custom, *written("openai", *TOOLS)]
    assert convert("openai", "openai", tools, tool_choice=choice)["tool_choice"] == choice


@pytest.mark.parametrize("target", [one for one in TARGETS if one not in ("neutral", "anthropic")])
def test_a_chosen_tool_that_only_its_provider_runs_is_reported_elsewhere(target: str) -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search"}, *written("anthropic", *TOOLS)]
    choice = {"type": "tool", "name": "web_search"}
    answer = convert("anthropic", target, tools, tool_choice=choice)
    assert choice_of(target, answer["request"]) == chosen(target, "auto")
    assert codes(answer) == ["CHOICE_CHANGED"]


def test_gemini_is_told_no_mode_when_it_is_offered_no_function() -> None:
    choice = {"function_calling_config": {"mode": "ANY"}}
    answer = convert("gemini", "gemini", [{"google_search": {}}], tool_choice=choice)
    assert answer["request"] == {"tools": [{"google_search": {}}]}
    assert codes(answer) == ["CHOICE_CHANGED"]


@pytest.mark.parametrize("word", ["auto", "none"])
def test_a_choice_that_asks_for_nothing_is_not_missed_without_tools(word: str) -> None:
    answer = convert("openai", "anthropic", [], tool_choice=word)
    assert (answer["request"], codes(answer)) == ({}, [])


MORE_OF_GEMINI: list[dict[str, Any]] = [
    {"function_calling_config": {"mode": "VALIDATED"}},
    {
        "function_calling_config": {"mode": "AUTO"},
        "retrieval_config": {"language_code": "de"},
    },
]


@pytest.mark.parametrize("choice", MORE_OF_GEMINI)
def test_what_only_gemini_says_of_a_choice_comes_back_to_gemini(choice: dict[str, Any]) -> None:
    tools = written("gemini", *TOOLS)
    assert convert("gemini", "gemini", tools, tool_choice=choice)["tool_choice"] == choice
    there = convert("gemini", "neutral", tools, tool_choice=choice)
    back = convert("neutral", "gemini", there["tools"], tool_choice=there["tool_choice"])
    assert (back["tool_choice"], codes(back)) == (choice, [])
    assert faults("gemini", back["request"]) == []


@pytest.mark.parametrize("choice", MORE_OF_GEMINI)
@pytest.mark.parametrize("target", ["openai", "openai-responses", "anthropic", "vercel"])
def test_what_only_gemini_says_of_a_choice_is_reported_elsewhere(
    target: str, choice: dict[str, Any]
) -> None:
    answer = convert("gemini", target, written("gemini", *TOOLS), tool_choice=choice)
    assert choice_of(target, answer["request"]) == chosen(target, "auto")
    assert codes(answer) == ["CHOICE_CHANGED"]


@pytest.mark.parametrize("config", [{}, {"mode": "MODE_UNSPECIFIED"}])
def test_a_mode_that_gemini_is_not_told_is_auto(config: dict[str, Any]) -> None:
    tools = written("gemini", *TOOLS)
    for choice in ({"functionCallingConfig": config}, {"retrievalConfig": {}, **config}):
        assert convert("gemini", "openai", tools, tool_choice=choice)["tool_choice"] == "auto"
