"""A writer in a process of its own: commands go there, outcomes come back.

Python runs one thread at a time, so a writer that is a thread takes turns with the loop that reads
requests and the threads that read histories. A process has a processor to itself.

It is forked while there is one thread and no connection. It ends when nobody can send it commands
any more, after it has carried out those that came. Should it die before, callers hear that their
commands may have been stored, and a thread takes its place.
"""

import asyncio
import gc
import logging
import os
import pickle
import signal
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from queue import Empty
from select import select
from typing import Any, NoReturn

from ..model.errors import TurnkeepError, Unavailable
from ..model.large import PIECE, StaysHere
from .jobs import PERHAPS, Counts, Future, Job, Outcome, settle
from .transactions import Transactions
from .verdicts import Ending
from .writer import STUCK, Settled, Writer

log = logging.getLogger(__name__)

# Seconds for the last answers of a database that is closed.
PATIENCE = 2.0
# Commands with more bytes stay here: they would be held in both processes.
LARGEST = PIECE
_PERHAPS = f"The process that writes has died. {PERHAPS}"
_READ = 256 * 1024
# Seconds in which what was sent must be carried out when the service ends, and between two signs
# of life while commands wait for a conversation that is locked.
_LONGEST = 30.0
_SIGN = 1.0
_HEAD = struct.Struct("!IQ")
# Asks the process to give up what the database does not answer soon.
_END_SOON = getattr(signal, "SIGUSR1", signal.SIGTERM)
Held = set[tuple[str, str, datetime]]


@dataclass(slots=True)
class News:
    """What the process says: outcomes by number, and how it is."""

    outcomes: list[tuple[int, Outcome]]
    counts: Counts
    failure: Unavailable | None
    is_lost: bool
    held: Held | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    """Asks it to remember a conversation no more."""

    owner: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """Asks it to call a function of a module, and to say what it remembers afterwards."""

    function: Callable[[], None]


@dataclass(slots=True)
class Frames:
    """Values from the pieces of a stream of bytes. Each has its size and a number in front."""

    _bytes: bytearray = field(default_factory=bytearray)

    def feed(self, piece: bytes) -> list[tuple[int, Any]]:
        """The values that are whole now, with their numbers."""
        self._bytes += piece
        whole: list[tuple[int, Any]] = []
        end = 0
        with memoryview(self._bytes) as view:
            while len(view) >= (start := end + _HEAD.size):
                size, number = _HEAD.unpack_from(view, end)
                if len(view) < start + size:
                    break
                end = start + size
                with view[start:end] as one:
                    whole.append((number, pickle.loads(one)))
        del self._bytes[:end]
        return whole


