"""The judges bite: each lets a healthy request pass and names every single fault planted in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NotRequired, Required, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.every import every
from tests.judges import (
    TARGETS,
    available,
    calls_and_results,
    complaints,
    history_complaints,
    texts,
)
from tests.judges.schemas import strict_faults
from tests.judges.specimens import faults, healthy
from tests.judges.specimens.damage import Fault, put
from tests.judges.strict_types import misfits

_FAULTS = [(target, fault) for target in TARGETS for fault in faults(target)]


@pytest.fixture(autouse=True)
def _only_where_the_judge_can_be_asked(request: pytest.FixtureRequest) -> None:
    call_spec = getattr(request.node, "callspec", None)
    target = call_spec.params.get("target", "") if call_spec else ""
    if reason := available(target):
        pytest.skip(reason)


@pytest.mark.parametrize("target", TARGETS)
def test_a_healthy_request_has_no_complaints(target: str) -> None:
    assert complaints(target, healthy(target)) == []


@every(
    ("target", "fault"),
    _FAULTS,
    by=lambda pair: str(pair[0]),
    label=lambda pair: f"{pair[0]}: {pair[1].sentence}",
)
def test_a_single_fault_is_named(target: str, fault: Fault) -> None:
    if reason := available(target):
        pytest.skip(reason)
    request = healthy(target)
    fault.damage(request)
    found = complaints(target, request)
    assert any(fault.named in complaint for complaint in found), found


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


def _paths(value: object, path: str = "") -> Iterator[str]:
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, each in pairs:
        yield f"{path}{key}"
        yield from _paths(each, f"{path}{key}.")


@pytest.mark.parametrize("target", TARGETS)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_whatever_stands_in_a_request_the_judge_answers(target: str, data: st.DataObject) -> None:
    request = healthy(target)
    put(data.draw(st.sampled_from(list(_paths(request)))), data.draw(_JUNK))(request)
    assert all(isinstance(complaint, str) for complaint in complaints(target, request))
    calls_and_results(target, request)
    texts(target, request)


@pytest.mark.parametrize("target", TARGETS)
def test_every_judge_is_proven_with_at_least_eight_faults(target: str) -> None:
    assert len(faults(target)) >= 8


# Who refuses a request that ends with the assistant, and by which rule.
_LAST = {
    "anthropic": "A10",
    "bedrock": "B11",
    "gemini": "G10",
    "deepseek": "D7",
    "openrouter": "O5",
    "mistral": "Expected last role User or Tool",
}


@pytest.mark.parametrize("target", TARGETS)
def test_a_request_that_ends_with_the_assistant_is_refused_by_some(target: str) -> None:
    found = complaints(target, _without_its_last(target))
    assert len(found) == (target in _LAST)
    assert all(_LAST[target] in complaint for complaint in found)


@pytest.mark.parametrize("target", TARGETS)
def test_a_history_that_ends_with_the_assistant_is_no_complaint(target: str) -> None:
    assert history_complaints(target, _without_its_last(target)) == []


def test_a_history_that_mistral_was_told_to_go_on_with_takes_no_next_message() -> None:
    request = _without_its_last("mistral")
    request["messages"][-1]["prefix"] = True
    assert complaints("mistral", request) == []
    assert history_complaints("mistral", request) != []


def _without_its_last(target: str) -> dict[str, Any]:
    request = healthy(target)
    next(request[key] for key in ("messages", "input", "contents") if key in request).pop()
    return request


@pytest.mark.parametrize("target", TARGETS)
def test_the_calls_of_a_request_are_read_with_their_results(target: str) -> None:
    pairs = calls_and_results(target, healthy(target))
    assert [pair[1] for pair in pairs] == ["weather", "clock"]
    assert pairs[0][2] == {"city": "Paris"}
    assert "sunny" in str(pairs[0][3])


@pytest.mark.parametrize("target", TARGETS)
def test_all_texts_of_a_request_are_read(target: str) -> None:
    shown = texts(target, healthy(target))
    assert {"Be brief.", "Weather and time?", "sunny", "Thanks."} <= set(shown)


def test_mistral_lets_a_final_assistant_pass_that_is_marked_as_prefix() -> None:
    request = healthy("mistral")
    request["messages"].append({"role": "assistant", "content": "So", "prefix": True})
    assert complaints("mistral", request) == []


@pytest.mark.parametrize(
    ("target", "model", "rule"),
    [("kimi", "kimi-k2-thinking", "K4"), ("deepseek", "deepseek-reasoner", "D3")],
)
def test_a_thinking_model_wants_its_reasoning_back(target: str, model: str, rule: str) -> None:
    request = healthy(target)
    assert complaints(target, request, model=model) == []
    del request["messages"][2]["reasoning_content"]
    assert complaints(target, request) == []
    assert any(rule in complaint for complaint in complaints(target, request, model=model))


def test_a_thinking_kimi_cannot_be_forced_to_call() -> None:
    request = healthy("kimi") | {"tool_choice": "required"}
    assert complaints("kimi", request) == []
    assert any("K8" in found for found in complaints("kimi", request, model="kimi-k2.5"))


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "object", "additionalProperties": False}, None),
        ({"type": "object"}, "at: strict needs additionalProperties false (C10)"),
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            "at: strict needs every property required (C10)",
        ),
        (
            {"anyOf": [{"type": "object"}]},
            "at.anyOf[0]: strict needs additionalProperties false (C10)",
        ),
    ],
)
def test_a_strict_tool_closes_its_objects(schema: object, complaint: str | None) -> None:
    assert strict_faults(schema, "at") == ([complaint] if complaint else [])


def test_outputs_of_the_responses_api_may_alternate_with_their_calls() -> None:
    request = healthy("openai-responses")
    request["input"][3], request["input"][4] = request["input"][4], request["input"][3]
    assert complaints("openai-responses", request) == []


def test_gemini_three_wants_the_signature_of_the_current_turn_only() -> None:
    request = healthy("gemini")
    del request["contents"][1]["parts"][1]["thought_signature"]
    assert complaints("gemini", request, model="gemini-3-pro-preview") == []
    del request["contents"][3:]
    assert complaints("gemini", request, model="gemini-2.5-pro") == []
    assert any("G7" in found for found in complaints("gemini", request, model="gemini-3-pro"))


def test_gemini_pairs_calls_without_ids_by_their_place() -> None:
    request = healthy("gemini")
    for content in request["contents"][1:3]:
        for part in content["parts"]:
            for inner in part.values():
                if isinstance(inner, dict):
                    del inner["id"]
    assert complaints("gemini", request) == []
    request["contents"][2]["parts"].pop()
    assert any("G1" in found for found in complaints("gemini", request))


def test_a_missing_node_is_a_reason_to_skip_but_never_in_ci(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    assert available("vercel") == "the AI SDK needs node and npm on the path"
    assert available("openai") is None
    monkeypatch.setenv("CI", "true")
    assert available("vercel") is None


class _Leaf(TypedDict, total=False):
    kind: Required[Literal["leaf", 1]]
    size: int


class _Tree(TypedDict):
    children: Iterable[_Leaf | str]
    note: NotRequired[str | None]


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({"children": [{"kind": "leaf", "size": 1}, "x"], "note": None}, None),
        ({}, "tree: required key 'children' is missing (_Tree)"),
        ({"children": [], "x": 1}, "tree: unknown key 'x' (_Tree)"),
        ({"children": [{"kind": "leaf", "x": 1}]}, "tree.children[0]: unknown key 'x' (_Leaf)"),
        (
            {"children": ({"kind": "leaf"},)},
            "tree.children: expected a list, got ({'kind': 'leaf'},)",
        ),
        ({"children": [{"kind": True}]}, "tree.children[0].kind: expected 'leaf' or 1, got True"),
        ({"children": [{}]}, "tree.children[0]: required key 'kind' is missing (_Leaf)"),
        (
            {"children": [{"kind": 1, "size": True}]},
            "tree.children[0].size: expected an integer, got True",
        ),
    ],
)
def test_a_typed_dict_is_read_strictly(value: object, complaint: str | None) -> None:
    assert misfits(_Tree, value, "tree") == ([complaint] if complaint else [])
