"""The history of a conversation, rendered for one provider: always valid, always the same bytes."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

from .. import __version__
from ..conversations.commands import known
from ..database.store import ReadStore
from ..formats.registry import CODECS
from ..formats.shared.members import target_of
from ..jsontext.writing import dumps, dumps_utf8
from ..ledger.records import ConversationRecord, ToolSetRecord
from ..model import telling
from ..model.errors import RuleBroken, TurnNotFound
from ..model.forms import TURN_ID
from ..model.json_values import Json
from ..model.large import gathered
from ..model.repairs import Repair
from ..tools.commands import offered_by
from ..turns.turnform import read_turn
from .builder import Wire
from .history import load
from .kept import Kept, Key, Renders
from .options import ReplayOptions
from .rendering import Rendered, demand_request, needs_model, render, rendered
from .segments import Render
from .window import group_end, spoken


def replay(
    store: ReadStore, cid: str, options: ReplayOptions, renders: Renders | None = None
) -> list[bytes]:
    """The body in pieces. `renders`: what is kept of earlier ones."""
    return Replaying.of(store, cid, options).body(renders or Renders())


def _tools(store: ReadStore, head: ConversationRecord, version: int) -> ToolSetRecord | None:
    """The definitions in force at a version. Where there are none, their chain has no end."""
    return store.tools.at(head.id, version) if head.tools_hash else None


@dataclass(frozen=True, slots=True)
class Replaying:
    """One replay of a conversation, with the definitions that are in force.

    `assumes`: the caller names no model, and the options have the newest one instead.
    """

    store: ReadStore
    head: ConversationRecord
    options: ReplayOptions
    tools: ToolSetRecord | None
    assumes: bool = False

    @classmethod
    def of(cls, store: ReadStore, cid: str, options: ReplayOptions) -> Self:
        target_of(options.provider)
        if options.tools == "flatten" and CODECS[options.provider].profile.verbatim:
            raise RuleBroken(
                f"`tools` must be include or omit for {options.provider}, which shows turns as they"
                " are stored; flatten is for providers.",
                pointer="?tools",
            )
        demand_request(options, "?ready")
        head = known(store, cid)
        return cls(store, head, options, _tools(store, head, head.version))

    @property
    def etag(self) -> str:
        """Renders depend on turns (the chain's head), tools, options and release, and no more."""
        head, tools = self.head, self.tools
        defined = hashlib.sha256(tools.definitions).hexdigest() if tools else ""
        asked = self.options.tagged
        facts = dumps([head.id, head.head_hash.hex(), head.version, defined, asked, __version__])
        return f'"{hashlib.sha256(facts.encode()).hexdigest()[:32]}"'

    def body(self, renders: Renders) -> list[bytes]:
        """The body, joined from the bytes of the messages: they are encoded once."""
        until = self._end()
        if not needs_model(self.options):
            return self._body(until, renders)
        options = replace(self.options, model=self._newest_model(until, renders))
        return replace(self, options=options, assumes=True)._body(until, renders)

    def _newest_model(self, until: int, renders: Renders) -> str | None:
        """The model to assume. That of the current head is kept, because most replays need it."""
        head = self.head
        if until != head.version:
            return self._model_at(until)
        target = ReplayOptions(self.options.provider)
        key = Key(self.store.tenant_id, head.id, target, is_model=True)
        kept = renders.get(key)
        if kept is None or kept.head_hash != head.head_hash:
            model = self._model_at(until)
            kept = Kept(head.created_at, head.version, head.head_hash, model=model)
            renders.put(key, kept)
        return kept.model

    def _model_at(self, until: int, as_of: int | None = None) -> str | None:
        """The newest model of the target's own provider, up to a turn."""
        issuers = CODECS[self.options.provider].profile.issuers
        return self.store.turns.newest_model(self.head.id, issuers, until, as_of)

    def _body(self, until: int, renders: Renders) -> list[bytes]:
        head, options = self.head, self.options
        if options.is_window or options.until is not None:
            whole = self._window(until)
        else:
            # What people look at is not kept.
            whole = self._current(Renders() if options.tokens else renders)
        about = whole.told()
        request: Iterable[bytes] = whole.request()
        origins = whole.render.origins()
        if options.since is not None:
            before = self._before(options.since, whole)
            # Completing a turn makes no new version, so two histories have this one. Nobody can say
            # which of them the caller has, and behind one of them things would be said twice.
            has_two = self.store.turns.was_completed(head.id, options.since)
            new = None if has_two else whole.behind(before)
            about["since"] = dumps_utf8(
                {"version": options.since, "prefix": before.prefix(), "unchanged": new is not None}
            )
            if new is not None:
                request = [b"{", dumps_utf8(whole.list_name), b":[", new, b"]}"]
                origins = origins[before.render.count :]
        if options.tokens:
            about["tokens"] = dumps_utf8([one.tokens for one in origins])
            about["turns"] = dumps_utf8([list(one.turns) for one in origins])
        named: dict[str, Json] = {"conversation_id": head.id, "version": until}
        named["provider"] = options.provider
        if whole.model:
            named["model"] = whole.model
        front = dumps_utf8(named)[:-1]
        back = ((b",", dumps_utf8(name), b":", text) for name, text in about.items())
        return gathered([front, b',"request":', *request, *chain.from_iterable(back), b"}"])

    def _window(self, until: int) -> Rendered:
        """A part of the history, and what it took to let it end well."""
        loaded = load(self.store, self.head.id, until, self.options)
        offered = offered_by(_tools(self.store, self.head, until), self.options)
        whole = render(loaded, self.options, offered)
        if not loaded.turns or self.options.until in (None, loaded.turns[-1].turn_id):
            return whole
        why = f"the window reaches on to turn {until} to keep a tool group whole"
        return replace(whole, last_repairs=(*whole.last_repairs, Repair("WINDOW_ALIGNED", why)))

    def _current(self, renders: Renders) -> Rendered:
        """The whole history: what is kept of it, and behind that what is new."""
        store, head, options = self.store, self.head, replace(self.options, since=None)
        offered = offered_by(self.tools, options)
        key = Key(store.tenant_id, head.id, options, has_tools=offered.has_tools)
        kept = renders.get(key)
        if kept is not None and kept.head_hash == head.head_hash:
            wire = Wire(CODECS[options.provider], options, {}, offered.has_tools)
            return rendered(kept.render, wire, offered, kept.hashes)
        still = Render()
        # A turn may have been completed behind the version, in what others read and kept.
        if kept is not None and kept.version < head.version:
            still = kept.render.before(self._first_changed(kept.version))
        loaded = load(store, head.id, head.version, options, first=max(still.next, 1))
        if kept and still.segments and loaded.hashes.get(kept.version) != kept.turn_hash:
            # Another conversation has its id now.
            still = Render()
            loaded = load(store, head.id, head.version, options)
        hashes = kept.hashes if kept else None
        done = render(loaded, options, offered, still, hashes)
        last = loaded.hashes.get(head.version, b"")
        made = head.created_at
        renders.put(key, Kept(made, head.version, head.head_hash, last, done.render, done.hashes))
        return done

    def _first_changed(self, version: int) -> int:
        """The first turn that reads in another way than at a version."""
        store, cid = self.store, self.head.id
        first, completed = store.ledger.first_changed(cid, version)
        versions = map(read_turn, store.turns.versions(cid, completed) if completed else ())
        # Which calls the results of an earlier version answered is not stored.
        return 1 if any(any(turn.results()) for turn in versions) else first

    def _before(self, since: int, whole: Rendered) -> Rendered:
        """What a caller saw who was at the version `since`.

        What was completed then or later was perhaps not seen whole.
        """
        store, cid, options = self.store, self.head.id, self.options
        if self.assumes:
            options = replace(options, model=self._model_at(since, as_of=since))
        is_same = not options.is_window and options.model == whole.model
        kept = whole.render.as_of(since) if is_same else Render()
        then = load(store, cid, since, options, first=max(kept.next, 1), as_of=since)
        offered = offered_by(_tools(store, self.head, since), options)
        return render(then, options, offered, kept, whole.hashes)

    def _end(self) -> int:
        """The turn that the history ends with."""
        cid, options, until = self.head.id, self.options, self.head.version
        if options.until is not None:
            fits = TURN_ID.fits(options.until)
            record = self.store.turns.one(cid, options.until) if fits else None
            if record is None:
                raise TurnNotFound(cid, options.until)
            until = self._group_end(record.seq)
        if options.since is not None and options.since > until:
            raise RuleBroken(
                f"`since` must be a version from 0 to {until}, where the history ends,"
                f" not {telling.quoted(options.since)}.",
                pointer="?since",
            )
        return until

    def _group_end(self, seq: int) -> int:
        """The turn with which the tool group of a turn ends."""
        store, cid, reach = self.store, self.head.id, 16
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
