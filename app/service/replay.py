"""The history of a conversation, rendered for one provider: always valid, always the same bytes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app import __version__
from app.codecs import CODECS
from app.core import telling
from app.core.conversation import Turn
from app.core.errors import RuleBroken, TurnNotFound
from app.core.identity.ids import CALLER_TURN_ID
from app.core.json.text import JsonObject, dumps, dumps_utf8
from app.core.ledger.records import ConversationRecord, ToolSetRecord
from app.core.render.notes import spoken
from app.core.render.repairs import Repair
from app.core.render.window import group_end
from app.core.wire.codec import Prefixed
from app.service.conversations import known
from app.service.providers import target_of
from app.service.rendering import Rendered, Wanted, demand_request, prefix, render
from app.service.tooldefs import stored_tools
from app.service.turnform import read_turn
from app.storage.store import ReadStore


@dataclass(frozen=True, slots=True)
class Replayed:
    """The answer as bytes and its strong tag; no bytes when the caller has them already."""

    etag: str
    answer: bytes | None


def replay(store: ReadStore, wanted: Wanted, known_tags: Sequence[str] = ()) -> Replayed:
    target_of(wanted.target)
    if wanted.tools == "flatten" and CODECS[wanted.target].profile.verbatim:
        raise RuleBroken(
            f"`tools` must be include or omit for {wanted.target}, which shows turns as they are"
            " stored; flatten is for providers.",
            pointer="?tools",
        )
    demand_request(wanted, "?ready")
    head = known(store, wanted.conversation_id)
    tools = store.tool_set(wanted.conversation_id, head.version)
    etag = _etag(head, wanted, tools)
    if etag in known_tags:
        return Replayed(etag, None)
    return Replayed(etag, dumps_utf8(_answer(store, head, wanted)))


def _etag(head: ConversationRecord, wanted: Wanted, tools: ToolSetRecord | None) -> str:
    """Renders depend on turns (the chain's head), tools, options and release, and no more."""
    defined = hashlib.sha256(tools.definitions).hexdigest() if tools else ""
    facts = dumps([head.id, head.head_hash.hex(), head.version, defined, repr(wanted), __version__])
    return f'"{hashlib.sha256(facts.encode()).hexdigest()[:32]}"'


def _answer(store: ReadStore, head: ConversationRecord, wanted: Wanted) -> JsonObject:
    cid = wanted.conversation_id
    until = head.version
    if wanted.until is not None:
        named = CALLER_TURN_ID.fullmatch(wanted.until)
        record = store.turn(cid, wanted.until) if named else None
        if record is None:
            raise TurnNotFound(cid, wanted.until)
        until = _group_end(store, cid, record.seq)
    if wanted.since is not None and wanted.since > until:
        raise RuleBroken(
            f"`since` must be a version from 0 to {until}, where the history ends,"
            f" not {telling.quoted(wanted.since)}.",
            pointer="?since",
        )
    turns = [read_turn(record) for record in store.turns(cid, until=until, payloads=False)]
    links = store.links(cid, until=until)
    assigned = _assigned(store, wanted)
    tools = stored_tools(store.tool_set(cid, until))
    whole = render(turns, links, assigned, wanted, tools)
    repairs = list(whole.repairs)
    if turns and wanted.until is not None and turns[-1].turn_id != wanted.until:
        why = f"the window reaches on to turn {until} to keep a tool group whole"
        repairs.append(Repair("WINDOW_ALIGNED", why))
    answer: JsonObject = {
        "conversation_id": cid,
        "version": until,
        "provider": wanted.target,
        "request": whole.request,
        "repairs": [repair.json() for repair in repairs],
        "pending": [call.json() for call in whole.pending],
        "prefix": prefix(whole.request, whole.messages, wanted.target),
    }
    if wanted.since is not None:
        earlier = _turns_then(store, cid, wanted.since, turns)
        tools_then = stored_tools(store.tool_set(cid, wanted.since))
        before = render(earlier, links, assigned, wanted, tools_then)
        _keep_only_new(answer, wanted, before, whole)
    return answer


def _turns_then(store: ReadStore, cid: str, since: int, turns: Sequence[Turn]) -> list[Turn]:
    """The turns as a caller saw them who was at that version. What was completed then or later was
    perhaps not seen whole; whoever did see it is told too much, never too little."""
    kept = [turn for turn in turns if turn.seq <= since]
    if all(turn.completed_at is None or turn.completed_at < since for turn in kept):
        return kept
    records = store.turns(cid, until=since, payloads=False, as_of=since)
    return [read_turn(record) for record in records]


def _group_end(store: ReadStore, cid: str, seq: int) -> int:
    """The turn with which the tool group of a turn ends."""
    reach = 16
    while True:
        first, last = max(0, seq - reach), seq + reach
        records = store.turns(cid, after=first, until=last, payloads=False)
        turns = [read_turn(record) for record in records]
        end = group_end(turns, store.links(cid, after=first, until=last), seq)
        # A group that nothing ends in what was looked at may be longer still.
        ends_inside = turns[-1].seq < last or any(turn.seq > end for turn in spoken(turns))
        begins_inside = any(turn.speaker == "ai" for turn in turns if turn.seq <= seq)
        if ends_inside and (begins_inside or not first):
            return end
        reach *= 8


def _assigned(store: ReadStore, wanted: Wanted) -> Mapping[str, str]:
    """What the mapping table says, for targets that name calls by a rule of their own."""
    if isinstance(CODECS[wanted.target].ids, Prefixed):
        return {}
    return store.shown_ids(wanted.conversation_id, wanted.target)


def _keep_only_new(answer: JsonObject, wanted: Wanted, before: Rendered, whole: Rendered) -> None:
    """Leaves only the new messages in the answer, if the earlier render is still a prefix of it."""
    old = prefix(before.request, before.messages, wanted.target)
    count = len(before.messages)
    same = old == prefix(whole.request, whole.messages[:count], wanted.target)
    answer["since"] = {"version": wanted.since, "prefix": old, "unchanged": same}
    if same:
        answer["request"] = {CODECS[wanted.target].messages: whole.messages[count:]}
