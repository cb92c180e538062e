"""Commands that only read."""

from pathlib import Path

import pytest

from app.cli import main


@pytest.mark.parametrize("command", [["verify"], ["export", "--all"]])
def test_a_command_that_reads_leaves_an_empty_file_empty(
    command: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "empty.db"
    file.touch()
    assert main([*command, "--database-url", f"sqlite:///{file}"]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["empty.db"]
    assert file.read_bytes() == b""
