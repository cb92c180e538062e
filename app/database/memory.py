"""What a writer remembers of busy conversations from one group of commands to the next.

It is true as long as the head of the chain is the one that was saved with it: whatever another
process appends or completes, or erases and makes anew, gives the conversation another head.
"""

import threading
import time
from collections import OrderedDict
from datetime import datetime
from typing import TypeAlias

from ..ledger.book import Book, Names, names_of
from ..ledger.records import ConversationRecord
from ..ledger.slice import Change

# Names of all conversations together, about 150 bytes each.
MOST_NAMES = 300_000
# Signs of a facet that is remembered; one with a longer name is written again each time.
_LONGEST = 200
# Conversations that came lately. They are remembered when they have come so often in a row without
# another process writing to them in between: to learn all names takes time.
_MOST_SEEN = 4_096
_OFTEN = 2
# Seconds after which a conversation that nobody wrote to makes room for one that comes back. Others
# stay: to learn what is forgotten again at once costs more than to ask each time.
IDLE = 30.0
# A tenant and a conversation.
_Owner: TypeAlias = tuple[str, str]


class Memory:
    """Books of conversations, least recently used first out. They are the writer's; others may ask
    which there are, and have one forgotten."""

    def __init__(self, most_names: int) -> None:
        self._most = most_names
        self._names = 0
        # Each with its head and the time at which the conversation was made.
        self._books: OrderedDict[_Owner, tuple[bytes, datetime, Book]] = OrderedDict()
        # When they were used last.
        self._used: dict[_Owner, float] = {}
        self._lock = threading.RLock()
        self._seen: OrderedDict[_Owner, tuple[bytes, int]] = OrderedDict()

    def recall(self, tenant_id: str, head: ConversationRecord) -> Book | None:
        """The book of a conversation, if it is the one that this is the head of."""
        owner = (tenant_id, head.id)
        with self._lock:
            head_hash, _, book = self._books.get(owner, (b"", None, None))
            if book is None or head_hash != head.head_hash:
                self.forget(owner)
                return None
            self._books.move_to_end(owner)
            self._used[owner] = time.monotonic()
            return book

    def comes_back(self, tenant_id: str, head: ConversationRecord) -> bool:
        """Whether a conversation that is not remembered should be, from now on."""
        # A turn with two calls has eleven names.
        names = head.version * 11
        if not self._most or names > self._most // 4:
            return False
        head_hash, times = self._seen.get((tenant_id, head.id), (b"", 0))
        return head_hash == head.head_hash and times >= _OFTEN and self._has_room(names)

    def _has_room(self, names: int) -> bool:
        """Whether there is room for so many, or can be made."""
        with self._lock:
            long_ago = time.monotonic() - IDLE
            while self._names + names > self._most:
                first = next(iter(self._books), None)
                if first is None or self._used[first] > long_ago:
                    return False
                self.forget(first)
            return True

    def saw(self, tenant_id: str, before: ConversationRecord, after: ConversationRecord) -> None:
        """Notes that a conversation came that is not remembered, and its new head."""
        owner = (tenant_id, after.id)
        head_hash, times = self._seen.pop(owner, (b"", 0))
        again = head_hash == before.head_hash
        self._seen[owner] = after.head_hash, times + 1 if again else 1
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)

    def keep(
        self, tenant_id: str, head: ConversationRecord, book: Book, change: Change[object]
    ) -> None:
        """Remembers a book as it is after a change, at this head; it knew all names before it."""
        owner = (tenant_id, head.id)
        self.forget(owner)
        if not self._most:
            return
        names: Names = set() if book.names is None else book.names
        names.update(turn.turn_id for turn in change.turns)
        names.update(names_of(change.entries.calls.values(), change.entries.provider_ids))
        if len(names) > self._most // 4:
            return
        facets = frozenset(one for one in change.facets if len(one.name) <= _LONGEST)
        with self._lock:
            self._books[owner] = (
                head.head_hash,
                head.created_at,
                book.remembered(names, facets),
            )
            self._used[owner] = time.monotonic()
            self._names += len(names)
            while self._names > self._most:
                self.forget(next(iter(self._books)))

    def held(self) -> set[tuple[str, str, datetime]]:
        """The conversations that are remembered: tenant, id, and when it was made."""
        with self._lock:
            return {(*owner, made) for owner, (_, made, _) in self._books.items()}

    def forget(self, owner: _Owner) -> None:
        with self._lock:
            self._used.pop(owner, None)
            _, _, book = self._books.pop(owner, (b"", None, None))
            if book is not None and book.names is not None:
                self._names -= len(book.names)
