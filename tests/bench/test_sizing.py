"""docs/sizing.md names commands and settings that exist, and quotes the benchmarks as they are."""

import importlib.util
import re

from app.database.database import READERS
from app.settings import Settings
from tests.e2e.server import ROOT

PAGE = (ROOT / "docs" / "sizing.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def test_its_commands_are_there() -> None:
    modules = re.findall(r"-m (bench\.\w+)", PAGE)
    assert len(modules) == 2
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


def test_it_says_what_the_settings_are() -> None:
    settings = Settings()
    assert f"`TURNKEEP_RENDER_MEMORY`, {settings.render_memory >> 20} MB" in PAGE
    assert f"({settings.body_memory >> 20} MB in each worker)" in PAGE
    assert f"`TURNKEEP_RESPONSE_MEMORY`, {settings.response_memory >> 20} MB" in PAGE
    assert f"`TURNKEEP_PG_WRITERS` ({settings.pg_writers})" in PAGE
    assert f"up to {READERS} to read: six" in PAGE
    assert 2 * settings.pg_writers + READERS == 6


def test_it_quotes_the_benchmarks() -> None:
    quoted = {
        "POST SQLite, 32 clients": "748 a second on SQLite",
        "POST PostgreSQL, 32 clients": "567 on PostgreSQL",
        "memory after reading 10,000 turns": "363 MB",
        "two workers on PostgreSQL, writes": "wrote 0.93",
        "two workers on PostgreSQL, reads": "read 1.16",
    }
    for row, words in quoted.items():
        [line] = [line for line in BENCHMARKS.splitlines() if f"| {row}" in line]
        [figure] = re.findall(r"[\d.]+", words)
        assert words in PAGE
        assert re.search(rf"\b{re.escape(figure)}\b", line), f"{row} is not {figure} any more"
