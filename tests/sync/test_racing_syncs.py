"""A list is compared before the writer's turn comes; others may write in between."""

import asyncio
import json
import threading
from datetime import UTC, datetime

import pytest

from app.database.database import Database
from app.jsontext.reading import loads_object
from app.ledger.book import Book
from app.ledger.slice import Change, Custom, History, Slice
from app.model.errors import LimitExceeded
from app.model.limits import Limits
from app.sync.commands import Sync, news
from app.sync.messagelist import MessageList, read_list
from app.sync.seeing import Seen, look
from tests.database.specimens import Do


def listed(*texts: str) -> MessageList:
    messages = [{"role": "user", "content": text} for text in texts]
    body = json.dumps({"provider": "openai", "messages": messages})
    return read_list(*loads_object(body, Limits()), Limits())


NOTHING = History(b"", (), {}, Book())


def test_the_writer_reads_no_message_again(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = listed("a", "b")
    seen = look(NOTHING, messages)
    command = Sync("c1", messages, seen, news(messages, seen))
    read: list[object] = []
    for place in ("app.sync.messagelist.read_post", "app.sync.commands.made_ready"):
        monkeypatch.setattr(place, lambda *given, **named: read.append(given))
    command.keys(0, waiting=True)
    done = command.decide(Slice.absent("c1", datetime.now(UTC), Custom()))
    assert len(done.turns) == 2
    assert not read


def test_more_news_than_a_request_may_bring_is_refused_before_the_writer() -> None:
    messages = listed(*["a"] * (Limits().turns + 1))
    with pytest.raises(LimitExceeded, match="The limit turns allows 1000"):
        news(messages, look(NOTHING, messages))


def test_what_was_seen_is_looked_at_again_when_others_have_written(database_url: str) -> None:
    first, second = listed("a", "b"), listed("a", "b", "c")
    with Database(database_url) as database:

        def synced(messages: MessageList, seen: Seen) -> tuple[int, int, int]:
            done = database.write_now(Sync("c1", messages, seen, news(messages, seen)))
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
            one, two = (
                Sync("c1", messages, seen, news(messages, seen))
                for messages, seen in ((first, nothing), (second, other))
            )
            commands = (Do("c1", held), one, two)
            writes = [asyncio.ensure_future(database.write(one)) for one in commands]
            await asyncio.sleep(0)
            gate.set()
            _, *done = await asyncio.gather(*writes)
            receipts = [json.loads(each.receipt) for each in done if each]
            return [(one["known"], len(one["turns"])) for one in receipts]

        assert asyncio.run(story()) == [(0, 2), (2, 1)]
        turns = database.read_now(lambda store: store.turns.page("c1"))
        assert [turn.seq for turn in turns] == [1, 2, 3]


@pytest.fixture
def as_by_a_process() -> None:
    """The commands of this file are functions, which cannot be sent to a process."""
