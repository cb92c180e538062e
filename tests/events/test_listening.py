"""Who listens to a conversation is told of every change, and leaves nothing behind."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import create_engine

from app.access.commands import made
from app.conversations.commands import Create, Describe, Erase
from app.database.database import Database, engine_url
from app.main import create_app
from app.settings import Settings
from tests.http_api import Api, user
from tests.statements import noted

EVENTS = "/v1/conversations/{}/events"
Told = tuple[str, dict[str, Any], int | None]


@dataclass
class Ear:
    """A listener that is connected, and what it hears."""

    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    heard: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    left: bytes = b""
    body: bytes = b""
    asked: bool = False

    async def receive(self) -> dict[str, Any]:
        if not self.asked:
            self.asked = True
            return {"type": "http.request", "body": self.body, "more_body": False}
        await self.hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {key.decode(): value.decode() for key, value in message["headers"]}
            return
        self.heard.put_nowait(message["body"])
        if not message.get("more_body"):
            self.heard.put_nowait(None)

    async def line(self) -> bytes | None:
        """The next event or comment; None at the end."""
        while b"\n\n" not in self.left:
            piece = await asyncio.wait_for(self.heard.get(), 20)
            if piece is None:
                return None
            self.left += piece
        line, _, self.left = self.left.partition(b"\n\n")
        return line

    async def event(self) -> Told | None:
        """The next event with its data and its id; None at the end."""
        while (line := await self.line()) is not None:
            if line != b":":
                members = dict(one.split(": ", 1) for one in line.decode().split("\n"))
                data = json.loads(members["data"])
                return members["event"], data, int(members["id"]) if "id" in members else None
        return None


@dataclass
class Service:
    app: FastAPI
    database: Database

    def ask(
        self, ear: Ear, method: str, path: str, query: str, headers: Mapping[str, str]
    ) -> "asyncio.Task[None]":
        given = {"host": "localhost", **headers}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(key.lower().encode(), value.encode()) for key, value in given.items()],
            "scheme": "http",
            "server": ("localhost", 80),
        }
        return asyncio.create_task(self.app(scope, ear.receive, ear.send))

    @asynccontextmanager
    async def listening(
        self, cid: str = "c1", query: str = "", headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[Ear]:
        ear = Ear()
        task = self.ask(ear, "GET", EVENTS.format(cid), query, headers or {})
        try:
            while not ear.status:
                assert not task.done() or task.exception() is None, task.exception()
                await asyncio.sleep(0.01)
            yield ear
        finally:
            ear.hung_up.set()
            await asyncio.wait_for(task, 20)

    @property
    def count(self) -> int:
        listeners = self.app.state.context.listeners
        assert listeners._count == sum(map(len, listeners._listeners.values()))
        return int(listeners._count)


def run(url: str, test: Callable[[Service], Coroutine[Any, Any, None]], **settings: Any) -> None:
    """A service, and beside it the database as another process has it."""

    async def main() -> None:
        app = create_app(Settings(database_url=url, allow_unsafe=True, **settings))
        with Database(url) as other:
            async with app.router.lifespan_context(app):
                await test(Service(app, other))

    asyncio.run(main())


def titled(title: str) -> Describe:
    return Describe("c1", title, None, frozenset({"title"}))


def test_changes_of_another_process_are_told(database_url: str) -> None:
    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening() as ear:
            assert ear.status == 200
            assert ear.headers["content-type"].startswith("text/event-stream")
            assert ear.headers["cache-control"] == "no-store"
            assert "content-length" not in ear.headers
            first = await ear.event()
            assert first is not None
            kind, data, version = first
            assert (kind, data["version"], version) == ("version", 0, 0)
            assert list(data) == ["version", "updated_at"]
            await service.database.write(titled("new"))
            changed = await ear.event()
            assert changed is not None
            assert changed[1]["version"] == 0
            assert changed[1]["updated_at"] > data["updated_at"]
            await service.database.write(Erase("c1"))
            assert await ear.event() == ("erased", {}, None)
            assert await ear.event() is None
        assert service.count == 0

    run(database_url, test)


@pytest.mark.parametrize(
    ("query", "headers", "at_once"),
    [
        ("", {}, True),
        ("after=0", {}, False),
        ("after=7", {}, True),
        ("", {"Last-Event-ID": "0"}, False),
        ("", {"Last-Event-ID": "3"}, True),
        # A browser asks for the same address again.
        ("after=7", {"Last-Event-ID": "0"}, False),
    ],
)
def test_what_the_listener_has_is_not_told_again(
    sqlite_database_url: str, query: str, headers: dict[str, str], at_once: bool
) -> None:
    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening("c1", query, headers) as ear:
            assert await ear.line() == b":"
            assert ear.left.startswith(b"event: version") == at_once
            if not at_once:
                await service.database.write(titled("new"))
                assert await ear.event() is not None

    run(sqlite_database_url, test)


@pytest.mark.parametrize("query", ["after=-1", "after=x", "before=1", "after=1&after=2"])
def test_a_listener_says_what_it_has_as_a_version(lite: Api, query: str) -> None:
    lite.post(user("x"))
    assert lite.http.get(f"{EVENTS.format('c1')}?{query}").status_code == 422
    bad = lite.http.get(EVENTS.format("c1"), headers={"Last-Event-ID": "x"})
    assert (bad.status_code, bad.json()["code"]) == (422, "invalid")


def test_nobody_listens_to_what_is_not_there(api: Api) -> None:
    absent = api.http.get(EVENTS.format("c1"))
    assert (absent.status_code, absent.json()["code"]) == (404, "conversation_not_found")


def test_head_does_not_listen(lite: Api) -> None:
    lite.post(user("x"))
    told = lite.http.head(EVENTS.format("c1"))
    assert (told.status_code, told.content) == (200, b"")
    assert lite.http.head(EVENTS.format("c2")).status_code == 404


def change(url: str, statement: str) -> None:
    engine = create_engine(engine_url(url))
    with engine.begin() as connection:
        assert connection.exec_driver_sql(statement).rowcount == 1
    engine.dispose()


def test_a_damaged_conversation_ends_its_listeners_alone(sqlite_database_url: str) -> None:
    async def test(service: Service) -> None:
        for cid in ("c1", "c2"):
            await service.database.write(Create(cid, None, {}))
        async with service.listening("c1") as ear, service.listening("c2") as other:
            assert await ear.event()
            assert await other.event()
            change(
                sqlite_database_url,
                "UPDATE conversations SET version = 'x' WHERE conversation_id = 'c1'",
            )
            assert await ear.event() is None
            await service.database.write(Describe("c2", "t", None, frozenset({"title"})))
            assert await other.event()
        async with service.listening("c1") as ear:
            assert ear.status == 409

    run(sqlite_database_url, test)


def test_another_conversation_of_the_same_id_is_not_the_one(database_url: str) -> None:
    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening() as ear:
            assert await ear.event()
            # Both at once: a look comes before or after them.
            erased = service.database.write_soon(Erase("c1"))
            made_anew = service.database.write_soon(Create("c1", None, {}))
            erased.result()
            made_anew.result()
            assert await ear.event() == ("erased", {}, None)
            assert await ear.event() is None

    run(database_url, test)


def test_what_has_expired_is_gone_for_listeners_too(sqlite_database_url: str) -> None:
    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening() as ear:
            assert await ear.event()
            change(sqlite_database_url, "UPDATE conversations SET expires_at = updated_at")
            assert await ear.event() == ("erased", {}, None)

    run(sqlite_database_url, test)


def test_one_look_serves_all_listeners(database_url: str) -> None:
    async def test(service: Service) -> None:
        for cid in ("c1", "c2"):
            await service.database.write(Create(cid, None, {}))
        context = service.app.state.context
        listeners = context.listeners
        async with (
            service.listening("c1"),
            service.listening("c1"),
            service.listening("c2"),
        ):
            statements: list[str] = []
            async with listeners._looking:
                with noted(lambda _, text, __: statements.append(text), context.database):
                    await listeners._look()
            assert len([one for one in statements if "FROM conversations" in one]) == 1

    run(database_url, test, search=False)


def test_one_listener_too_many_is_told_to_come_again(sqlite_database_url: str) -> None:
    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening(), service.listening():
            async with service.listening() as third:
                assert (third.status, third.headers["retry-after"]) == (503, "1")
            assert service.count == 2
        assert service.count == 0
        async with service.listening() as again:
            assert again.status == 200

    run(sqlite_database_url, test, listeners=2)


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_a_key_that_holds_no_longer_ends_its_listeners(database_url: str, how: str) -> None:
    async def test(service: Service) -> None:
        soon = timedelta(seconds=3) if how == "expired" else None
        key, text = made("t", "", ["read"], expires_in=soon)
        service.database.change_keys(lambda keys: keys.add(key))
        await service.database.of("t").write(Create("c1", None, {}))
        async with service.listening(headers={"Authorization": f"Bearer {text}"}) as ear:
            assert await ear.event()
            if how == "revoked":
                service.database.change_keys(lambda keys: keys.revoke(key.id, datetime.now(UTC)))
            assert await ear.event() is None
        assert service.count == 0

    run(database_url, test)


def test_the_first_key_ends_those_who_listened_without_one(sqlite_database_url: str) -> None:
    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening() as ear:
            assert await ear.event()
            service.database.change_keys(lambda keys: keys.add(made("t", "", ["read"])[0]))
            assert await ear.event() is None

    run(sqlite_database_url, test)


def test_all_are_let_go_when_the_service_stops(sqlite_database_url: str) -> None:
    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening() as ear:
            assert await ear.event()
            service.app.state.context.listeners.end()
            assert await ear.event() is None
        async with service.listening() as late:
            assert late.status == 503

    run(sqlite_database_url, test)


def test_a_silent_stream_has_comments(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.events.listening._SILENCE", 1.0)

    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening(query="after=0") as ear:
            assert [await ear.line() for _ in range(3)] == [b":"] * 3

    run(sqlite_database_url, test)


def test_what_this_process_writes_is_told_without_a_pause(
    sqlite_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So long that a test which waits for it fails.
    monkeypatch.setattr("app.events.listening._PAUSE", 600.0)

    async def test(service: Service) -> None:
        await service.database.write(Create("c1", None, {}))
        async with service.listening() as ear:
            assert await ear.event()
            writer = Ear(body=b'{"title": "new"}')
            headers = {"Content-Type": "application/json"}
            await service.ask(writer, "PATCH", "/v1/conversations/c1", "", headers)
            assert writer.status == 200
            assert await ear.event()

    run(sqlite_database_url, test)


def test_a_turn_that_is_completed_is_told_with_the_same_version(database_url: str) -> None:
    async def test(service: Service) -> None:
        said = b'data: {"choices": [{"delta": {"content": "x"}, "finish_reason": null}]}\n\n'
        headers = {"Content-Type": "text/event-stream"}
        path, query = "/v1/conversations/c1/turns/stream", "provider=openai&turn_id=t1"
        await service.ask(Ear(body=said), "POST", path, query, headers)
        async with service.listening(query="after=1") as ear:
            whole = Ear(body=said.replace(b"null", b'"stop"') + b"data: [DONE]\n\n")
            await service.ask(whole, "POST", path, query, headers)
            assert whole.status == 200
            event = await ear.event()
            assert event is not None
            assert (event[0], event[2]) == ("version", 1)

    run(database_url, test)
