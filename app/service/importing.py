"""Importing a whole history: the same deed as a POST, batch by batch, and nothing twice.

Every turn has an id of its own, so a batch begins by asking which of its turns are stored. The same
file again, a file that has grown, or one whose import was interrupted appends only what is new.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.core.conversation import Draft, ToolResult
from app.core.errors import TurnIdTaken
from app.core.json.text import dumps, loads
from app.core.ledger.records import ConversationRecord
from app.service.conversations import describe, locked
from app.service.exporting import exported_turn
from app.service.ingest import Append, ingest
from app.service.planning import Plan, Turned, turned_of
from app.service.posting import Post
from app.service.tooldefs import keep_tools
from app.service.turnform import UNLIMITED, content_hash, read_turn
from app.storage.database import Database
from app.storage.store import Store


@dataclass(frozen=True, slots=True)
class Counted:
    """How many turns a batch stored, and how many were there already."""

    stored: int = 0
    there: int = 0


def store_history(database: Database, plan: Plan) -> Iterator[Counted]:
    """Stores batch after batch, each all or nothing; durable before it is counted."""
    most = plan.limits.turns
    starts = range(0, len(plan.turns), most) or range(1)
    for start in starts:
        deed = partial(_store, plan=plan, start=start, end=min(start + most, len(plan.turns)))
        yield database.write_now(deed, plan.history.conversation_id)


def _store(store: Store, plan: Plan, start: int, end: int) -> Counted:
    history, cid = plan.history, plan.history.conversation_id
    made = store.conversation(cid) is None
    locked(store, cid)
    if made and (history.title is not None or history.metadata):
        describe(store, cid, history.title, dumps(history.metadata).encode())
    batch = plan.turns[start:end]
    new, completing = _missing(store, plan, batch)
    for draft in completing:
        ingest(store, Append(cid, Post(history.format, (draft,))))
    if new:
        # Where the same turns came before, the same rules find the same calls.
        there = end - len(new)
        as_before = new == [turned.draft for turned in plan.turns[there:end]]
        if as_before and _in_their_places(store, plan, there):
            new = [_matched_anew(draft) for draft in new]
        ingest(store, Append(cid, Post(history.format, tuple(new)), tools=plan.riding))
    _keep_tool_sets(store, locked(store, cid), plan, start, end)
    stored = len(new) + len(completing)
    return Counted(stored, max(len(batch) - stored, 0))


def _keep_tool_sets(
    store: Store, head: ConversationRecord, plan: Plan, start: int, end: int
) -> None:
    """Where the turns have the places they had in the export, tools come back by version.

    In a conversation that has other turns too, only the newest are kept, from now on.
    """
    is_last = end == len(plan.turns)
    if not plan.tool_sets:
        return
    if _in_their_places(store, plan, end):
        for version, order in plan.tool_sets:
            if start < version <= end or (version == 0 and start == 0):
                keep_tools(store, replace(head, version=version), order)
    elif is_last:
        keep_tools(store, head, plan.tool_sets[-1][1])


def _in_their_places(store: Store, plan: Plan, end: int) -> bool:
    """Whether the first turns of the history are the last ones stored, without others before."""
    cid = plan.history.conversation_id
    head = store.conversation(cid)
    if end == 0 or head is None:
        return head is None or head.version == 0
    last = store.turn(cid, plan.turns[end - 1].draft.turn_id or "")
    return last is not None and last.seq == end


def _matched_anew(draft: Draft) -> Draft:
    """A turn of an export whose results look for their calls by the rules that found them then."""
    if not any(isinstance(block, ToolResult) and block.call_id for block in draft.blocks):
        return draft
    value = loads(draft.payload, UNLIMITED)
    shown = value.get("blocks") if isinstance(value, dict) else None
    if not isinstance(shown, list) or len(shown) != len(draft.blocks):
        return draft
    blocks = (
        replace(block, call_id=None)
        if isinstance(block, ToolResult)
        and isinstance(said, dict)
        and said.get("matched_by") not in (None, "canonical")
        else block
        for block, said in zip(draft.blocks, shown, strict=True)
    )
    return replace(draft, blocks=tuple(blocks))


def _missing(store: Store, plan: Plan, batch: Sequence[Turned]) -> tuple[list[Draft], list[Draft]]:
    """The drafts that are not stored yet, and those that complete what is interrupted here."""
    cid, messages = plan.history.conversation_id, plan.history.messages
    ids = {turned.draft.turn_id or "" for turned in batch}
    ids |= {one.turn_id for turned in batch for one in messages[turned.first : turned.last]}
    stored = store.content_hashes(cid, ids) if ids else {}
    rest = [draft for turned in batch for draft in _rest(store, plan, turned, stored)]
    return (
        [draft for draft in rest if draft.turn_id not in stored],
        [draft for draft in rest if draft.turn_id in stored],
    )


def _rest(store: Store, plan: Plan, turned: Turned, stored: Mapping[str, bytes]) -> Iterator[Draft]:
    """What is not stored of a turn: all, nothing, or what its source has added since."""
    draft, name = turned.draft, turned.draft.turn_id or ""
    if name not in stored:
        yield draft
        return
    if stored[name] == content_hash(draft, plan.history.format) or _is_exported(store, plan, draft):
        return
    for cut in range(turned.last - 1, turned.first, -1):
        shorter = _part(plan, turned.first, cut)
        if stored[name] == content_hash(shorter.draft, plan.history.format):
            yield from _rest(store, plan, _part(plan, cut, turned.last), stored)
            return
    record = store.turn(plan.history.conversation_id, name)
    if record is None or record.status == "complete" or draft.status != "complete":
        raise TurnIdTaken(f"The turn {name} is stored with other content.", turn_ids=[name])
    yield draft


def _part(plan: Plan, first: int, last: int) -> Turned:
    [turned] = turned_of(plan.history, first, last, {}, plan.limits)
    return turned


def _is_exported(store: Store, plan: Plan, draft: Draft) -> bool:
    """Whether a turn of an export is the stored turn's export, however that one was posted."""
    cid = plan.history.conversation_id
    record = store.turn(cid, draft.turn_id or "") if plan.history.format == "neutral" else None
    if record is None:
        return False
    links = store.links(cid, after=record.seq - 1, until=record.seq)
    shown = exported_turn(read_turn(record), links)
    return dumps(shown) == dumps(loads(draft.payload, UNLIMITED))
