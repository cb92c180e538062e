"""Calls that the provider or the caller runs, and their results: both are shown, or neither."""

from typing import Any

import pytest

from tests import judges
from tests.histories import History, posted

QUESTION = {"role": "user", "content": "Weather?"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
}
ANSWER = {"type": "text", "text": "Sunny."}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def history(provider: str, *messages: Any) -> History:
    return posted({"provider": provider, "model": "m", "messages": list(messages)})


def shown(one: History, target: str, **options: Any) -> str:
    return one.render(target, **options).raw.decode()


def judged(one: History, target: str) -> None:
    if not judges.available(target):
        assert not judges.history_complaints(target, one.render(target).request)


def test_a_paused_turn_goes_on_in_the_next_message() -> None:
    one = history("anthropic", QUESTION, said(SEARCH), said(FOUND, ANSWER))
    messages = one.render("anthropic").request["messages"]
    assert messages == [QUESTION, said(SEARCH, FOUND, ANSWER)]
    assert "SERVER_TOOL_DROPPED" not in one.render("anthropic").codes
    judged(one, "anthropic")


def test_the_halves_of_a_pair_are_in_a_window_together_or_not_at_all() -> None:
    one = history(
        "anthropic",
        QUESTION,
        said(SEARCH),
        said(FOUND, ANSWER),
        {"role": "user", "content": "Thanks."},
    )
    for options in ({"last": 1}, {"last": 2}, {"last": 3}, {"until": 2}, {"until": 3}, {}):
        render = one.render("anthropic", **options)
        text = render.raw.decode()
        halves = [f'"{kind}"' in text for kind in ("server_tool_use", "web_search_tool_result")]
        assert halves[0] == halves[1], options
        left_out = [repair for repair in render.repairs if repair.code == "SERVER_TOOL_DROPPED"]
        assert halves[0] or left_out or options == {"last": 1}


CODE = {"type": "server_tool_use", "id": "srvtoolu_2", "name": "code_execution", "input": {}}
CODE_RESULT = {
    "type": "code_execution_tool_result",
    "tool_use_id": "srvtoolu_2",
    "content": {
        "type": "code_execution_result",
        "stdout": "1",
        "stderr": "",
        "return_code": 0,
        "content": [],
    },
}
RESULT: dict[str, Any] = {
    "role": "user",
    "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"}],
}


def use(number: int = 1) -> dict[str, Any]:
    caller = {"type": "code_execution_20260120", "tool_id": "srvtoolu_2"}
    return {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "read",
        "input": {},
        "caller": caller,
    }


def test_code_that_the_provider_runs_is_shown_while_it_waits_for_results() -> None:
    """Anthropic's "Programmatic tool calling": the response goes back whole, with the results."""
    messages = [QUESTION, said(CODE, use()), RESULT]
    one = history("anthropic", *messages)
    for options in ({}, {"ready": True}, {"last": 1}):
        text = shown(one, "anthropic", **options)
        assert '"srvtoolu_2","name":"code_execution"' in text
        assert '"tool_id":"srvtoolu_2"' in text
    assert "SERVER_TOOL_DROPPED" not in one.render("anthropic").codes
    judged(one, "anthropic")
    # The code calls another tool, and then it is done.
    second = {**RESULT, "content": [{**RESULT["content"][0], "tool_use_id": "toolu_2"}]}
    messages += [said(use(2)), second, said(CODE_RESULT, ANSWER)]
    for count in range(3, len(messages) + 1):
        text = shown(history("anthropic", *messages[:count]), "anthropic")
        assert '"name":"code_execution"' in text, count
        assert count == len(messages) or '"code_execution_tool_result"' not in text


def test_code_that_got_no_result_is_left_out_once_a_person_speaks() -> None:
    one = history("anthropic", QUESTION, said(CODE, use()), RESULT, QUESTION)
    assert "SERVER_TOOL_DROPPED" in one.render("anthropic").codes
    assert "server_tool_use" not in shown(one, "anthropic")


PROGRAM: dict[str, Any] = {
    "type": "program",
    "id": "prog_1",
    "call_id": "p1",
    "code": "1",
    "fingerprint": "f",
}
CALLER = {"caller": {"type": "program", "caller_id": "p1"}}
CALL: dict[str, Any] = {
    "type": "function_call",
    "call_id": "c1",
    "name": "read",
    "arguments": "{}",
    **CALLER,
}
OUTPUT: dict[str, Any] = {"type": "function_call_output", "call_id": "c1", "output": "1", **CALLER}
PROGRAM_OUTPUT: dict[str, Any] = {
    "type": "program_output",
    "id": "po_1",
    "call_id": "p1",
    "result": "1",
    "status": "completed",
}


@pytest.mark.parametrize("count", [3, 4, 5])
def test_a_program_is_shown_with_the_calls_that_it_made(count: int) -> None:
    items = [QUESTION, PROGRAM, CALL, OUTPUT, PROGRAM_OUTPUT][:count]
    one = history("openai-responses", *items)
    shown = one.render("openai-responses").request["input"]
    assert [item.get("type") for item in shown[:count]] == [item.get("type") for item in items]
    assert [item.get("caller") for item in shown[:count]] == [item.get("caller") for item in items]
    assert one.render("openai-responses").codes <= {"SYNTH_RESULT"}
