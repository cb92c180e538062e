"""Members that no block has a place for: kept at home, and named once per turn for others."""

from typing import Any

import pytest

from app.formats.registry import CODECS
from tests.histories import History, posted

QUESTION = {"role": "user", "content": "Weather?"}
MARK = {"cache_control": {"type": "ephemeral"}}
PDF = "JVBERi0xLjQK"
DATA = f"data:application/pdf;base64,{PDF}"


def history(provider: str, *messages: Any, **body: Any) -> History:
    return posted({"provider": provider, "model": "m", "messages": list(messages), **body})


def omitted(one: History, target: str) -> list[str]:
    repairs = one.render(target).repairs
    return [repair.detail for repair in repairs if repair.code == "MEMBERS_OMITTED"]


@pytest.mark.parametrize("content", ["text", "list"])
def test_marks_for_a_prompt_cache_are_kept_and_named(content: str) -> None:
    block = {"type": "text", "text": "Weather?", **MARK}
    said = [block] if content == "text" else [{"type": "text", "text": "Hello."}, block]
    system = [{"type": "text", "text": "Be brief.", **MARK}]
    one = history("anthropic", {"role": "user", "content": said}, system=system)
    request = one.render("anthropic").request
    assert (request["system"], request["messages"][0]["content"]) == (system, said)
    for target in ("openai", "gemini", "bedrock", "openai-responses"):
        assert omitted(one, target) == ["only their own provider is shown cache_control"] * 2


DOCUMENT = {
    "type": "document",
    "title": "a.pdf",
    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
}
FILES: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        DOCUMENT,
        {**DOCUMENT, "source": {"type": "url", "url": "http://a/a.pdf"}},
    ],
    "openai": [{"type": "file", "file": {"filename": "a.pdf", "file_data": DATA}}],
    "openai-responses": [
        {"type": "input_file", "filename": "a.pdf", "file_data": DATA},
        {"type": "input_file", "filename": "a.pdf", "file_url": "http://a/a.pdf"},
    ],
    "gemini": [
        {"inline_data": {"display_name": "a.pdf", "mime_type": "application/pdf", "data": PDF}},
        {"file_data": {"display_name": "a.pdf", "file_uri": "http://a/a.pdf"}},
    ],
}


@pytest.mark.parametrize("provider", FILES)
def test_names_of_files_are_shown_or_their_omission_is_named(provider: str) -> None:
    for file in FILES[provider]:
        kind = {"openai-responses": "input_text"}.get(provider, "text")
        text = {"text": "Sum up."} if provider == "gemini" else {"type": kind, "text": "Sum up."}
        parts = "parts" if provider == "gemini" else "content"
        one = history(provider, {"role": "user", parts: [file, text]})
        home = one.render(provider).request[CODECS[provider].messages]
        assert file in home[0][parts]
        assert omitted(one, provider) == []
        for target in ("anthropic", "openai", "openai-responses", "gemini", "bedrock", "vercel"):
            render = one.render(target)
            is_named = omitted(one, target) == ["files have no name here"]
            is_left_out = "FILE_OMITTED" in render.codes
            is_shown = b"a.pdf" in render.raw.replace(b"/a.pdf", b"") or b'"a pdf"' in render.raw
            assert is_named + is_left_out + is_shown == 1, (file, target, render.request)


def test_a_name_that_another_wire_has_no_place_for_is_named_with_all_other_members() -> None:
    document = {**DOCUMENT, "context": "From the archive.", "citations": {"enabled": True}}
    one = history("anthropic", {"role": "user", "content": [document, document]})
    assert omitted(one, "gemini") == [
        "only their own provider is shown context, citations; files have no name here"
    ]


def test_names_of_files_in_results_are_named_too() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [DOCUMENT]}
    one = history(
        "anthropic",
        QUESTION,
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    )
    assert omitted(one, "anthropic") == []
    assert omitted(one, "gemini") == ["files have no name here"]


