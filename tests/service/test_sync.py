"""A list is compared before the writer's turn comes; others may write in between."""

import json

from app.core.json.text import loads_object
from app.core.limits import Limits
from app.service.messagelist import MessageList, read_list
from app.service.seeing import Seen, look
from app.service.sync import Sync
from app.storage.database import Database


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
