"""Writing what conversations are found by: facets, and words where they are kept at all."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import bindparam, delete, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from app.core.ledger.matching import Call
from app.core.search.wanted import Facet, FacetKind
from app.storage.audit import SHOWN_OF
from app.storage.rows import CALL
from app.storage.scope import IDS, Scope, owned, pieces
from app.storage.tables import conversation_facets, search_texts, tool_calls

_KEY = list(conversation_facets.primary_key.columns)
_ADD_FACET = {
    "sqlite": sqlite.insert(conversation_facets).on_conflict_do_nothing(index_elements=_KEY),
    "postgresql": postgresql.insert(conversation_facets).on_conflict_do_nothing(
        index_elements=_KEY
    ),
}
_NEXT = select(func.coalesce(func.max(search_texts.c.number), 0) + 1).scalar_subquery()
_ADD_TEXT = {
    # One writer at a time, so the next number is nobody else's.
    "sqlite": insert(search_texts).values(number=_NEXT),
    "postgresql": insert(search_texts),
}
_REMOVE_FACETS = delete(conversation_facets).where(
    owned(conversation_facets), conversation_facets.c.kind == bindparam("kind")
)
_REMOVE_TEXTS = delete(search_texts).where(owned(search_texts), search_texts.c.part.in_(IDS))
_CALLS = select(*CALL).where(
    owned(tool_calls),
    tool_calls.c.seq > bindparam("after"),
    tool_calls.c.seq <= bindparam("until"),
)
_REMOVE_ALL_TEXTS = delete(search_texts).where(owned(search_texts))


class Index(Scope):
    """The part of a store that is written so that conversations are found."""

    def add_facets(self, cid: str, facets: Collection[Facet]) -> None:
        rows = [
            {"kind": facet.kind, "value_sha256": facet.fingerprint, **self._owner(cid)}
            for facet in facets
        ]
        if rows:
            self._connection.execute(_ADD_FACET[self._connection.dialect.name], rows)

    def replace_facets(self, cid: str, kind: FacetKind, facets: Collection[Facet]) -> None:
        """All facets of one kind."""
        self._run(_REMOVE_FACETS, cid, kind=kind)
        self.add_facets(cid, facets)

    def add_texts(self, cid: str, texts: Mapping[int, Sequence[str]]) -> None:
        """The words of parts that have none yet."""
        rows = [
            {"part": part, "words": list(words), **self._owner(cid)}
            for part, words in texts.items()
            if words
        ]
        if rows:
            self._connection.execute(_ADD_TEXT[self._connection.dialect.name], rows)

    def replace_texts(self, cid: str, texts: Mapping[int, Sequence[str]]) -> None:
        """The words of parts that may have others; no words, no row."""
        for piece in pieces(texts):
            self._run(_REMOVE_TEXTS, cid, ids=piece)
        self.add_texts(cid, texts)

    def remove_texts(self, cid: str) -> None:
        self._run(_REMOVE_ALL_TEXTS, cid)

    def calls(self, cid: str, after: int, until: int) -> list[Call]:
        """The calls of the turns with after < seq <= until, also those that count no more."""
        rows = self._run(_CALLS, cid, after=after, until=until)
        calls = {row.call_id: Call(*row) for row in rows}
        for piece in pieces(calls):
            for call_id, target, provider_id in self._run(SHOWN_OF, cid, ids=piece):
                calls[call_id].shown[target] = provider_id
        return list(calls.values())
