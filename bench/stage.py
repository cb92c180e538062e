"""What the measures stand on: fresh databases, filled conversations, floors, the textbook."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path

from bench import servers
from bench.client import Client, Refused
from bench.load import CONVERSATIONS, Loaded, Requests, load
from bench.rows import Sizes
from bench.servers import Server
from bench.turns import MARK, Message, Texts, body, call_turn, history, marked_bodies
from tests.postgres import fresh_database

# Posted in the shape of OpenAI, asked for in the shape of Anthropic: nothing can be passed through.
TARGET = "anthropic"
# Turns of one POST when a conversation is filled.
_BATCH = 500
WRITERS, READERS = 32, 4
# Answered when every word is indexed that was stored before it.
INDEXED_PATH = "/v1/conversations?q=python"
DATABASES = ("SQLite", "PostgreSQL")


def turns_path(cid: str) -> str:
    return f"/v1/conversations/{cid}/turns"


def replay_path(cid: str, options: str = "") -> str:
    return f"/v1/conversations/{cid}/replay?provider={TARGET}{options}"


def fill(client: Client, cid: str, messages: Sequence[Message]) -> None:
    """Store a history in a conversation."""
    for start in range(0, len(messages), _BATCH):
        client.post(turns_path(cid), body(messages[start : start + _BATCH]))


@dataclass
class Stage:
    """A folder and a PostgreSQL server for a run, and how much is to be measured."""

    folder: Path
    postgres: str
    sizes: Sizes
    # How busy the load generator was at the floor, of one processor, and how fast.
    at_floor: list[Loaded] = field(default_factory=list)
    _names: Iterator[int] = field(default_factory=lambda: count(1))

    @cached_property
    def texts(self) -> Texts:
        return Texts()

    @cached_property
    def posts(self) -> Requests:
        """Call turns, to many conversations in turn."""
        return Requests("POST", turns_path(f"c{MARK}"), marked_bodies(self.texts, 64))

    @cached_property
    def messages(self) -> list[Message]:
        """The history of ordinary length."""
        return list(history(self.texts, self.sizes.history))

    @contextmanager
    def database(self, kind: str) -> Iterator[str]:
        """The URL of a fresh database."""
        if kind == "PostgreSQL":
            with fresh_database(self.postgres) as url:
                yield url
            return
        yield f"sqlite:///{self.folder / f'{next(self._names)}.db'}"

    @contextmanager
    def turnkeep(self, kind: str, *, workers: int = 1) -> Iterator[Server]:
        with self.database(kind) as url, servers.turnkeep(url, workers=workers) as server:
            yield server

    @contextmanager
    def textbook(self, kind: str) -> Iterator[Server]:
        with (
            self.database(kind) as url,
            servers.program("bench.textbook", {"TEXTBOOK_URL": url}) as server,
        ):
            yield server

    @contextmanager
    def floor(self) -> Iterator[Server]:
        """The FastAPI stack without work, with the very bytes that Turnkeep gives."""
        with servers.program("bench.floors", self._floor_bytes) as server:
            yield server

    @cached_property
    def _floor_bytes(self) -> dict[str, str]:
        receipt, replay = self.folder / "receipt", self.folder / "replay"
        with self.turnkeep("SQLite") as server, Client(server.port) as client:
            posted = client.post(turns_path("c"), body([call_turn(self.texts, "floor")]))
            receipt.write_bytes(posted.body)
            fill(client, "h", self.messages)
            replay.write_bytes(client.get(replay_path("h")).body)
        return {"FLOOR_RECEIPT": str(receipt), "FLOOR_REPLAY": str(replay)}

    @cached_property
    def long_database(self) -> str:
        """The URL of an SQLite database with the conversation `long`."""
        url = f"sqlite:///{self.folder / 'long.db'}"
        with servers.turnkeep(url) as server, Client(server.port) as client:
            fill(client, "long", list(history(self.texts, self.sizes.long)))
        return url

    def begin(self, server: Server) -> None:
        """Make the conversations that `posts` goes on with."""
        with Client(server.port) as client:
            for number in range(CONVERSATIONS):
                message = call_turn(self.texts, f"first{number}")
                client.post(turns_path(f"c{number}"), body([message]))

    def load(self, server: Server, requests: Requests, clients: int) -> Loaded:
        return load(server.port, requests, clients, self.sizes.seconds)

    def posted(self, server: Server, clients: int) -> Loaded:
        return self.load(server, self.posts, clients)

    def written(self, server: Server, clients: int) -> Loaded:
        """Posts to Turnkeep. It returns when the words are indexed: what is measured next must not
        share the processors with that."""
        loaded = self.posted(server, clients)
        with Client(server.port) as client:
            while True:
                with suppress(Refused):
                    client.get(INDEXED_PATH)
                    return loaded

    def floor_rate(self, server: Server, requests: Requests, clients: int) -> float:
        """The rate of the floor; it also shows how fast the load generator can be."""
        loaded = self.load(server, requests, clients)
        self.at_floor.append(loaded)
        return loaded.rate
