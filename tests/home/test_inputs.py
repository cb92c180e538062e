"""The input types as data: what the files hold, and what is taken out of a posted value.

`TURNKEEP_REWRITE_GOLDEN=1` writes the files anew from the installed SDKs.
"""

import json
import os
from typing import Any

import pytest
from anthropic.types import MessageParam
from anthropic.types.beta import BetaMessageParam

from app.formats.inputs import input_types
from app.formats.shared.inputs import InputTypes, accepted
from app.model.json_values import Json, JsonObject
from tests import judges
from tests.home import generate
from tests.home.python_types import shape_of
from tests.home.shapes import Kind, Shape
from tests.home.sources import SOURCES

REWRITE = bool(os.environ.get("TURNKEEP_REWRITE_GOLDEN"))


@pytest.mark.parametrize("target", SOURCES)
def test_files_hold_the_types_of_the_installed_sdks(target: str) -> None:
    if reason := judges.available(target):
        pytest.skip(reason)
    path, expected = generate.FOLDER / f"{target}.json", generate.written(target)
    if REWRITE:
        path.write_text(expected, encoding="utf-8")
    stored = path.read_text(encoding="utf-8") if path.exists() else ""
    assert stored == expected, f"{path.name}: the SDK's types changed; write the file anew"


def test_a_provider_without_an_sdk_of_its_own_has_no_input_types() -> None:
    assert input_types("neutral") is None


def test_anthropics_beta_accepts_whatever_else_is_accepted() -> None:
    """Its types alone are enough then."""
    assert _lacking(shape_of(MessageParam), shape_of(BetaMessageParam), set()) == []


def _lacking(shape: Shape, wider: Shape, visited: set[Kind]) -> list[str]:
    """Names of the kinds of a shape that no kind of the wider one covers."""
    lacking: list[str] = []
    for kind in set(shape.kinds) - visited:
        visited.add(kind)
        covering = next((other for other in wider.kinds if _covers(other, kind)), None)
        lacking += _lacking_below(kind, covering, visited) if covering else [kind.name]
    if shape.items:
        lacking += _lacking(shape.items, wider.items or Shape(), visited)
    return lacking


def _covers(wider: Kind, kind: Kind) -> bool:
    tags = all(wider.word(tag) == kind.word(tag) for tag in ("type", "role"))
    return tags and kind.members.keys() <= wider.members.keys()


def _lacking_below(kind: Kind, wider: Kind, visited: set[Kind]) -> list[str]:
    members = kind.members.items()
    return [
        name
        for member, shape in members
        for name in _lacking(shape, wider.members[member], visited)
    ]


def test_members_that_only_responses_have_are_dropped() -> None:
    posted = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": "Hello", "parsed_output": {}}],
        "usage": {"input_tokens": 1},
    }
    assert _accepted("anthropic", posted) == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Hello"}],
    }


def test_null_is_dropped_where_the_type_does_not_accept_it() -> None:
    posted: Json = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "content": None,
        "status": None,
    }
    expected: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": []}
    assert _accepted("openai-responses", posted) == expected
    sealed = {**expected, "encrypted_content": None}
    assert _accepted("openai-responses", sealed) is sealed


def test_a_value_that_is_accepted_whole_is_the_same_object() -> None:
    posted = {"role": "user", "content": [{"type": "text", "text": "Hi", "citations": None}]}
    assert _accepted("anthropic", posted) is posted


def test_the_posted_value_is_not_changed() -> None:
    posted = {"role": "user", "content": [{"type": "text", "text": "Hi", "secret": 1}], "id": "m"}
    before = json.dumps(posted)
    assert _accepted("anthropic", posted) != posted
    assert json.dumps(posted) == before


def test_an_object_of_an_unknown_kind_passes_whole() -> None:
    posted = {"type": "hologram_call", "id": "h", "depth": None}
    assert _accepted("openai-responses", posted) is posted


@pytest.mark.parametrize(
    "posted",
    [
        {"type": ["message"], "role": "user", "unheard_of": 1},
        {"type": "message", "role": "narrator", "content": "x"},
        {"type": "function_call", "call_id": "c", "name": "f"},
    ],
)
def test_an_object_that_its_kind_does_not_allow_is_refused(posted: dict[str, Any]) -> None:
    assert _accepted("openai-responses", posted) is None


def test_an_element_that_is_refused_leaves_the_others_in_their_places() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}
    text = {"type": "text", "text": "x"}
    posted = {"role": "user", "content": [image, text]}
    assert _accepted("anthropic", posted) == {"role": "user", "content": [None, text]}


def test_a_member_with_a_word_that_is_not_allowed_is_left_out() -> None:
    posted = {"role": "assistant", "content": "x", "phase": "final"}
    assert _accepted("openai-responses", posted) == {"role": "assistant", "content": "x"}


def test_an_unknown_block_passes_whole_inside_a_known_message() -> None:
    block = {"type": "hologram", "depth": None}
    posted = {"id": "msg_1", "role": "assistant", "content": [block]}
    assert _accepted("anthropic", posted) == {"role": "assistant", "content": [block]}


def test_json_of_others_is_not_looked_into() -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"city": None, "type": "text"}}
    posted = {"role": "assistant", "content": [call]}
    assert _accepted("anthropic", posted) is posted


def test_lists_keep_their_length() -> None:
    posted = {"role": "user", "content": [None, 7, {"type": "text", "text": "x", "id": 1}, "text"]}
    expected = {"role": "user", "content": [None, None, {"type": "text", "text": "x"}, None]}
    assert _accepted("anthropic", posted) == expected


