"""Calls of custom tools, which take a text: their own form at home, a function for others."""

from typing import Any

import pytest

from tests.histories import posted

CALL = {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"}
OUTPUT = {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"}


def shown(call: dict[str, Any], output: dict[str, Any]) -> list[dict[str, Any]]:
    """The call and its output, as the provider of both is shown them; without their id."""
    messages = [{"role": "user", "content": "hi"}, call, output]
    done = posted({"provider": "openai-responses", "messages": messages}).render("openai-responses")
    items: list[dict[str, Any]] = done.request["input"]
    return [
        {name: value for name, value in item.items() if name != "call_id"} for item in items[1:]
    ]


def test_a_call_as_responses_have_it_keeps_its_form() -> None:
    """`status` is no member of the input type."""
    call, output = shown(CALL | {"id": "ctc_1", "status": "completed"}, OUTPUT)
    assert call == {"type": "custom_tool_call", "name": "patch", "input": "*** Begin"}
    assert output == {"type": "custom_tool_call_output", "output": "done"}


def test_an_output_has_the_form_of_its_call() -> None:
    """A call whose name the provider refuses is written anew, as a function."""
    call, output = shown(CALL | {"name": "a.patch"}, OUTPUT)
    assert (call["type"], output["type"]) == ("function_call", "function_call_output")


def test_an_output_that_came_in_another_format_has_the_form_of_its_call() -> None:
    first = {"provider": "openai-responses", "messages": [{"role": "user", "content": "hi"}, CALL]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "done"}
    history = posted(first, {"provider": "openai", "messages": [result]})
    output = history.render("openai-responses").request["input"][-1]
    assert (output["type"], output["output"]) == ("custom_tool_call_output", "done")


@pytest.mark.parametrize("text", ["*** Begin", '{"a": 1}', '"', ""])
def test_other_providers_see_a_function_that_takes_the_same_text(text: str) -> None:
    messages = [{"role": "user", "content": "hi"}, CALL | {"input": text}, OUTPUT]
    done = posted({"provider": "openai-responses", "messages": messages}).render("anthropic")
    assert done.request["messages"][1]["content"][0]["input"] == {"input": text}
    assert "CUSTOM_TOOL_AS_FUNCTION" in done.codes
