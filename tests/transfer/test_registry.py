"""Kinds of session files are found by name; nothing has to be told about a new one."""

import pytest

from app.cli.importing import FORMATS
from app.transfer.importers import IMPORTERS, kind_of


def test_a_module_with_an_importer_is_a_format() -> None:
    assert set(IMPORTERS) == {"claude-code", "codex"}
    assert set(IMPORTERS) < set(FORMATS)


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ({"type": "session_meta", "payload": {}}, "codex"),
        ({"id": "x", "timestamp": "now"}, "codex"),
        ({"id": "x", "timestamp": "now", "messages": []}, "lines"),
        ({"id": "x", "timestamp": "now", "role": "user"}, "messages"),
        ({"type": "user", "message": {}}, "claude-code"),
        ({"type": "summary", "leafUuid": "x"}, "claude-code"),
        ({"type": "message", "role": "user", "sessionId": "x"}, "messages"),
        ({"role": "user", "input": []}, "lines"),
        ({"type": "user", "sessionId": "x", "messages": []}, "lines"),
        ({"anything": 1}, "other"),
        ([], "lines"),
    ],
    ids=str,
)
def test_a_file_is_known_by_its_first_line(first: object, kind: str) -> None:
    found = kind_of(first)  # type: ignore[arg-type]
    assert getattr(found, "name", found) == kind
