"""What goes back to the provider that issued it, and what is left out there."""

from typing import Any

from tests.histories import posted

ASKED = {"role": "user", "content": "List the files."}
SHELL = {
    "type": "shell_call",
    "call_id": "s",
    "status": "completed",
    "action": {"commands": ["ls"]},
}
LISTED = {
    "type": "shell_call_output",
    "call_id": "s",
    "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
}
MARK = {"cache_control": {"type": "ephemeral"}}


def items(*bodies: list[dict[str, Any]]) -> tuple[list[str], set[str]]:
    """The types of the shown items of the Responses API, posted in these bodies; the repairs."""
    history = posted(*({"provider": "openai-responses", "messages": body} for body in bodies))
    done = history.render("openai-responses")
    return [item.get("type", "message") for item in done.request["input"]], done.codes


def marked(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, **MARK}


def test_a_call_that_the_caller_runs_is_left_out_until_its_output_comes() -> None:
    kinds, codes = items([ASKED, SHELL])
    assert (kinds, codes) == (["message"], {"CALL_WAITS_FOR_OUTPUT"})
    kinds, codes = items([ASKED, SHELL], [{"role": "user", "content": "Wait."}], [LISTED])
    assert [kind for kind in kinds if kind != "message"] == ["shell_call", "shell_call_output"]
    assert "CALL_WAITS_FOR_OUTPUT" not in codes


def test_an_output_without_its_call_is_left_out() -> None:
    kinds, codes = items([ASKED, LISTED])
    assert (kinds, codes) == (["message"], {"BLOCK_OMITTED"})


def test_what_only_refers_to_the_providers_store_is_left_out() -> None:
    kinds, codes = items([ASKED, {"type": "item_reference", "id": "msg_1"}])
    assert (kinds, codes) == (["message"], {"BLOCK_OMITTED"})


def test_another_provider_in_the_same_format_is_not_home() -> None:
    spoken = {"role": "user", "name": "Ada", "content": "hi"}
    body = {"provider": "groq", "format": "openai", "messages": [spoken]}
    done = posted(body).render("openai")
    assert done.request["messages"] == [{"role": "user", "content": "hi"}]
    assert done.codes == {"MEMBERS_OMITTED"}
    home = posted(body | {"provider": "openai"}).render("openai")
    assert (home.request["messages"], home.codes) == ([spoken], set())


def test_only_the_newest_four_cache_marks_are_shown_the_system_prompt_first() -> None:
    spoken = [marked(str(number)) for number in range(6)]
    body = {
        "provider": "anthropic",
        "system": [marked("Be brief.")],
        "messages": [{"role": "user", "content": spoken}],
    }
    done = posted(body).render("anthropic")
    (message,) = done.request["messages"]
    assert done.request["system"] == [marked("Be brief.")]
    assert [part["text"] for part in message["content"] if "cache_control" in part] == [
        *("3", "4", "5")
    ]
    assert "CACHE_MARKS_STRIPPED" in done.codes
