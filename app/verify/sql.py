"""Rows as they are stored, column by column, for whoever computes again what they must be."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import and_, exists, func, select

from ..database.damage import any_bytes, as_stored, readable
from ..database.scope import AnySelect, Scope, owned
from ..database.tables import TENANTS_ROWS, conversations, metadata, search_texts


@cache
def _rows(table: str, columns: tuple[str, ...]) -> AnySelect:
    source = metadata.tables[table]
    return select(*(source.c[name] for name in columns)).where(owned(source))


class Stored(Scope):
    """The part of a store that gives rows."""

    def rows(self, table: str, columns: Sequence[str], cid: str) -> list[tuple[Any, ...]]:
        """These columns of all rows of a conversation."""
        return [tuple(row) for row in self._run(_rows(table, tuple(columns)), cid)]

    def words(self, cid: str) -> dict[int, Collection[str]]:
        """The words that are kept of a conversation, by part."""
        words = search_texts.c.words
        if self._connection.dialect.name == "sqlite":
            rows = self._run(select(search_texts.c.part, words).where(owned(search_texts)), cid)
            return {part: said.split() for part, said in rows}
        array = func.tsvector_to_array(words)
        rows = self._run(select(search_texts.c.part, array).where(owned(search_texts)), cid)
        return {part: said for part, said in rows}  # noqa: C416

    def headless(self) -> Iterator[tuple[str, str, str]]:
        """The conversations of all tenants that have rows, but no head; each with a table."""
        for table in TENANTS_ROWS:
            if table is conversations:
                continue
            same = and_(
                conversations.c.tenant_id == table.c.tenant_id,
                conversations.c.conversation_id == table.c.conversation_id,
            )
            owner = (table.c.tenant_id, table.c.conversation_id)
            gone = select(*owner).where(~exists().where(same)).distinct()
            with any_bytes(self._connection):
                found = self._connection.execute(as_stored(gone)).all()
            for tenant_id, cid in found:
                yield readable(tenant_id), readable(cid), table.name
