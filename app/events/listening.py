"""Who listens to a conversation is told when it changes, whichever process changed it.

All conversations that somebody listens to are looked at together, now and then, and at once when
this process has written to one of them. Listeners hold no thread and no connection of the database.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from ..access.http import Access
from ..conversations.commands import heads_of, known
from ..database.database import Database
from ..edge.middleware import STOPPING
from ..jsontext.writing import dumps_utf8
from ..ledger.records import ConversationRecord
from ..model.errors import TurnkeepError, Unauthorized, Unavailable

# Seconds between two looks: at the conversations, and at the key of each listener.
_PAUSE = 0.5
# The least time between two looks, however much is written.
_BREATH = 0.05
# Seconds after which a silent connection would be taken for dead.
_SILENCE = 15.0
_COMMENT = b":\n\n"
# Proxies hand on what comes, and keep nothing.
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Listener:
    """One who listens. `seen`: what was told last, or need not be told."""

    def __init__(self, request: Request, head: ConversationRecord, after: int | None) -> None:
        self.request = request
        self.head = _shown(head)
        self.seen = self.head if after == head.version else None
        self.created_at = head.created_at
        self.has_ended = False
        self.news = asyncio.Event()

    def show(self, head: ConversationRecord | None) -> None:
        """`head`: as it is now; None where it is gone."""
        if head != self.head:
            self.head = head
            if head is None or head.created_at != self.created_at:
                self.seen = None
            self.news.set()

    def end(self) -> None:
        self.has_ended = True
        self.news.set()

    def told(self) -> bytes:
        """What there is to tell now; nothing where all was told."""
        head = self.head
        if head is None or head.created_at != self.created_at:
            # Another one of the same id is not the one that was listened to.
            self.end()
            return b"event: erased\ndata: {}\n\n"
        if head == self.seen:
            return b""
        self.seen = head
        data = dumps_utf8({"version": head.version, "updated_at": head.updated_at.isoformat()})
        return b"event: version\nid: %d\ndata: %s\n\n" % (head.version, data)


class Listeners:
    """Those of one process, `most` at a time."""

    def __init__(self, database: Database, access: Access, most: int) -> None:
        self._database = database
        self._access = access
        self._most = most
        # By tenant and conversation.
        self._listeners: dict[tuple[str, str], set[Listener]] = {}
        self._count = 0
        self._stopping = False
        # Looks come one after the other, so that nobody is shown what was before.
        self._looking = asyncio.Lock()
        self._hurry = asyncio.Event()

    async def join(
        self, mine: Database, cid: str, after: int | None, request: Request
    ) -> "EventStream":
        """The stream of a new listener, who has left when it has ended."""
        async with self._looking:
            head = await mine.read(partial(known, conversation_id=cid))
            if self._stopping:
                raise Unavailable(STOPPING)
            if self._count >= self._most:
                raise Unavailable("Too many listen already. Send this request again.")
            listener = Listener(request, head, after)
            self._listeners.setdefault((mine.tenant_id, cid), set()).add(listener)
            self._count += 1
        return EventStream(self, (mine.tenant_id, cid), listener)

    def leave(self, owner: tuple[str, str], listener: Listener) -> None:
        self._count -= 1
        self._listeners[owner].discard(listener)
        if not self._listeners[owner]:
            del self._listeners[owner]

    def hurry(self, tenant_id: str, cid: str) -> None:
        """Something was written: it is looked at once, if somebody listens."""
        if (tenant_id, cid) in self._listeners:
            self._hurry.set()

    def end(self) -> None:
        """The service stops."""
        self._stopping = True
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.end()

    async def may_listen(self, listener: Listener) -> bool:
        """Whether the key of a listener still holds."""
        try:
            await self._access.key_of(listener.request)
        except Unauthorized:
            return False
        except Unavailable:
            # Nothing else can be read either.
            pass
        return True

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        while True:
            await asyncio.sleep(_BREATH)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), _PAUSE - _BREATH)
            self._hurry.clear()
            if self._listeners:
                async with self._looking:
                    await self._look()

    async def _look(self) -> None:
        for tenant_id in {tenant_id for tenant_id, _ in self._listeners}:
            listened = [cid for owner, cid in self._listeners if owner == tenant_id]
            # What cannot be answered now is asked again.
            with suppress(TurnkeepError):
                heads = await self._database.of(tenant_id).read(partial(heads_of, cids=listened))
                for cid in listened:
                    for listener in self._listeners.get((tenant_id, cid), ()):
                        if cid in heads:
                            listener.show(_shown(heads[cid]))
                        else:
                            # Who asks again is told that it is damaged.
                            listener.end()


class EventStream(Response):
    """What a listener is told, as server-sent events."""

    media_type = "text/event-stream"

    def __init__(self, listeners: Listeners, owner: tuple[str, str], listener: Listener) -> None:
        super().__init__(headers=_HEADERS)
        # It has no length.
        del self.headers["content-length"]
        self.listeners = listeners
        self.owner = owner
        self.listener = listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_hung_up(receive, self.listener))
        try:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            # Even where there is nothing to tell, so that it is known to have begun.
            await self._send(send, _COMMENT + self.listener.told())
            # With HEAD nobody would hear anything.
            if "head" not in scope:
                await self._tell(send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self.listeners.leave(self.owner, self.listener)

    async def _tell(self, send: Send) -> None:
        listener, silence = self.listener, 0.0
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(listener.news.wait(), _PAUSE)
            listener.news.clear()
            if listener.has_ended or not await self.listeners.may_listen(listener):
                return
            silence += _PAUSE
            told = listener.told()
            if told or silence >= _SILENCE:
                silence = 0.0
                await self._send(send, told or _COMMENT)

    async def _send(self, send: Send, text: bytes) -> None:
        await send({"type": "http.response.body", "body": text, "more_body": True})


async def _hung_up(receive: Receive, listener: Listener) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.end()


def _shown(head: ConversationRecord | None) -> ConversationRecord | None:
    """What callers can see of a head: not how far it is indexed."""
    return replace(head, indexed=0) if head else None
