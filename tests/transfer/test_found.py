"""What was imported is found like what was posted."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from app.cli.reindex import catch_up
from app.conversations.queries import Asked, listed
from app.database.database import Database
from tests.transfer.conftest import Run

EXPORT = {
    "conversation_id": "c1",
    "title": "Brought along",
    "metadata": {"team": "blue"},
    "turns": [
        {
            "turn_id": "t1",
            "speaker": "ai",
            "provider": "kimi",
            "blocks": [
                {"type": "tool_call", "id": "raw_1", "name": "read", "parameters": {"a": 1}}
            ],
        }
    ],
}


def test_what_was_imported_is_found(database_url: str, tmp_path: Path, turnkeep: Run) -> None:
    file = tmp_path / "export.jsonl"
    file.write_text(json.dumps(EXPORT) + "\n")
    assert turnkeep(database_url, "import", file).code == 0
    with Database(database_url) as database:
        catch_up(database)
        for wish in (
            {"title": "brought"},
            {"metadata": [("team", "blue")]},
            {"tool": ["read"]},
            {"provider": ["kimi"]},
            {"q": "raw_1"},
        ):
            page: Any = database.read_now(partial(listed, wish=Asked(**wish)))
            assert [one["id"] for one in page["data"]] == ["c1"], wish
