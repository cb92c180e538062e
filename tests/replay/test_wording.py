import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.shared import placeholders as wording
from app.model.conversation import File, Image, Opaque, Part, Status, Text, ToolResult
from app.model.json_values import Json, NumberText


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("", ""),
        ("plain", "plain"),
        (False, "false"),
        (True, "true"),
        (0, "0"),
        (NumberText.of("1.10"), "1.10"),
        ([], "[]"),
        ({}, "{}"),
        ({"ä": [1, None]}, '{"ä":[1,null]}'),
    ],
)
def test_a_value_as_text(value: Json, text: str) -> None:
    assert wording.value_text(value) == text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult("a", "out"), "out"),
        (ToolResult("a", None), ""),
        (ToolResult("a", "out", error="boom", status="error"), "boom\nout"),
        (ToolResult("a", "boom", error="boom", status="error"), "boom"),
        (ToolResult("a", None, error="boom", status="error"), "boom"),
        (ToolResult("a", "out", error="", status="error"), "out"),
        (ToolResult("a", parts=(Text("one"), Image("u"), Text("two"))), "one\ntwo"),
        (ToolResult("a", parts=()), ""),
        (ToolResult("a", parts=(Text("x"),), error="boom", status="error"), "boom\nx"),
    ],
)
def test_the_words_of_a_result_begin_with_its_error(result: ToolResult, text: str) -> None:
    assert wording.result_text(result) == text


def test_what_we_write_ourselves_is_marked() -> None:
    ours = [
        wording.BRIDGE_USER,
        wording.BRIDGE_ASSISTANT,
        wording.EMPTY,
        wording.unrecorded(),
        wording.unrecorded("interrupted"),
        wording.demoted_system("x"),
        wording.reasoning("x"),
        wording.left_out("Image", "why"),
        wording.orphan_text(ToolResult("a", "x")),
    ]
    assert all(text.startswith("[turnkeep] ") for text in ours)


@pytest.mark.parametrize(
    ("status", "known"),
    [("denied", "was not run"), ("interrupted", "may have run"), ("unknown", "outcome unknown")],
)
def test_a_state_says_no_more_than_is_known(status: Status, known: str) -> None:
    assert known in (wording.of_status(status) or "")


@pytest.mark.parametrize("status", ["ok", "error"])
def test_a_state_that_results_speak_for_themselves_has_no_words(status: Status) -> None:
    assert wording.of_status(status) is None


def test_an_unrecorded_result_is_not_said_to_have_failed() -> None:
    assert "outcome unknown" in wording.unrecorded()


@pytest.mark.parametrize(
    ("part", "kind"), [(Image("u"), "image"), (File("u"), "file"), (Opaque("audio", {}), "audio")]
)
def test_an_orphan_says_what_it_held(part: Part, kind: str) -> None:
    text = wording.orphan_text(ToolResult("a", parts=(Text("said"), part), name="read"))
    assert "a tool read whose call is not in this history" in text
    assert text.endswith(f"said\n[{kind} left out]")


@given(st.text(min_size=200, max_size=400), st.integers(120, 199))
def test_an_elided_text_has_exactly_the_length_the_wire_takes(text: str, most: int) -> None:
    short = wording.elided(text, most)
    assert len(short) == most
    assert f"[turnkeep] {len(text)} characters" in short


def test_an_elided_text_keeps_its_head_and_its_tail() -> None:
    short = wording.elided("a" * 500 + "z" * 500, 200)
    assert short.startswith("a" * 40)
    assert short.endswith("z" * 40)
