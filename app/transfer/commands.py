"""Importing a whole history: the same as a POST, batch by batch, and nothing twice.

Every turn has an id of its own, so a batch begins by asking which of its turns are stored. The same
file again, a file that has grown, or one whose import was interrupted appends only what is new.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from ..conversations.commands import described, ensured
from ..database.database import Database
from ..formats.registry import ID_RULES
from ..jsontext.reading import loads
from ..jsontext.writing import dumps
from ..ledger.append import keys_of
from ..ledger.load_request import Keys
from ..ledger.pairing import links_of
from ..ledger.slice import Change, Slice
from ..model.conversation import Draft
from ..model.errors import TurnIdTaken
from ..model.limits import UNLIMITED
from ..tools.commands import KeepTools, kept_tools
from ..turns.commands import Append
from ..turns.posting import calls_in
from ..turns.turnform import content_hash, made_ready, read_turn
from .planning import Plan, Turned, turned_of
from .queries import exported_turn
from .versions import Told, as_told


@dataclass(frozen=True, slots=True)
class Counted:
    """How many turns a batch stored, and how many were there already."""

    stored: int = 0
    there: int = 0


def store_history(database: Database, plan: Plan) -> Iterator[Future[Counted]]:
    """Stores batch after batch, each all or nothing; durable when it is counted.

    A batch is begun when it is asked for. Whoever asks for the next one has waited for the last.
    """
    for start, end in pairwise(_cuts(plan)):
        yield database.write_soon(ImportBatch(plan, start, end))


def _cuts(plan: Plan) -> Iterator[int]:
    """Where batches begin and end: each is what one POST may hold. A turn is never cut."""
    start = calls = 0
    yield start
    for place, turned in enumerate(plan.turns):
        more = calls_in(turned.draft)
        if place > start and (
            place - start == plan.limits.turns or calls + more > plan.limits.calls
        ):
            yield place
            start, calls = place, 0
        calls += more
    yield len(plan.turns)


@dataclass(frozen=True, slots=True)
class ImportBatch:
    """The command to store some turns of a history, if they are not stored yet."""

    plan: Plan
    start: int
    end: int
    size = 0

    @property
    def conversation_id(self) -> str:
        return self.plan.history.conversation_id

    @property
    def adds(self) -> int:
        return self.end - self.start

    def keys(self, version: int, *, waiting: bool, ledger: bool = True) -> Keys:
        batch = self.plan.turns[self.start : self.end]
        drafts = [turned.draft for turned in batch]
        foreseen = keys_of(drafts, self.conversation_id, version, ID_RULES, waiting=waiting)
        # The turns in front of the batch say whether the history stands at its places; turns may
        # also be stored under the ids of the messages that they were read from.
        named = {self.plan.turns[at - 1].draft.turn_id for at in (self.start, self.end) if at}
        messages = self.plan.history.messages
        named |= {one.turn_id for turned in batch for one in messages[turned.first : turned.last]}
        has_tools = self.plan.riding is not None or bool(self.plan.tool_sets)
        return foreseen | Keys(turn_ids=frozenset(filter(None, named)), all_tools=has_tools)

    def decide(self, known: Slice) -> Change[Counted]:
        plan, history = self.plan, self.plan.history
        made = known.head is None
        known, change = ensured(known)
        done: Change[object] = change
        if made and (history.title is not None or history.metadata):
            told = described(known, history.title, dumps(history.metadata).encode())
            done, known = done.then(told), known.after(told)
        if made and history.expires_after is not None:
            assert known.head is not None
            head = replace(known.head, expires_after=history.expires_after).renewed(known.now)
            expiring: Change[None] = Change(None, head=head)
            done, known = done.then(expiring), known.after(expiring)
        batch = plan.turns[self.start : self.end]
        new, completing = _missing(known, plan, batch)
        there = self.end - len(new)
        as_before = new == [turned.draft for turned in plan.turns[there : self.end]]
        if plan.told and as_before and _in_their_places(known, plan, there):
            # Where the same turns came before, all comes as it came then.
            completing = self._overdue(known, plan.told, completing, there)
            orders = as_told(plan.told, there, self.end)
        else:
            orders = iter([new])
        for drafts in chain(([draft] for draft in completing), orders):
            posted = Append(known.conversation_id, made_ready(drafts), tools=plan.riding)
            one = posted.append(known)
            done, known = done.then(one), known.after(one)
        for order, version in _tool_sets(known, plan, self.start, self.end):
            kept: Change[None] = Change(None, tool_sets=kept_tools(known, order, at=version))
            done, known = done.then(kept), known.after(kept)
        stored = len(new) + len(completing)
        return done.then(Change(Counted(stored, max(len(batch) - stored, 0))))

    def _overdue(
        self, known: Slice, told: Told, completing: Sequence[Draft], there: int
    ) -> list[Draft]:
        """What completes turns here and came when the conversation had fewer turns than now."""
        overdue = {draft.turn_id: draft for draft in completing if not told.versions_of(draft)}
        for one in told.completions:
            if self.start < one.at <= min(there, self.end):
                overdue[one.draft.turn_id] = one.draft
        return [draft for draft in overdue.values() if not _is_there(known, self.plan, draft)]


def _tool_sets(known: Slice, plan: Plan, start: int, end: int) -> Iterator[tuple[KeepTools, int]]:
    """Where the turns have the places they had in the export, tools come back by version.

    In a conversation that has other turns too, only the newest are kept, from now on.
    """
    if not plan.tool_sets:
        return
    if _in_their_places(known, plan, end):
        for version, order in plan.tool_sets:
            if start < version <= end or (version == 0 and start == 0):
                yield order, version
    elif end == len(plan.turns):
        yield plan.tool_sets[-1][1], known.version


def _in_their_places(known: Slice, plan: Plan, end: int) -> bool:
    """Whether the first turns of the history are the last ones stored, without others before."""
    if end == 0:
        return known.version == 0
    last = known.place(plan.turns[end - 1].draft.turn_id or "")
    return last is not None and last.seq == end


def _missing(known: Slice, plan: Plan, batch: Sequence[Turned]) -> tuple[list[Draft], list[Draft]]:
    """The drafts that are not stored yet, and those that complete what is interrupted here."""
    _demand_records(known, plan, batch)
    rest = [draft for turned in batch for draft in _rest(known, plan, turned)]
    return (
        [draft for draft in rest if not known.place(draft.turn_id or "")],
        [draft for draft in rest if known.place(draft.turn_id or "")],
    )


def _demand_records(known: Slice, plan: Plan, batch: Sequence[Turned]) -> None:
    """Asks at once for all stored turns that must be compared by more than their hash."""
    different = {
        place.seq
        for turned in batch
        if (place := known.place(turned.draft.turn_id or ""))
        and place.content_hash != content_hash(turned.draft)
    }
    known.demand(Keys(seqs=frozenset(different), ledgers_of=frozenset(different)))


def _rest(known: Slice, plan: Plan, turned: Turned) -> Iterator[Draft]:
    """What is not stored of a turn: all, nothing, or what its source has added since."""
    draft, name = turned.draft, turned.draft.turn_id or ""
    stored = known.place(name)
    if stored is None:
        yield draft
        return
    if stored.content_hash == content_hash(draft) or _is_stored(known, plan, draft):
        return
    earlier = plan.told.versions_of(draft)[:-1] if plan.told else ()
    if any(_is_stored(known, plan, one) for one in earlier):
        yield draft
        return
    for cut in range(turned.last - 1, turned.first, -1):
        shorter = _part(plan, turned.first, cut)
        if stored.content_hash == content_hash(shorter.draft):
            yield from _rest(known, plan, _part(plan, cut, turned.last))
            return
    record = known.turn_at(stored.seq)
    if record is None or record.status == "complete" or draft.status != "complete":
        raise TurnIdTaken(f"The turn {name} is stored with other content.", turn_ids=[name])
    yield draft


def _part(plan: Plan, first: int, last: int) -> Turned:
    [turned] = turned_of(plan.history, first, last, {}, plan.limits)
    return turned


def _is_there(known: Slice, plan: Plan, draft: Draft) -> bool:
    """Whether a version of a turn is stored here, or one that came later."""
    versions = plan.told.versions_of(draft) if plan.told else ()
    later = versions[versions.index(draft) :] if draft in versions else (draft,)
    return any(_is_stored(known, plan, one) for one in later)


def _is_stored(known: Slice, plan: Plan, draft: Draft) -> bool:
    """Whether the stored turn is this one, or this one is its export, however it was posted."""
    record = known.turn(draft.turn_id or "") if plan.history.format == "neutral" else None
    if record is None:
        return False
    if record.content_hash == content_hash(draft):
        return True
    shown = exported_turn(read_turn(record), links_of(known.book.results_in(record.seq)))
    said = loads(draft.payload, UNLIMITED)
    if isinstance(said, dict):
        said.pop("earlier", None)
    return dumps(shown) == dumps(said)
