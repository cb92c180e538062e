"""Loading: what all commands of a group ask for, a statement for each kind of question.

The number of statements depends on what is asked, never on how many commands ask, nor on how many
calls and results they bring. Only whole turns, which retries ask for, cost a statement for each
stretch of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    Table,
    bindparam,
    select,
    true,
)

from ..ledger.book import LedgerRows, Names, names_of
from ..ledger.load_request import Keys
from ..ledger.records import (
    PARTS,
    Call,
    ConversationRecord,
    KeyRecord,
    ProviderId,
    ResultRecord,
    ToolSetRecord,
    TurnRecord,
)
from ..ledger.seals import key_seal
from ..ledger.slice import History, Slice, TurnPlace
from ..model import ids
from . import sweeping
from .keyed import Key, Keyed, of_key
from .rows import CALL, CONVERSATION, NEW_KEY, PROVIDER_ID, RESULT, TOOL_SET, Columns, conversation
from .scope import AnySelect
from .store import ReadStore
from .tables import (
    conversations,
    idempotency_keys,
    provider_ids,
    tool_calls,
    tool_results,
    tool_sets,
    turn_revisions,
    turns,
)


def _heads(keys: CTE, _: str) -> AnySelect:
    # On PostgreSQL other writers wait for the rows; all lock them in the same order.
    return (
        select(*CONVERSATION)
        .select_from(keys.join(conversations, of_key(conversations, keys)))
        .order_by(conversations.c.conversation_id)
        .with_for_update(of=conversations)
    )


_HEADS = Keyed("cid", build=_heads)
_CID = tool_calls.c.conversation_id


def _joined(table: Table, columns: Columns, *matching: tuple[str, str]) -> Keyed:
    """Rows of a table by the columns that match those of the key; the conversation comes first."""
    names = ["cid", *(name for name, _ in matching)]

    def build(keys: CTE, _: str) -> AnySelect:
        on = of_key(table, keys, *(table.c[mine] == keys.c[name] for name, mine in matching))
        return select(table.c.conversation_id, *columns).select_from(keys.join(table, on))

    return Keyed(*names, build=build)


_KEYS = _joined(
    idempotency_keys,
    [idempotency_keys.c[name] for name in NEW_KEY[:-1]],
    ("sha256", "key_sha256"),
)
_PLACES = _joined(turns, [turns.c.turn_id, turns.c.seq, turns.c.content_hash], ("id", "turn_id"))
_CALLS = _joined(tool_calls, CALL, ("id", "call_id"))
_CALLS_OF_TURNS = _joined(tool_calls, CALL, ("seq", "seq"))
_RESULTS_OF_TURNS = _joined(tool_results, RESULT, ("seq", "seq"))
_RESULTS_OF_CALLS = _joined(tool_results, RESULT, ("id", "call_id"))
_PROVIDER_IDS_OF_CALLS = _joined(provider_ids, PROVIDER_ID, ("id", "call_id"))
_PROVIDER_IDS_NAMED = _joined(provider_ids, PROVIDER_ID, ("sha256", "provider_sha256"))


def _newest(table: Table, columns: Columns, by: str) -> Keyed:
    """The row of each conversation with the highest number."""

    def build(keys: CTE, _: str) -> AnySelect:
        other = table.alias()
        highest = (
            select(other.c[by])
            .where(of_key(other, keys))
            .order_by(other.c[by].desc())
            .limit(1)
            .scalar_subquery()
        )
        on = of_key(table, keys, table.c[by] == highest)
        return select(table.c.conversation_id, *columns).select_from(keys.join(table, on))

    return Keyed("cid", build=build)


_NEWEST_TOOLS = _newest(tool_sets, TOOL_SET, "number")
_NEWEST_REVISION = _newest(turn_revisions, [turn_revisions.c.number], "number")


_EVERY_TURN_ID = _joined(turns, [turns.c.turn_id])
_EVERY_CALL = _joined(tool_calls, CALL)
_EVERY_PROVIDER_ID = _joined(provider_ids, PROVIDER_ID)


def _ordinals(keys: CTE, _: str) -> AnySelect:
    # Not max(): PostgreSQL may count all of them for it.
    highest = (
        select(provider_ids.c.ordinal)
        .where(
            of_key(provider_ids, keys, provider_ids.c.target == keys.c.target),
            provider_ids.c.ordinal.is_not(None),
        )
        .order_by(provider_ids.c.ordinal.desc())
        .limit(1)
        .scalar_subquery()
    )
    return select(keys.c.cid, keys.c.target, highest)


_ORDINALS = Keyed("cid", "target", build=_ordinals)


def _found_first(column: str | None, key: str = "sha256") -> Keyed:
    """The newest calls with a name, `most` for each."""

    names = ("cid", "answered") if column is None else ("cid", key, "answered")

    def build(keys: CTE, dialect: str) -> AnySelect:
        made = tool_calls.alias("made")
        same = [made.c.answered == keys.c.answered, made.c.call_index >= 0]
        if column is not None:
            same.append(made.c[column] == keys.c[key])

        def newest(*columns: ColumnElement[Any]) -> AnySelect:
            return (
                select(*columns)
                .where(of_key(made, keys, *same))
                .order_by(made.c.seq.desc(), made.c.call_index.desc())
                .limit(bindparam("most"))
            )

        if dialect == "postgresql":
            found = newest(*(made.c[one.name] for one in (_CID, *CALL))).lateral("found")
            return select(*found.c).select_from(keys.join(found, true()))
        # SQLite knows no lateral joins.
        among = tool_calls.c.call_id.in_(newest(made.c.call_id).correlate(keys))
        joined = keys.join(tool_calls, of_key(tool_calls, keys, among))
        return select(_CID, *CALL).select_from(joined)

    return Keyed(*names, build=build, more=["most"])


_NAMED = {
    "any": _found_first(None),
    "raw": _found_first("raw_sha256"),
    "normalized": _found_first("normalized_sha256"),
    # No index has the tool: the open calls are looked through, newest first. Few are ever open.
    "name": _found_first("name", "name"),
}


def _waiting(column: str) -> Keyed:
    def build(keys: CTE, _: str) -> AnySelect:
        mine = tool_results.c[column]
        on = of_key(tool_results, keys, mine == keys.c.sha256, tool_results.c.call_id.is_(None))
        return (
            select(tool_results.c.conversation_id, *RESULT)
            .select_from(keys.join(tool_results, on))
            # Only those are in the index.
            .where(mine.is_not(None))
        )

    return Keyed("cid", "sha256", build=build)


_WAITING = {"raw": _waiting("raw_sha256"), "normalized": _waiting("normalized_sha256")}


def heads(
    connection: Connection, tenant_id: str, cids: Iterable[str]
) -> dict[str, ConversationRecord]:
    """The heads of these conversations, ours until the commit."""
    rows = _HEADS.rows(connection, tenant_id, [(cid,) for cid in cids])
    return {row[0]: conversation(row) for row in rows}


def names(connection: Connection, tenant_id: str, cid: str) -> Names:
    """All that occur in a conversation."""
    turn_ids, calls, given = (
        statement.rows(connection, tenant_id, [(cid,)])
        for statement in (_EVERY_TURN_ID, _EVERY_CALL, _EVERY_PROVIDER_ID)
    )
    of_calls = names_of((Call(*row) for _, *row in calls), (ProviderId(*row) for _, *row in given))
    return {*(turn_id for _, turn_id in turn_ids), *of_calls}


def load(
    connection: Connection, tenant_id: str, slices: dict[str, Slice], wanted: Mapping[str, Keys]
) -> None:
    """Fills the slices with what is wanted and not known yet."""
    new = {cid: keys - slices[cid].asked for cid, keys in wanted.items() if not slices[cid].whole}
    wanted = {cid: keys for cid, keys in new.items() if keys}
    if not wanted:
        return
    rows = _Rows(connection, tenant_id, wanted)
    keys, places = rows.keys(), rows.places()
    tool_sets, revisions = rows.tool_sets(), rows.revisions()
    ledgers = rows.ledgers()
    for cid, asked in wanted.items():
        known = slices[cid]
        known.book.load(ledgers[cid])
        slices[cid] = replace(
            known,
            asked=known.asked | asked,
            keys={**known.keys, **keys.get(cid, {})},
            places={**known.places, **places.get(cid, {})},
            turns={**rows.turns(cid), **known.turns},
            tool_sets=_by_number(*tool_sets.get(cid, ()), *known.tool_sets),
            revisions=revisions.get(cid, known.revisions),
            history=rows.history(cid) or known.history,
            parts=rows.parts(cid) if asked.parts else known.parts,
        )


def load_ledger(connection: Connection, tenant_id: str, slices: dict[str, Slice], cid: str) -> None:
    """The whole ledger and all turn ids, for a command whose questions find no end."""
    known, store = slices[cid], ReadStore(connection, tenant_id)
    records = store.ledger.calls(cid)
    calls = {record.call.id: record.call for record in records}
    every = [(cid, call_id) for call_id in calls]
    given = _PROVIDER_IDS_OF_CALLS.rows(connection, tenant_id, every)
    known.book.load(
        LedgerRows(
            Keys(),
            {name: replace(call, provider_ids={}) for name, call in calls.items()},
            {(row[0], row[1]): ProviderId(*row) for _, *row in given},
            set(store.ledger.results(cid)),
            whole=True,
        )
    )
    places = dict(store.turns.places(cid))
    slices[cid] = replace(known, places=places | dict(known.places), all_places=True)


class _Rows:
    """The rows that answer the questions about several conversations."""

    def __init__(self, connection: Connection, tenant_id: str, wanted: Mapping[str, Keys]) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._wanted = wanted
        self._store = ReadStore(connection, tenant_id)

    def _run(self, statement: Keyed, keys: Iterable[Key], *more: object) -> Iterator[Sequence[Any]]:
        return statement.rows(self._connection, self._tenant_id, set(keys), *more)

    def keys(self) -> Mapping[str, dict[str, KeyRecord]]:
        texts = {
            (cid, ids.fingerprint(key)): key
            for cid, keys in self._wanted.items()
            for key in keys.idempotency
        }
        found: dict[str, dict[str, KeyRecord]] = defaultdict(dict)
        for cid, *values, seal in self._run(_KEYS, texts):
            key_sha256, body_sha256, status, receipt = values
            if key_seal(self._tenant_id, cid, *values) != seal:
                raise ValueError("the row of an idempotency key is damaged")
            key = texts[cid, bytes(key_sha256)]
            found[cid][key] = KeyRecord(key, body_sha256, status, receipt)
        return found

    def places(self) -> Mapping[str, dict[str, TurnPlace]]:
        wanted = ((cid, one) for cid, keys in self._wanted.items() for one in keys.turn_ids)
        found: dict[str, dict[str, TurnPlace]] = defaultdict(dict)
        for cid, turn_id, *rest in self._run(_PLACES, wanted):
            found[cid][turn_id] = TurnPlace(*rest)
        return found

    def turns(self, cid: str) -> dict[int, TurnRecord]:
        """Whole turns are wanted where a turn came before, which is rare."""
        records = self._store.turns.at(cid, self._wanted[cid].seqs, payloads=True)
        return {record.seq: record for record in records}

    def tool_sets(self) -> Mapping[str, tuple[ToolSetRecord, ...]]:
        newest = ((cid,) for cid, keys in self._wanted.items() if keys.tools)
        found = {cid: (ToolSetRecord(*row),) for cid, *row in self._run(_NEWEST_TOOLS, newest)}
        every = {cid for cid, keys in self._wanted.items() if keys.all_tools}
        return found | {cid: tuple(self._store.tools.every(cid)) for cid in every}

    def revisions(self) -> Mapping[str, int]:
        wanted = ((cid,) for cid, keys in self._wanted.items() if keys.revisions)
        return {cid: number for cid, number in self._run(_NEWEST_REVISION, wanted)}  # noqa: C416

    def history(self, cid: str) -> History | None:
        if not self._wanted[cid].history:
            return None
        return self._store.history(cid)

    def parts(self, cid: str) -> tuple[int, ...]:
        counted = sweeping.count_parts(self._connection, self._tenant_id, cid)
        return tuple(counted[part] for part in PARTS)

    def ledgers(self) -> Mapping[str, LedgerRows]:
        found = {cid: LedgerRows(keys) for cid, keys in self._wanted.items()}
        self._turns(found)
        self._provider_ids(found)
        self._calls(found)
        self._named(found)
        self._waiting(found)
        for cid, target, highest in self._run(_ORDINALS, self._each("ordinals")):
            found[cid].highest[target] = -1 if highest is None else highest
        return found

    def _each(self, field: str) -> Iterator[Key]:
        """The keys of one kind."""
        for cid, keys in self._wanted.items():
            for one in getattr(keys, field):
                yield cid, one

    def _turns(self, found: Mapping[str, LedgerRows]) -> None:
        """All calls of some turns, with all their provider ids and results."""
        turns = list(self._each("ledgers_of"))
        for cid, *row in self._run(_CALLS_OF_TURNS, turns):
            found[cid].calls[row[0]] = Call(*row)
        made = [(cid, call) for cid, one in found.items() for call in one.calls]
        for statement, wanted in ((_RESULTS_OF_TURNS, turns), (_RESULTS_OF_CALLS, made)):
            for cid, *row in self._run(statement, wanted):
                found[cid].results.add(ResultRecord(*row))
        for cid, *row in self._run(_PROVIDER_IDS_OF_CALLS, made):
            found[cid].provider_ids[row[0], row[1]] = ProviderId(*row)

    def _provider_ids(self, found: Mapping[str, LedgerRows]) -> None:
        wanted = ((cid, ids.fingerprint(one)) for cid, one in self._each("provider_ids"))
        for cid, *row in self._run(_PROVIDER_IDS_NAMED, wanted):
            found[cid].provider_ids[row[0], row[1]] = ProviderId(*row)

    def _calls(self, found: Mapping[str, LedgerRows]) -> None:
        """Calls by canonical id, and those whose provider ids were found."""
        named = ((cid, one.call_id) for cid in found for one in found[cid].provider_ids.values())
        for cid, *row in self._run(_CALLS, {*self._each("call_ids"), *named}):
            found[cid].calls[row[0]] = Call(*row)

    def _named(self, found: Mapping[str, LedgerRows]) -> None:
        # One statement for those of which one is wanted, and one more for each power of two.
        asked: dict[tuple[str, int], dict[Key, tuple[str, tuple[str, ...]]]] = defaultdict(dict)
        for cid, keys in self._wanted.items():
            for queue, count in keys.named.items():
                state, kind, name = queue if len(queue) == 3 else (queue[0], "any", None)
                key = (cid, *_looked_up(kind, name), state == "answered")
                asked[kind, 1 << (count - 1).bit_length()][key] = (cid, queue)
        for (kind, most), questions in sorted(asked.items()):
            seqs: dict[Key, list[int]] = defaultdict(list)
            seen: set[tuple[Key, str]] = set()
            # One more than is wanted: where it is not there, there are no others.
            for cid, *row in self._run(_NAMED[kind], questions, most + 1):
                call = Call(*row)
                found[cid].calls[call.id] = call
                key = (cid, *_looked_up(kind, _name_of(call, kind)), call.answered)
                if (key, call.id) not in seen:
                    seen.add((key, call.id))
                    seqs[key].append(call.seq)
            for key, (cid, queue) in questions.items():
                # The last turn may have more of them than were loaded.
                full = len(seqs[key]) > most
                found[cid].floors[queue] = min(seqs[key]) + 1 if full else 0

    def _waiting(self, found: Mapping[str, LedgerRows]) -> None:
        asked: dict[str, set[Key]] = defaultdict(set)
        for cid, (kind, name) in self._each("waiting"):
            asked[kind].add((cid, ids.fingerprint(name)))
        for kind, keys in sorted(asked.items()):
            for cid, *row in self._run(_WAITING[kind], keys):
                found[cid].results.add(ResultRecord(*row))


def _by_number(*sets: ToolSetRecord) -> tuple[ToolSetRecord, ...]:
    """Each of the sets once, in order."""
    return tuple(sorted({one.number: one for one in sets}.values(), key=lambda one: one.number))


def _looked_up(kind: str, name: str | None) -> tuple[str | bytes, ...]:
    """The key under which a name of this kind is looked up."""
    if name is None:
        return ()
    return (name if kind == "name" else ids.fingerprint(name),)


def _name_of(call: Call, kind: str) -> str | None:
    """The name of a call of that kind."""
    match kind:
        case "any":
            return None
        case "name":
            return call.name
        case "raw":
            return call.raw_id or ""
    return ids.normalized(call.raw_id or "")
