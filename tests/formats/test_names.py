import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.formats.registry import CODECS
from app.formats.shared.tool_names import shown_name

ALLOWED = sorted({codec.profile.names.pattern for codec in CODECS.values()})
names = st.text(alphabet=st.characters(), max_size=80) | st.text(
    alphabet=string.ascii_letters + "._-/: 19é", max_size=80
)


@pytest.mark.parametrize("pattern", ALLOWED)
@given(name=names)
@example(name="a" * 100)
@example(name="7" * 100)
@example(name="." * 100)
@example(name="-")
def test_every_name_is_shown_as_one_that_the_wire_allows(pattern: str, name: str) -> None:
    assert re.fullmatch(pattern, shown_name(name, re.compile(pattern)))


@pytest.mark.parametrize("pattern", ALLOWED)
@given(name=names)
def test_a_name_that_is_allowed_is_shown_as_it_is(pattern: str, name: str) -> None:
    allowed = re.compile(pattern)
    assert (shown_name(name, allowed) == name) is bool(allowed.fullmatch(name))


@pytest.mark.parametrize("pattern", ALLOWED)
@given(known=st.lists(names, unique=True, max_size=8))
def test_names_of_a_conversation_stay_distinct_and_can_be_told_back(
    pattern: str, known: list[str]
) -> None:
    shown = {shown_name(name, re.compile(pattern)): name for name in known}
    assert sorted(shown.values()) == sorted(known)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mcp.read", "mcp/read"),
        ("read file", "read_file"),
        ("é", "è"),
        ("\ud800", "\ud801"),
        ("a" * 65, "a" * 66),
        ("", " "),
        ("_", "__ "),
        ("Read.", "read."),
    ],
)
def test_names_that_look_alike_stay_apart(one: str, other: str) -> None:
    allowed = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    assert shown_name(one, allowed) != shown_name(other, allowed)


def test_a_mapped_name_stays_readable_and_never_changes() -> None:
    allowed = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    assert shown_name("mcp.files/read", allowed) == "mcp_files_read_6efd9b52"
    assert shown_name("", allowed) == "invalid_tool_e3b0c442"


def test_a_wire_that_wants_a_letter_first_gets_one() -> None:
    allowed = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
    assert shown_name("7zip", allowed) == "tool_7zip_98fa304e"
