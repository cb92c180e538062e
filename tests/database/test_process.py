"""What goes between the service and the process that writes, byte by byte."""

import pickle
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from queue import Empty
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversations.commands import Create
from app.database.database import Database
from app.database.jobs import Outcome
from app.database.process import Call, Forget, Frames, News, _WriterHere, framed
from app.model.errors import ConversationExists
from app.model.json_values import ReadText
from app.model.large import Chunks, StaysHere
from app.upkeep.sweeper import clear_caches

VALUES = st.lists(st.binary(max_size=300) | st.integers() | st.text(), max_size=8)


@given(values=VALUES, cuts=st.lists(st.integers(0, 4000), max_size=12))
def test_values_come_out_as_they_went_in_wherever_the_bytes_are_cut(
    values: list[object], cuts: list[int]
) -> None:
    sent = b"".join(framed(value, number) for number, value in enumerate(values))
    edges = [0, *sorted({cut for cut in cuts if cut < len(sent)}), len(sent)]
    frames = Frames()
    pieces = (sent[start:end] for start, end in pairwise(edges))
    assert [one for piece in pieces for one in frames.feed(piece)] == list(enumerate(values))


def test_text_that_was_read_is_sent_without_its_value() -> None:
    """The blocks hold it already."""
    read = ReadText.of('{"a": 1}', {"a": 1})
    sent = pickle.loads(pickle.dumps(read))
    assert sent == read
    assert type(sent) is str


def test_long_bytes_are_not_sent() -> None:
    with pytest.raises(StaysHere):
        pickle.dumps(Chunks(lambda: iter([b"long"])))


@dataclass
class Other:
    """The process that writes, as a thread: what it is sent, and what it says."""

    socket: socket.socket
    frames: Frames = field(default_factory=Frames)
    news: list[News] = field(default_factory=list)

    def send(self, value: object, number: int = 0) -> None:
        self.socket.sendall(framed(value, number))

    def heard(self) -> News:
        while not self.news:
            self.news += (news for _, news in self.frames.feed(self.socket.recv(65_536)))
        return self.news.pop(0)


@pytest.fixture
def other(database_url: str) -> Iterator[Other]:
    ours, its = socket.socketpair()
    ours.settimeout(20)
    with Database(database_url) as database, ours, its:
        thread = Thread(target=_WriterHere(its, database._transactions()).work)
        thread.start()
        yield Other(ours)
        ours.shutdown(socket.SHUT_WR)
        thread.join(30)
        assert not thread.is_alive()


def test_it_says_what_came_of_a_command_and_what_it_remembers(other: Other) -> None:
    other.send(("default", Create("c1", None, {}, None), time.monotonic()), 7)
    other.send(("default", Create("c1", None, {}, None), time.monotonic()), 8)
    told: dict[int, Outcome] = {}
    while len(told) < 2:
        told.update(other.heard().outcomes)
    assert told[7].error is None
    assert isinstance(told[8].error, ConversationExists)
    other.send(Call(clear_caches))
    news = other.heard()
    assert {(tenant, cid) for tenant, cid, _ in news.held or ()} == {("default", "c1")}
    assert news.counts.commands == 2
    other.send(Forget(("default", "c1")))
    other.send(Call(clear_caches))
    assert other.heard().held == set()


def test_it_gives_a_sign_of_life_while_it_waits_for_something_else(
    sqlite_database_url: str,
) -> None:
    ours, its = socket.socketpair()
    ours.settimeout(20)
    with Database(sqlite_database_url) as database, ours, its:
        writer = _WriterHere(its, database._transactions())
        with pytest.raises(Empty):
            writer.take(0.01)
        assert [news.outcomes for _, news in Frames().feed(ours.recv(65_536))] == [[]]
        # Once a second is enough, and one that only looks says nothing.
        for timeout in (0.01, 0):
            with pytest.raises(Empty):
                writer.take(timeout)
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(1)


def test_the_end_of_a_service_that_was_killed_is_an_end(sqlite_database_url: str) -> None:
    ours, its = socket.socketpair()
    ours.settimeout(20)
    with Database(sqlite_database_url) as database, its:
        writer = _WriterHere(its, database._transactions())
        ours.sendall(framed(("default", Create("c1", None, {}, None), 0.0), 1))
        its.sendall(b"what nobody reads")
        ours.close()
        job = writer.take(1)
        assert job is not None
        assert job.ticket == 1
        assert writer.take(1) is None