def test_a_message_that_is_a_text_passes() -> None:
    assert _accepted("anthropic", "Hello") == "Hello"


@pytest.mark.parametrize("content", [7, False, None, {"type": "text"}])
def test_a_scalar_of_another_type_is_refused(content: Json) -> None:
    assert _accepted("openai", {"role": "tool", "tool_call_id": "c", "content": content}) is None


def test_of_several_kinds_with_the_same_tags_the_one_that_covers_most_is_meant() -> None:
    text: JsonObject = {"type": "output_text", "text": "Hello", "annotations": [], "parsed": None}
    output: JsonObject = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
    }
    user_text = {"type": "input_text", "text": "Hello", "parsed": None}
    assert _accepted("openai-responses", {**output, "content": [text]}) == {
        **output,
        "content": [{name: text[name] for name in ("type", "text", "annotations")}],
    }
    assert _accepted("openai-responses", {"role": "user", "content": [user_text]}) == {
        "role": "user",
        "content": [{"type": "input_text", "text": "Hello"}],
    }


def test_a_kind_without_tags_is_known_by_its_members() -> None:
    types = InputTypes(
        {
            "roots": {"part": {"kinds": ["Text", "Blob", "Either"]}},
            "kinds": {
                "Text": {"required": ["text"], "members": {"text": {}, "mark": {"any": True}}},
                "Blob": {"required": ["data"], "members": {"data": {}, "mark": {"any": True}}},
                "Either": {"one_of": ["one", "two"], "members": {"one": {}, "two": {}}},
            },
        }
    )
    assert accepted(types, "part", {"data": "x", "mark": 1, "id": 2}) == {"data": "x", "mark": 1}
    assert accepted(types, "part", {"two": "x", "mark": 1}) == {"two": "x"}
    unknown: Json = {"hologram": "x", "mark": None}
    assert accepted(types, "part", unknown) is unknown


def test_values_of_objects_with_free_names_are_read() -> None:
    types = InputTypes(
        {
            "roots": {"all": {"values": {"kinds": ["Text"]}}},
            "kinds": {"Text": {"required": ["text"], "members": {"text": {}}}},
        }
    )
    posted: Json = {"a": {"text": "x", "id": 1}, "b": {"text": "y"}}
    assert accepted(types, "all", posted) == {"a": {"text": "x"}, "b": {"text": "y"}}


def test_a_shape_of_a_union_has_the_alternatives_of_all_members() -> None:
    kind = Kind("One", "m")
    shape = shape_of(str | list[int] | None) | Shape(kinds=(kind,), items=Shape(kinds=(kind,)))
    assert (set(shape.scalars), shape.null, shape.kinds) == ({"string"}, True, (kind,))
    assert shape.items == Shape(scalars=frozenset({"integer"}), kinds=(kind,))


def test_members_of_gemini_have_the_names_of_the_sdk_and_are_not_null() -> None:
    posted = {
        "role": "model",
        "parts": [
            {"executableCode": {"code": "x", "language": "PYTHON", "id": None}, "text": None},
            {"executable_code": {"code": "x"}, "thoughtSignature": "c2ln", "video_metadata": None},
            {"functionCall": {"name": "f", "args": {"city": None}, "partialArgs": None}},
        ],
    }
    assert _accepted("gemini", posted) == {
        "role": "model",
        "parts": [
            {"executable_code": {"code": "x", "language": "PYTHON"}},
            {"executable_code": {"code": "x"}, "thought_signature": "c2ln"},
            {"function_call": {"name": "f", "args": {"city": None}}},
        ],
    }


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("gemini", {"role": "model", "parts": [{"hologram": {"x": None}, "thought": True}]}),
        ("bedrock", {"role": "user", "content": [{"hologram": {"x": None}}]}),
        (
            "bedrock",
            {"role": "user", "content": [{"image": {"format": "png", "source": {"x": 1}}}]},
        ),
        ("mistral", {"role": "user", "content": [{"type": "hologram", "x": None}]}),
        ("openai", {"role": "user", "content": [{"type": "hologram", "x": None}]}),
    ],
)
def test_unknown_kinds_pass_whole_in_every_format(target: str, message: dict[str, Any]) -> None:
    assert _accepted(target, message) is message


@pytest.mark.parametrize(
    ("target", "message", "expected"),
    [
        (
            "openai",
            {"role": "assistant", "content": None, "audio": {"id": "a", "data": "x"}, "parsed": {}},
            {"role": "assistant", "content": None, "audio": {"id": "a"}},
        ),
        (
            "mistral",
            {"role": "assistant", "content": "x", "tool_calls": None, "prefix": None, "id": "m"},
            {"role": "assistant", "content": "x", "tool_calls": None},
        ),
        (
            "bedrock",
            {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "t", "name": "f", "input": {}, "type": None}}
                ],
            },
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}],
            },
        ),
        (
            "vercel",
            {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "", "state": 1}]},
            {"role": "assistant", "content": [{"type": "text", "text": ""}]},
        ),
        (
            "vercel-v4",
            {"role": "assistant", "content": [{"type": "reasoning", "text": "", "signature": "s"}]},
            {"role": "assistant", "content": [{"type": "reasoning", "text": "", "signature": "s"}]},
        ),
    ],
)
def test_members_are_accepted_as_each_sdk_has_them(
    target: str, message: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert _accepted(target, message) == expected


def _accepted(target: str, posted: Any) -> Any:
    types = input_types(target)
    assert types
    return accepted(types, "message", posted)