def framed(value: object, number: int = 0) -> bytes:
    """The number of a command, from 1, is known to its caller."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _HEAD.pack(len(data), number) + data


def can_fork() -> bool:
    """Whether a process of its own is possible here, and of use."""
    return hasattr(os, "fork") and (os.cpu_count() or 1) > 1 and threading.active_count() == 1


class WriterProcess:
    """A writer elsewhere, as it is seen here. It belongs to the running loop, which hears of the
    outcomes; commands may come from any thread."""

    def __init__(self, make: Callable[[], Transactions], ending: Ending) -> None:
        self.counts = Counts()
        self.failure: Unavailable | None = None
        self.is_dead = False
        self._is_lost = False
        self._held: Held = set()
        self._numbers = count(1)
        # Who waits, and since when, in the order in which commands were sent.
        self._sent: dict[int, tuple[Future, float]] = {}
        self._heard_at = time.monotonic()
        self._socket, its = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            _be_writer(its, make, ending)
        its.close()
        self._socket.setblocking(False)
        self._frames = Frames()
        # What is to be sent, and who may append to it.
        self._unsent = bytearray()
        self._lock = threading.Lock()
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._loop.add_reader(self._socket, self._receive)

    def packed(self, job: Job) -> bytes | None:
        """The command as it is sent; None where it must stay here."""
        if self.is_dead or job.command.size > LARGEST:
            return None
        try:
            return pickle.dumps((job.tenant_id, job.command, job.since), pickle.HIGHEST_PROTOCOL)
        except StaysHere:
            return None

    def put(self, job: Job, packed: bytes) -> bool:
        """Sends a command; False where nobody is there to take it."""
        with self._lock:
            if self.is_dead:
                return False
            # It counts as begun: it cannot be called back.
            job.claim.acquire(blocking=False)
            number = next(self._numbers)
            self._sent[number] = job.ticket, job.since
            self.counts.commands += 1
        self._send(_HEAD.pack(len(packed), number) + packed)
        return True

    def held(self) -> Held:
        """What it said that it remembers when it was asked last."""
        return self._held

    def forget(self, tenant_id: str, cid: str) -> None:
        self._send(framed(Forget((tenant_id, cid))))

    def call(self, function: Callable[[], None]) -> None:
        self._send(framed(Call(function)))

    def waiting(self) -> int:
        return len(self._sent)

    def is_stuck(self) -> bool:
        """Commands on a conversation that is locked wait for long; it says meanwhile that it goes
        on with others."""
        if not self._sent:
            return False
        try:
            _, since = next(iter(self._sent.values()))
        except (StopIteration, RuntimeError):
            # Another thread has just changed it.
            return False
        return self._is_lost or time.monotonic() - max(since, self._heard_at) > STUCK

    def end(self) -> bool:
        """Asks it to end when it has carried out what it was sent; whether that is anything."""
        if self.is_dead:
            return False
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        with suppress(ProcessLookupError):
            os.kill(self._pid, _END_SOON)
        return bool(self._sent)

    def has_ended(self, until: float | None) -> bool:
        """Whether it has, where that is not waited for longer; it is killed then. The loop stands
        still meanwhile, so what is left is sent and heard here."""
        until, told = until or time.monotonic() + _LONGEST, False
        while not self.is_dead:
            if not self._unsent and not told:
                self._socket.shutdown(socket.SHUT_WR)
                told = True
            wait = max(0, until - time.monotonic())
            came, room, _ = select([self._socket], [self._socket] * bool(self._unsent), [], wait)
            if not came and not room:
                self._kill()
                return False
            if room:
                self._push()
            if came:
                self._receive()
        return True

    def _send(self, data: bytes) -> None:
        """Sends it when the loop comes round, with all else that is to be sent until then."""
        with self._lock:
            if self.is_dead:
                return
            is_first = not self._unsent
            self._unsent += data
        if is_first and threading.get_ident() == self._thread:
            # Cheaper than what wakes a loop that sleeps.
            self._loop.call_soon(self._flush)
        elif is_first:
            self._loop.call_soon_threadsafe(self._flush)

    def _flush(self) -> None:
        if self.is_dead:
            return
        self._push()
        if self._unsent:
            self._loop.add_writer(self._socket, self._flush)
        else:
            self._loop.remove_writer(self._socket)

    def _push(self) -> None:
        """Sends as much as there is room for."""
        with self._lock:
            try:
                del self._unsent[: self._socket.send(self._unsent)]
            except BlockingIOError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                # It is gone, and the loop will hear of it.
                self._unsent.clear()

    def _receive(self) -> None:
        try:
            piece = self._socket.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._ended()
            return
        try:
            said = self._frames.feed(piece)
        except Exception:
            # A fault of ours; nobody need wait for ever.
            log.exception("what the process that writes says cannot be read")
            self._kill()
            return
        for _, news in said:
            self._hear(news)

    def _hear(self, news: News) -> None:
        self._heard_at = time.monotonic()
        with self._lock:
            # Those that were sent are taken, whether it has begun with them or not.
            self.counts = replace(news.counts, commands=self.counts.commands)
        self.failure, self._is_lost = news.failure, news.is_lost
        self._held = self._held if news.held is None else news.held
        # After a fault of the writer's a command may be told twice.
        told = ((self._sent.pop(number, None), outcome) for number, outcome in news.outcomes)
        settle([(sent[0], outcome) for sent, outcome in told if sent])

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._ended()

    def _ended(self) -> None:
        """Nothing comes from it any more. Whoever waits hears that nobody knows."""
        if self._loop.is_running():
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
        with self._lock:
            self.is_dead = True
            left = [future for future, _ in self._sent.values()]
            self._sent.clear()
            self.counts.unavailable += len(left)
        settle([(future, Outcome(error=Unavailable(_PERHAPS))) for future in left])
        self._held = set()
        self._socket.close()
        status = 0
        # Whoever started us may have seen to it that nobody waits for processes.
        with suppress(ChildProcessError):
            status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        if left or status:
            log.error("the process that writes has died (status %d); a thread writes now", status)


def _be_writer(its: socket.socket, make: Callable[[], Transactions], ending: Ending) -> NoReturn:
    """What the new process does, to its end. Nothing of the other one is cleaned up here."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        # Whoever stops a group of processes stops the service, which tells us when it is ready.
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.SIG_IGN)

        def end_soon(*_: object) -> None:
            ending.at = min(ending.at, time.monotonic() + PATIENCE)

        signal.signal(_END_SOON, end_soon)
        _close_others(its.fileno())
        # Nobody collects what has lived for a while here, unless Python does it by itself.
        gc.set_threshold(5_000, 5, 50)
        _WriterHere(its, make()).work()
        status = 0
    except BaseException:
        log.exception("the process that writes failed")
    finally:
        os._exit(status)


