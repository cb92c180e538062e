"""The history of a conversation, rendered for one provider: always valid, always the same bytes."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app import __version__
from app.codecs import CODECS
from app.core import telling
from app.core.errors import RuleBroken, TurnNotFound
from app.core.identity.ids import CALLER_TURN_ID
from app.core.json.large import gathered
from app.core.json.text import JsonObject, dumps, dumps_utf8, joined_object
from app.core.ledger.records import ConversationRecord, ToolSetRecord
from app.core.render.options import ReplayOptions
from app.core.render.repairs import Repair
from app.core.render.segments import Render
from app.core.render.window import group_end, spoken
from app.service.conversations import known
from app.service.kept import Kept, Key, Renders
from app.service.loading import load
from app.service.members import target_of
from app.service.rendering import Rendered, demand_request, render, rendered
from app.service.tooldefs import offered_by
from app.service.turnform import read_turn
from app.storage.store import ReadStore


@dataclass(frozen=True, slots=True)
class Replayed:
    """The body in pieces and its strong tag; none when the caller has them already."""

    etag: str
    body: list[bytes] | None


def replay(
    store: ReadStore,
    cid: str,
    options: ReplayOptions,
    known_tags: Sequence[str] = (),
    renders: Renders | None = None,
) -> Replayed:
    """`renders`: what is kept of earlier ones."""
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
    return Replayed(etag, _body(store, head, options, tools, renders or Renders()))


def _etag(head: ConversationRecord, options: ReplayOptions, tools: ToolSetRecord | None) -> str:
    """Renders depend on turns (the chain's head), tools, options and release, and no more."""
    defined = hashlib.sha256(tools.definitions).hexdigest() if tools else ""
    facts = dumps(
        [head.id, head.head_hash.hex(), head.version, defined, repr(options), __version__]
    )
    return f'"{hashlib.sha256(facts.encode()).hexdigest()[:32]}"'


def _body(
    store: ReadStore,
    head: ConversationRecord,
    options: ReplayOptions,
    tools: ToolSetRecord | None,
    renders: Renders,
) -> list[bytes]:
    """The body, joined from the bytes of the messages: they are encoded once."""
    until = _end(store, head, options)
    if options.is_window or options.until is not None:
        whole, aligned = _window(store, head.id, options, until)
    else:
        whole, aligned = _current(store, head, options, tools, renders), []
    about = whole.told(aligned)
    request: Iterable[bytes] = whole.request()
    if options.since is not None:
        before = _before(store, head.id, options, whole)
        new = whole.behind(before)
        since: JsonObject = {
            "version": options.since,
            "prefix": before.prefix(),
            "unchanged": new is not None,
        }
        about["since"] = dumps_utf8(since)
        if new is not None:
            request = [b"{", dumps_utf8(whole.list_name), b":[", new, b"]}"]
    said: JsonObject = {"conversation_id": head.id, "version": until, "provider": options.provider}
    front, back = dumps_utf8(said)[:-1], joined_object(about)[1:]
    return gathered([front, b',"request":', *request, b",", back])


def _window(
    store: ReadStore, cid: str, options: ReplayOptions, until: int
) -> tuple[Rendered, list[Repair]]:
    """A part of the history, and what it took to let it end well."""
    loaded = load(store, cid, until, options)
    offered = offered_by(store.tools.at(cid, until), options)
    whole = render(loaded.turns, loaded.links, loaded.assigned, options, offered)
    if not loaded.turns or options.until in (None, loaded.turns[-1].turn_id):
        return whole, []
    why = f"the window reaches on to turn {until} to keep a tool group whole"
    return whole, [Repair("WINDOW_ALIGNED", why)]


def _current(
    store: ReadStore,
    head: ConversationRecord,
    options: ReplayOptions,
    tools: ToolSetRecord | None,
    renders: Renders,
) -> Rendered:
    """The whole history: what is kept of it, and behind that what is new."""
    options = replace(options, since=None)
    offered = offered_by(tools, options)
    key = Key(head.id, options, has_tools=offered is not None and offered.has_tools)
    kept = renders.get(key)
    if kept is not None and kept.head_hash == head.head_hash:
        return rendered(kept.render, options, offered, kept.hashes)
    still = _still_true(store, head, kept)
    loaded = load(store, head.id, head.version, options, first=max(still.next, 1))
    if kept and still.segments and loaded.hashes.get(kept.version) != kept.turn_hash:
        # Another conversation has its id now.
        still = Render()
        loaded = load(store, head.id, head.version, options)
    hashes = kept.hashes if kept else None
    done = render(loaded.turns, loaded.links, loaded.assigned, options, offered, still, hashes)
    last = loaded.hashes.get(head.version, b"")
    renders.put(key, Kept(head.version, head.head_hash, last, done.render, done.hashes))
    return done


def _still_true(store: ReadStore, head: ConversationRecord, kept: Kept | None) -> Render:
    # A turn may have been completed behind the version, in what others read and kept.
    if kept is None or kept.version >= head.version:
        return Render()
    return kept.render.before(store.ledger.first_changed(head.id, kept.version))


def _before(store: ReadStore, cid: str, options: ReplayOptions, whole: Rendered) -> Rendered:
    """What a caller saw who was at the version `since`.

    What was completed then or later was perhaps not seen whole; whoever did see it is told too
    much, never too little.
    """
    since = options.since or 0
    kept = Render() if options.is_window else whole.render.as_of(since)
    then = load(store, cid, since, options, first=max(kept.next, 1), as_of=since)
    offered = offered_by(store.tools.at(cid, since), options)
    return render(then.turns, then.links, then.assigned, options, offered, kept, whole.hashes)


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
