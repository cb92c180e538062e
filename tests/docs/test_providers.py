"""docs/providers.md shows what the codecs say: its tables are written from them.

`TURNKEEP_REWRITE_GOLDEN=1` writes them anew; read every line of the difference before you keep it.
"""

import os
import re
from pathlib import Path

import pytest

from app.formats.registry import TARGETS
from tests.docs.tables import TABLES

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"
REWRITE = bool(os.environ.get("TURNKEEP_REWRITE_GOLDEN"))


def between(name: str) -> re.Pattern[str]:
    begin, end = f"<!-- from the codecs: {name} -->\n", "<!-- end -->\n"
    return re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_says_what_the_codecs_say(name: str) -> None:
    written = TABLES[name]()
    page = PAGE.read_text(encoding="utf-8")
    if REWRITE:
        page = between(name).sub(lambda _: written, page, count=1)
        PAGE.write_text(page, encoding="utf-8")
    assert between(name).findall(page) == [written]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("target", [one for one in TARGETS if one != "neutral"])
def test_every_target_has_a_place_in_every_table(name: str, target: str) -> None:
    assert re.search(rf"[`, ]{target}[`, ]", TABLES[name]())