def test_what_gemini_s_sdk_writes_as_null_is_not_sent_back() -> None:
    nulls = dict.fromkeys(("inline_data", "video_metadata", "function_call"))
    parts: list[dict[str, Any]] = [
        {"text": "Hm.", "thought": True, "thought_signature": "c2ln"},
        {"executable_code": {"code": "1", "language": "PYTHON"}},
        {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"tool_call": {"id": "t", "tool_type": "GOOGLE_SEARCH", "args": {}}},
        {"tool_response": {"id": "t", "tool_type": "GOOGLE_SEARCH", "response": {}}},
        {"text": "Sunny."},
    ]
    dumped = [{**nulls, "text": None, **part} for part in parts]
    one = history(
        "gemini",
        {"role": "user", "parts": [{"text": "Weather?", **nulls}]},
        {"role": "model", "parts": dumped},
    )
    contents = one.render("gemini").request["contents"]
    assert [content["parts"] for content in contents] == [[{"text": "Weather?"}], parts]


def test_the_caller_of_a_call_is_kept_and_named() -> None:
    caller = {"caller": {"type": "direct"}}
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}", **caller}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "1", **caller}
    one = history("openai-responses", QUESTION, call, output)
    items = one.render("openai-responses").request["input"]
    assert [item.get("caller") for item in items[1:]] == [caller["caller"]] * 2
    for target in ("openai", "anthropic", "gemini"):
        assert omitted(one, target) == ["only their own provider is shown caller"] * 2


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_the_text_of_a_custom_tool_is_the_parameter_of_a_function(provider: str) -> None:
    call: dict[str, Any] = {"type": "custom_tool_call", "call_id": "call_1", "name": "sh"}
    said: dict[str, Any] = {**call, "input": "ls -l"}
    if provider == "openai":
        call = {"id": "call_1", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
        said = {"role": "assistant", "content": None, "tool_calls": [call]}
    one = history(provider, QUESTION, said)
    use = one.render("anthropic").request["messages"][1]["content"][0]
    assert use["input"] == {"input": "ls -l"}
    assert omitted(one, "anthropic") == []


def test_members_are_named_in_one_place_however_a_render_is_extended() -> None:
    """The late result of an earlier call is shown with that call, and the rest of its turn not."""
    calls = [
        {"type": "tool_use", "id": f"toolu_{name}", "name": "read", "input": {}} for name in "ab"
    ]
    results = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": "1", **MARK} for call in calls
    ]
    one = history(
        "anthropic",
        QUESTION,
        {"role": "assistant", "content": calls[:1]},
        QUESTION,
        {"role": "assistant", "content": calls[1:]},
        {"role": "user", "content": results},
    )
    assert len(omitted(one, "openai")) == 1


@pytest.mark.parametrize("provider", ["openai", "openrouter"])
def test_neighbours_with_other_names_stay_apart(provider: str) -> None:
    said = [{"role": "user", "name": name, "content": name} for name in ("ann", "bob")]
    said.append({"role": "user", "content": "nobody"})
    assert history(provider, *said).render(provider).request["messages"] == said


def test_a_picture_that_the_system_shows_in_line_is_left_out_by_name() -> None:
    """Gemini takes no system message in line; it becomes marked text of the user."""
    image = {"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}
    one = history(
        "gemini", {"role": "user", "parts": [{"text": "Hi."}]}, {"role": "system", "parts": [image]}
    )
    assert {"IMAGE_OMITTED", "SYSTEM_DEMOTED"} <= one.render("gemini").codes


def test_the_id_and_name_of_a_result_come_in_one_order_wherever_they_came_from() -> None:
    """Posted without them, and posted again with them, the replays are equal."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"text": "Hi."}]},
        {"role": "model", "parts": [{"function_call": {"id": "a", "name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"function_response": {"id": "a", "response": {"x": 1}}}]},
    ]
    first = history("gemini", *messages).render("gemini").request["contents"]
    answer = first[2]["parts"][0]["function_response"]
    assert list(answer) == ["id", "name", "response"]


@pytest.mark.parametrize("provider", ["mistral", "openai"])
def test_a_result_that_was_posted_without_an_id_gets_the_id_of_its_call(provider: str) -> None:
    function = {"name": "f", "arguments": "{}"}
    call = {"id": "abcdefghi", "type": "function", "function": function}
    one = history(
        provider,
        QUESTION,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "f", "content": [{"type": "text", "text": "1"}]},
    )
    asked, answered = one.render(provider).request["messages"][1:3]
    assert answered["tool_call_id"] == asked["tool_calls"][0]["id"]
