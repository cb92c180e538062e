"""docs/schema.md shows the tables as they are, and says what each column means.

`TURNKEEP_REWRITE_GOLDEN=1` writes it anew; read every line of the difference before you keep it.
"""

import os
from pathlib import Path

from tests.docs.schema import unsaid, written

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"
REWRITE = bool(os.environ.get("TURNKEEP_REWRITE_GOLDEN"))


def test_every_column_table_and_index_says_what_it_is() -> None:
    missing = unsaid()
    assert not missing, (
        f"say in app/database/tables.py what these are (doc, about, asked): {missing}"
    )


def test_the_page_shows_the_tables() -> None:
    now = written()
    if REWRITE:
        PAGE.write_text(now, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == now
