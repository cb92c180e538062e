"""The commands of one tenant in a transaction: everything is read before anything is written."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, TypeVar

from sqlalchemy import Connection

from ..ledger.book import Book
from ..ledger.load_request import Keys, Unasked
from ..ledger.records import SMALL, ConversationRecord
from ..ledger.slice import Change, Command, Custom, Removal, Slice, Sweep
from ..model.errors import Unavailable
from . import loading
from .damage import Damage, may_be_damage
from .engines import TENANT, driver_of, kind_of
from .jobs import Outcome
from .memory import Memory
from .saving import Saving
from .settling import is_stored

T = TypeVar("T")
# Most commands foresee what they ask. Who forges ids can make one ask and ask: then it gets all.
_MOST_QUESTIONS = 8


class Postponed(Exception):
    """A command must read what another of its group is about to save; it takes its turn later."""


class Group:
    """The slices of the conversations that the commands are about, and what becomes of them."""

    def __init__(
        self,
        connection: Connection,
        tenant_id: str,
        memory: Memory,
        custom: Custom,
    ) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._kind = kind_of(connection.engine.url)
        self._memory = memory
        self._custom = custom
        self._now = datetime.now(UTC)
        self._before: dict[str, Slice] = {}
        self._slices: dict[str, Slice] = {}
        self._changes: dict[str, Change[Any]] = {}
        # Of the heads that were saved.
        self._seals: dict[str, bytes] = {}

    def decide(self, commands: Sequence[Command[Any]]) -> list[Outcome]:
        """What comes of the commands: all that they ask for is loaded, then each decides."""
        self._act()
        self._load(commands)
        return [self._outcome(command) for command in commands]

    def _act(self) -> None:
        """The transaction goes on for this tenant."""
        if self._connection.info[TENANT] != self._tenant_id:
            self._connection.info[TENANT] = self._tenant_id
            self._kind.act_for(driver_of(self._connection), self._tenant_id)

    def _load(self, commands: Sequence[Command[Any]]) -> None:
        """What the commands ask for, as far as they can foresee it."""
        self._before = self._heads(commands)
        self._slices = dict(self._before)
        damage = Damage(self._connection, self._tenant_id)
        for cid, known in self._before.items():
            # What has expired is absent, though its rows may be there.
            if known.head and known.head.has_expired(self._now):
                self._slices[cid] = self._slice(cid, None)
            # Rows that have lost their head get one, which ends with them.
            if known.head is None and self._may_go(cid, commands) and damage.headless(cid):
                self._slices[cid] = self._unread(cid, None)
        wanted: dict[str, Keys] = {}
        versions = {cid: known.version for cid, known in self._slices.items()}
        for command in commands:
            cid = command.conversation_id
            if self._slices[cid].whole:
                continue
            remembered = self._slices[cid].book.names is not None
            asked = _foreseen(command, versions[cid], self._slices[cid], ledger=not remembered)
            wanted[cid] = wanted[cid] | asked if cid in wanted else asked
            versions[cid] += command.adds
        loading.load(self._connection, self._tenant_id, self._slices, wanted)

    def _heads(self, commands: Sequence[Command[Any]]) -> dict[str, Slice]:
        """Slices of which only the head is known."""
        cids = sorted({command.conversation_id for command in commands})
        # What is swept has expired.
        expires_at = self._now if isinstance(commands[0], Sweep) else None
        try:
            heads = loading.heads(self._connection, self._tenant_id, cids)
            return {cid: self._slice(cid, heads.get(cid)) for cid in cids}
        except Exception as error:
            # A group is tried again one by one.
            if len(commands) > 1 or not (isinstance(commands[0], Removal) and may_be_damage(error)):
                raise
        return {cid: self._unread(cid, expires_at) for cid in cids}

    def _slice(self, cid: str, head: ConversationRecord | None) -> Slice:
        if head is None:
            return Slice.absent(cid, self._now, self._custom)
        book = self._memory.recall(self._tenant_id, head)
        if book is None:
            comes_back = self._memory.comes_back(self._tenant_id, head)
            names = loading.names(self._connection, self._tenant_id, cid) if comes_back else None
            counts = {"orphans": head.orphans, "open_calls": head.open_calls}
            book = Book(whole=False, **counts, names=names, start=head.version + 1)
        return Slice(cid, self._now, self._custom, head, book)

    def _unread(self, cid: str, expires_at: datetime | None) -> Slice:
        """A slice of a conversation whose head is damaged, with one in its place of which nothing
        is true but that it may be long."""
        now = self._now
        head = ConversationRecord(cid, None, b"{}", SMALL + 1, b"", 0, now, now)
        head = replace(head, expires_at=expires_at)
        return Slice(cid, now, self._custom, head, Book(whole=False))

    def _may_go(self, cid: str, commands: Sequence[Command[Any]]) -> bool:
        """Whether nothing else is asked of a conversation than to remove it."""
        mine = (command for command in commands if command.conversation_id == cid)
        return all(isinstance(command, Removal) for command in mine)

    def _outcome(self, command: Command[Any]) -> Outcome:
        """A command decides on the slice with the changes of those before it applied. What it
        raises is its outcome, and there is nothing to undo."""
        try:
            return Outcome(self._receipt(command))
        except Postponed:
            return Outcome(postponed=True)
        except self._kind.Error:
            raise
        except BaseException as error:
            return Outcome.failed(error)

    def _receipt(self, command: Command[T]) -> T:
        """The receipt of a command, whose change the next ones see."""
        cid = command.conversation_id
        head = self._slices[cid].head
        if head and head.has_expired(self._now):
            # Another of the group has just ended it; what is there of it is for the next group.
            raise Postponed
        for asked in count():
            known = self._slices[cid]
            if isinstance(command, Sweep) and cid not in self._changes:
                known = self._before[cid]
            try:
                change = command.decide(known)
                break
            except Unasked as more:
                missing = more.keys
            if not asked and known.book.names is not None:
                # What is remembered does not do; then all that can be foreseen is loaded at once.
                missing |= _foreseen(command, known.version, known)
            self._load_more(cid, missing, ledger=asked == _MOST_QUESTIONS)
        before, expired = self._changes.get(cid), self._before[cid].head
        if expired and known.head is None and change.head and not (before and before.erased):
            change = _in_the_place_of(expired).then(change)
        self._slices[cid] = known.after(change)
        self._changes[cid] = before.then(change) if before else change
        return change.receipt

    def _load_more(self, cid: str, missing: Keys, *, ledger: bool) -> None:
        if missing.history and cid in self._changes and self._changes[cid].head:
            raise Postponed
        if self._slices[cid].whole or not missing - self._slices[cid].asked:
            raise AssertionError(f"what was loaded does not answer: {missing}")
        if ledger:
            loading.load_ledger(self._connection, self._tenant_id, self._slices, cid)
        loading.load(self._connection, self._tenant_id, self._slices, {cid: missing})

    @property
    def erases(self) -> bool:
        return any(change.erased for change in self._changes.values())

    def save(self) -> None:
        self._act()
        changes = {cid: (self._before[cid], change) for cid, change in self._changes.items()}
        self._seals = Saving(self._connection, self._tenant_id, changes).everything()

    def is_stored(self, connection: Connection) -> bool | None:
        """Returns whether a COMMIT that was not answered was carried out, None if the rows do not
        say. The transaction of the connection goes on for this tenant."""
        self._kind.act_for(driver_of(connection), self._tenant_id)
        return is_stored(connection, self._tenant_id, self._changes, self._seals)

    def remember(self) -> None:
        """Keeps what the next groups may need. Only what is committed may be remembered."""
        for cid, known in self._slices.items():
            before, change = self._before[cid].head, self._changes.get(cid) or Change(None)
            if change.erased or known.head is None:
                self._memory.forget((self._tenant_id, cid))
            elif before is None or known.book.names is not None:
                self._memory.keep(self._tenant_id, known.head, known.book, change)
            else:
                self._memory.saw(self._tenant_id, before, known.head)


def _in_the_place_of(expired: ConversationRecord) -> Change[None]:
    """What has to go before a conversation is made anew."""
    if expired.version > SMALL:
        raise Unavailable("The conversation that had this id is still being removed.")
    return Change(None, erased=True)


def _foreseen(command: Command[Any], version: int, known: Slice, *, ledger: bool = True) -> Keys:
    try:
        return command.keys(version, waiting=known.book.orphans > 0, ledger=ledger)
    except Exception:
        # It raises the same when it decides, and that is its own outcome, not its neighbours'.
        return Keys()
