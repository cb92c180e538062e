"""All conversations of a database, page by page."""

from collections.abc import Iterator
from functools import partial

from app.core.ledger.records import ConversationRecord
from app.storage.database import Database
from app.storage.store import ReadStore

_PAGE = 200


def all_ids(database: Database) -> Iterator[str]:
    after: str | None = None
    while True:
        page = database.read_now(partial(_page, after=after))
        yield from (record.id for record in page)
        if len(page) < _PAGE:
            return
        after = page[-1].id


def _page(store: ReadStore, after: str | None) -> list[ConversationRecord]:
    return store.conversations.page(_PAGE, after)
