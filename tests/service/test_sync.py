"""A list is compared before the writer's turn comes; others may write in between."""

import asyncio
import json
import threading

from app.core.json.text import loads_object
from app.core.ledger.book import Book
from app.core.ledger.slice import Change, History, Slice
from app.core.limits import Limits
from app.service.messagelist import MessageList, read_list
from app.service.seeing import Seen, look
from app.service.sync import Sync
from app.storage.database import Database
from tests.storage.specimens import Do


def listed(*texts: str) -> MessageList:
    messages = [{"role": "user", "content": text} for text in texts]
    body = json.dumps({"provider": "openai", "messages": messages})
    return read_list(*loads_object(body, Limits()), Limits())


def test_what_was_seen_is_looked_at_again_when_others_have_written(database_url: str) -> None:
    first, second = listed("a", "b"), listed("a", "b", "c")
    with Database(database_url) as database:

        def synced(messages: MessageList, seen: Seen) -> tuple[int, int, int]:
            done = database.write_now(Sync("c1", messages, seen))
            receipt = json.loads(done.receipt)
            return done.status, receipt["known"], len(receipt["turns"])

        early = database.read_now(lambda store: look(store.history("c1"), first))
        late = database.read_now(lambda store: look(store.history("c1"), second))
        assert synced(first, early) == (201, 0, 2)
        assert synced(second, late) == (201, 2, 1)
        assert synced(second, late) == (200, 3, 0)


def test_a_list_that_another_of_its_group_has_overtaken_is_looked_at_again(
    database_url: str,
) -> None:
    """The first of the group is not saved yet when the second decides; it takes its turn later."""
    first, second = listed("a", "b"), listed("a", "b", "c")
    with Database(database_url) as database:
        gate = threading.Event()

        def held(known: Slice) -> Change[None]:
            gate.wait()
            return Change(None)

        async def story() -> list[tuple[int, int]]:
            nothing = Seen(b"", look(History(b"", (), {}, Book()), first).found)
            other = Seen(b"", look(History(b"", (), {}, Book()), second).found)
            commands = (Do("c1", held), Sync("c1", first, nothing), Sync("c1", second, other))
            writes = [asyncio.ensure_future(database.write(one)) for one in commands]
            await asyncio.sleep(0)
            gate.set()
            _, *done = await asyncio.gather(*writes)
            receipts = [json.loads(one.receipt) for one in done if one]
            return [(one["known"], len(one["turns"])) for one in receipts]

        assert asyncio.run(story()) == [(0, 2), (2, 1)]
        turns = database.read_now(lambda store: store.turns.page("c1"))
        assert [turn.seq for turn in turns] == [1, 2, 3]