def _close_others(kept: int) -> None:
    """Ports and files of the other process: they must not stay open when it ends."""
    most = os.sysconf("SC_OPEN_MAX")
    # Where any number is allowed, no process has opened so many.
    most = 65_536 if most < 0 else min(most, 65_536)
    os.closerange(3, kept)
    os.closerange(kept + 1, most)


class _WriterHere(Writer):
    """The other end: it takes commands from a socket, and tells there what came of them."""

    def __init__(self, its: socket.socket, made: Transactions) -> None:
        super().__init__(made)
        self._socket = its
        self._frames = Frames()
        self._jobs: deque[Job | None] = deque()
        self._said_at = 0.0

    def take(self, timeout: float | None) -> Job | None:
        while not self._jobs:
            if not select([self._socket], [], [], timeout)[0]:
                if timeout and time.monotonic() - self._said_at > _SIGN:
                    self._say([])
                raise Empty
            self._read()
        return self._jobs.popleft()

    def _read(self) -> None:
        piece = b""
        # Of a service that was killed with something unread, the end looks like this.
        with suppress(ConnectionResetError):
            piece = self._socket.recv(_READ)
        if not piece:
            self._jobs.append(None)
        for number, said in self._frames.feed(piece):
            match said:
                case Forget(owner):
                    self.memory.forget(owner)
                case Call(function):
                    function()
                    self._say([], self.memory.held())
                case tenant_id, command, since:
                    self._jobs.append(Job(tenant_id, command, number, since))

    def tell(self, settled: Settled) -> None:
        for _, outcome in settled:
            if outcome.error and not isinstance(outcome.error, TurnkeepError):
                # Where it was raised cannot be told to another process.
                log.error("a command failed", exc_info=outcome.error)
        self._say([(job.ticket, outcome) for job, outcome in settled])

    def _say(self, outcomes: list[tuple[int, Outcome]], held: Held | None = None) -> None:
        self._said_at = time.monotonic()
        state = (self.counts, self.failure, self.is_lost, held)
        try:
            said = framed(News(outcomes, *state))
        except Exception:
            # A fault of ours; nobody need wait for ever.
            log.exception("what came of %d commands cannot be told", len(outcomes))
            unsaid = Outcome(error=Unavailable(_PERHAPS))
            said = framed(News([(number, unsaid) for number, _ in outcomes], *state))
        # Who is gone need not hear it. What came before is carried out.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(said)
