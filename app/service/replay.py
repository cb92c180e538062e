"""The history of a conversation, rendered for one provider: always valid, always the same bytes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app import __version__
from app.codecs import CODECS
from app.core import telling
from app.core.errors import RuleBroken, TurnNotFound
from app.core.identity.ids import CALLER_TURN_ID
from app.core.json.text import JsonObject, dumps, dumps_utf8, joined_object
from app.core.ledger.records import ConversationRecord, ToolSetRecord
from app.core.render.notes import spoken
from app.core.render.options import ReplayOptions
from app.core.render.repairs import Repair
from app.core.render.segments import Render
from app.core.render.window import group_end
from app.service.conversations import known
from app.service.loading import Loaded, load
from app.service.providers import target_of
from app.service.rendering import Rendered, demand_request, render
from app.service.tooldefs import stored_tools
from app.service.turnform import read_turn
from app.storage.store import ReadStore


@dataclass(frozen=True, slots=True)
class Replayed:
    """The body as bytes and its strong tag; no bytes when the caller has them already."""

    etag: str
    body: bytes | None


def replay(
    store: ReadStore, cid: str, options: ReplayOptions, known_tags: Sequence[str] = ()
) -> Replayed:
    target_of(options.provider)
    if options.tools == "flatten" and CODECS[options.provider].profile.verbatim:
        raise RuleBroken(
            f"`tools` must be include or omit for {options.provider}, which shows turns as they are"
            " stored; flatten is for providers.",
            pointer="?tools",
        )
    demand_request(options, "?ready")
    head = known(store, cid)
    tools = store.tools.at(cid, head.version)
    etag = _etag(head, options, tools)
    if etag in known_tags:
        return Replayed(etag, None)
    return Replayed(etag, _body(store, head, options))


def _etag(head: ConversationRecord, options: ReplayOptions, tools: ToolSetRecord | None) -> str:
    """Renders depend on turns (the chain's head), tools, options and release, and no more."""
    defined = hashlib.sha256(tools.definitions).hexdigest() if tools else ""
    facts = dumps(
        [head.id, head.head_hash.hex(), head.version, defined, repr(options), __version__]
    )
    return f'"{hashlib.sha256(facts.encode()).hexdigest()[:32]}"'


def _body(store: ReadStore, head: ConversationRecord, options: ReplayOptions) -> bytes:
    """The body, joined from the bytes of the messages: they are encoded once."""
    cid, until = head.id, _end(store, head, options)
    loaded = load(store, cid, until, options)
    tools = stored_tools(store.tools.at(cid, until))
    whole = render(loaded.turns, loaded.links, loaded.assigned, options, tools)
    repairs = list(whole.repairs)
    if loaded.turns and options.until not in (None, loaded.turns[-1].turn_id):
        why = f"the window reaches on to turn {until} to keep a tool group whole"
        repairs.append(Repair("WINDOW_ALIGNED", why))
    before = None
    if options.since is not None:
        tools_then = stored_tools(store.tools.at(cid, options.since))
        kept = Render() if options.is_window else whole.render.as_of(options.since)
        then = _then(store, cid, options, loaded, kept.next)
        before = render(then.turns, then.links, then.assigned, options, tools_then, kept)
    said: JsonObject = {"conversation_id": cid, "version": until, "provider": options.provider}
    about: JsonObject = {
        "repairs": [repair.json() for repair in repairs],
        "pending": [call.json() for call in whole.pending],
    }
    return joined_object(
        {name: dumps_utf8(member) for name, member in said.items()}
        | {"request": b""}
        | {name: dumps_utf8(member) for name, member in about.items()}
        | _requested(whole, before, options.since)
    )


def _requested(whole: Rendered, before: Rendered | None, since: int | None) -> dict[str, bytes]:
    """The request and its hash; only the new messages, if the earlier render is a prefix of it."""
    if before is None:
        (prefix,) = whole.prefixes(len(whole.lines))
        return {"request": whole.request(), "prefix": dumps_utf8(prefix)}
    count = len(before.lines)
    is_same = whole.begins_with(before)
    if is_same:
        then, prefix = whole.prefixes(count, len(whole.lines))
    else:
        (then,), (prefix,) = before.prefixes(count), whole.prefixes(len(whole.lines))
    told: JsonObject = {"version": since, "prefix": then, "unchanged": is_same}
    return {
        "request": whole.request(count if is_same else None),
        "prefix": dumps_utf8(prefix),
        "since": dumps_utf8(told),
    }


def _end(store: ReadStore, head: ConversationRecord, options: ReplayOptions) -> int:
    """The turn that the history ends with."""
    until = head.version
    if options.until is not None:
        named = CALLER_TURN_ID.fullmatch(options.until)
        record = store.turns.one(head.id, options.until) if named else None
        if record is None:
            raise TurnNotFound(head.id, options.until)
        until = _group_end(store, head.id, record.seq)
    if options.since is not None and options.since > until:
        raise RuleBroken(
            f"`since` must be a version from 0 to {until}, where the history ends,"
            f" not {telling.quoted(options.since)}.",
            pointer="?since",
        )
    return until


def _then(store: ReadStore, cid: str, options: ReplayOptions, now: Loaded, first: int) -> Loaded:
    """What a caller saw who was at the version `since`; before turn `first` nothing changed.

    What was completed then or later was perhaps not seen whole; whoever did see it is told too
    much, never too little.
    """
    since = options.since or 0
    if options.is_window:
        return load(store, cid, since, options, as_of=since)
    kept = [turn for turn in now.turns if turn.seq <= since]
    if any(turn.completed_at is not None and turn.completed_at >= since for turn in kept):
        records = store.turns.page(cid, after=first - 1, until=since, payloads=False, as_of=since)
        kept = [*(turn for turn in kept if turn.seq < first), *map(read_turn, records)]
    return replace(now, turns=kept)


def _group_end(store: ReadStore, cid: str, seq: int) -> int:
    """The turn with which the tool group of a turn ends."""
    reach = 16
    while True:
        first, last = max(0, seq - reach), seq + reach
        records = store.turns.page(cid, after=first, until=last, payloads=False)
        turns = [read_turn(record) for record in records]
        end = group_end(turns, store.ledger.links(cid, after=first, until=last), seq)
        # A group that nothing ends in what was looked at may be longer still.
        ends_inside = turns[-1].seq < last or any(turn.seq > end for turn in spoken(turns))
        begins_inside = any(turn.speaker == "ai" for turn in turns if turn.seq <= seq)
        if ends_inside and (begins_inside or not first):
            return end
        reach *= 8
