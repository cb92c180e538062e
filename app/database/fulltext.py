"""The full-text index: how each database is told to keep one, and how it is asked.

`search_texts` holds the words of every turn. On PostgreSQL they are a `tsvector` with a GIN index;
on SQLite an FTS5 table, kept by triggers, indexes them by their `number`. Words come as
`search.words` made them, so both databases find the same, and nothing in them is syntax.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Dialect, Text, cast, func
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR
from sqlalchemy.types import TypeDecorator

from ..ledger.wanted import AskedWord, Questions

# Kept beside the table. The tokenizer only parts words at blanks: it takes all but ASCII signs for
# letters. `detail=none`: neither columns nor places are asked for, and the index stays small.
DEFINITIONS: Mapping[str, Sequence[str]] = {
    "sqlite": (
        """CREATE INDEX ix_search_texts_number
        ON search_texts (number, tenant_id, conversation_id, part)""",
        """CREATE VIRTUAL TABLE search_words USING fts5(
        words, content='search_texts', content_rowid='number',
        tokenize="ascii tokenchars '_'", detail=none, columnsize=0)""",
        """CREATE TRIGGER search_texts_inserted AFTER INSERT ON search_texts BEGIN
        INSERT INTO search_words (rowid, words) VALUES (new.number, new.words); END""",
        """CREATE TRIGGER search_texts_deleted AFTER DELETE ON search_texts BEGIN
        INSERT INTO search_words (search_words, rowid, words)
        VALUES ('delete', old.number, old.words); END""",
    ),
    "postgresql": ("CREATE INDEX ix_search_texts_words ON search_texts USING gin (words)",),
}
# The conversations that have the words, as a condition. PostgreSQL cannot know how many begin with
# one, and would read all conversations rather than look up a few; as an array they are looked up.
CONDITIONS: Mapping[str, str] = {
    "sqlite": """conversations.conversation_id IN (
        SELECT conversation_id FROM search_texts
        WHERE tenant_id = :tenant AND part BETWEEN :{name}_first AND :{name}_last
        AND number IN (SELECT rowid FROM search_words WHERE search_words MATCH :{name}))""",
    "postgresql": """conversations.conversation_id = ANY (ARRAY(
        SELECT conversation_id FROM search_texts
        WHERE tenant_id = :tenant AND part BETWEEN :{name}_first AND :{name}_last
        AND words @@ CAST(:{name} AS tsquery)))""",
}


class _Lexemes(TypeDecorator[list[str]]):
    """Words as a `tsvector`, past PostgreSQL's own parser."""

    impl = TSVECTOR
    cache_ok = True

    def bind_expression(self, bindvalue: ColumnElement[list[str]]) -> ColumnElement[list[str]]:
        return func.array_to_tsvector(cast(bindvalue, ARRAY(Text)))


class Words(TypeDecorator[list[str]]):
    """Words as a text with blanks between them."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: list[str] | None, dialect: Dialect) -> str | None:
        return None if value is None else " ".join(value)


SEARCHED_WORDS = Words().with_variant(_Lexemes(), "postgresql")


def written(questions: Questions, dialect: str) -> str:
    """The questions in the language of the database; every word stands in quotes."""
    write, all_of, any_of = (
        (_fts5, " AND ", " OR ") if dialect == "sqlite" else (_tsquery, " & ", " | ")
    )
    return any_of.join(f"({all_of.join(map(write, question))})" for question in questions)


def _fts5(word: AskedWord) -> str:
    return f'"{word.text}"*' if word.prefix else f'"{word.text}"'


def _tsquery(word: AskedWord) -> str:
    return f"'{word.text}':*" if word.prefix else f"'{word.text}'"
