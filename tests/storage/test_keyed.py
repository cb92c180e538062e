"""Statements over keys are found in SQLAlchemy's cache, or each would be compiled every time."""

import pytest

from app.storage import loading
from app.storage.keyed import Keyed

STATEMENTS = [one for one in vars(loading).values() if isinstance(one, Keyed)]


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_every_statement_has_a_key_that_tells_it_from_others(dialect: str) -> None:
    keys = [
        statement._statement(size, dialect)._generate_cache_key()
        for statement in STATEMENTS
        for size in (1, 2, 512)
    ]
    assert len(keys) > 20
    assert None not in keys
    assert len({key.key for key in keys if key}) == len(keys)
