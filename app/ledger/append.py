"""Appending to the ledger: what a turn that is stored, or completed, changes in its book.

One procedure for POST, import, convert and verify: calls get their canonical and provider ids,
results that waited for them are adopted, and the turn's own results find their calls.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from ..formats.shared.codec import Assigned, IdRules
from ..model import ids
from ..model.conversation import Block, Draft, ToolCall, ToolResult, Turn
from ..model.value import dataclass
from .book import Book, whole_book
from .load_request import Keys
from .records import Call, ProviderId, ResultRecord
from .rules import Match, match, result_names

NOTHING_KEPT: Mapping[int, ResultRecord] = {}
_STRONGEST_FIRST = (("canonical", "raw", "provider_id"), ("normalized", "name"))


@dataclass(frozen=True, slots=True)
class Entered:
    """What a turn brought. `adopted`: earlier results that its calls were waiting for."""

    calls: list[Call]
    results: list[ResultRecord]
    adopted: list[ResultRecord]


def place(draft: Draft, seq: int, turn_id: str, book: Book) -> Turn:
    """The turn that a draft becomes, every call under its canonical id."""
    blocks = with_canonical_ids(draft.blocks, draft.provider or "", turn_id, book)
    return draft.placed(seq, turn_id, blocks)


def enter(
    turn: Turn, book: Book, rules: IdRules, kept: Mapping[int, ResultRecord] = NOTHING_KEPT
) -> Entered:
    """Enters a turn whose calls have their canonical ids. `kept`: results, by their places, that
    have found their calls before."""
    calls, provider_ids = _named(turn, book, rules)
    book.add_calls(calls, provider_ids)
    late = _adopt(calls, book, rules.prefixes)
    return Entered(calls, _enter_results(turn, book, rules, kept), late)


def complete(before: Turn, after: Turn, book: Book, rules: IdRules) -> Entered:
    """Enters the next version of an interrupted turn. Calls of both versions keep their rows, and
    results of both versions keep their calls."""
    kept, gone = _in_both(book.take_out(before.seq), after)
    for lost in gone:
        if lost.call_id:
            book.reopen(lost.call_id)
    old = {call.id for call in before.calls()}
    new = {call.id: index for index, call in enumerate(after.calls())}
    aside = set(book.aside(before.seq))
    back = {call_id: index for call_id, index in new.items() if call_id in aside}
    if dropped := [call.id for call in before.calls() if call.id not in new]:
        book.supersede(before.seq, dropped)
    calls, provider_ids = _named(after, book, rules, old | aside)
    book.add_calls(calls, provider_ids)
    calls = [*calls, *book.bring_back(back)]
    late = _adopt(calls, book, rules.prefixes)
    return Entered(calls, _enter_results(after, book, rules, kept), late)


def _enter_results(
    turn: Turn, book: Book, rules: IdRules, kept: Mapping[int, ResultRecord]
) -> list[ResultRecord]:
    matched = _matched(turn, book, rules.prefixes, kept)
    results = sorted(matched, key=lambda result: result.place)
    book.add_results(results)
    return results


def _in_both(
    earlier: Iterable[ResultRecord], after: Turn
) -> tuple[dict[int, ResultRecord], list[ResultRecord]]:
    """Splits the results of an earlier version: those that the turn still holds, by their places
    there, and the others."""
    unmatched: dict[tuple[str | None, str | None], deque[ResultRecord]] = defaultdict(deque)
    for record in earlier:
        unmatched[record.raw_id, record.name].append(record)
    kept: dict[int, ResultRecord] = {}
    for at, result in after.results():
        if same := unmatched[result.raw_id, result.name]:
            kept[at] = same.popleft()
    return kept, [*chain.from_iterable(unmatched.values())]


def keys_of(
    drafts: Iterable[Draft], cid: str, version: int, rules: IdRules, *, waiting: bool
) -> Keys:
    """What entering the drafts behind this version will ask, as far as it can be foreseen.

    `waiting`: there are results that wait for a call.
    """
    turn_ids: set[str] = set()
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    nothing = Book()
    for seq, draft in enumerate(drafts, version + 1):
        name = draft.turn_id or ids.turn_id(cid, seq)
        turn_ids.add(name)
        turn = place(draft, seq, name, nothing)
        for index, call in enumerate(turn.calls()):
            calls.append(call)
            hashed = ids.canonical_id(turn.provider, call.raw_id, call.name, name, index)
            if call.id != hashed:
                # A canonical id that came with the call may be taken; then it gets the hashed one.
                calls.append(replace(call, id=hashed))
        results += (result for _, result in turn.results())
    foreseen = Keys(turn_ids=frozenset(turn_ids))
    if calls:
        foreseen |= _keys_of_calls(calls, rules, waiting=waiting)
    return foreseen | _keys_of_results(results, rules.prefixes) if results else foreseen


def names_waited_for(
    drafts: Iterable[Draft], turn_ids: Iterable[str], version: int, book: Book, rules: IdRules
) -> Keys:
    """Under which names results may wait for the calls of these drafts, behind this version.

    Ids that count on cannot be foreseen by `keys_of`; asked for turn by turn, each turn of a long
    post would cost another look at the database.
    """
    ahead = book.copy()
    names: set[tuple[str, str]] = set()
    for seq, (draft, turn_id) in enumerate(zip(drafts, turn_ids, strict=True), version + 1):
        calls, provider_ids = _named(place(draft, seq, turn_id, book), ahead, rules)
        ahead.add_calls(calls, provider_ids)
        names |= _waiting_names(calls, rules.prefixes)
    return Keys(waiting=frozenset(names))


def _keys_of_calls(calls: Sequence[ToolCall], rules: IdRules, *, waiting: bool) -> Keys:
    candidates = {
        provider_id
        for rule in rules.assigned.values()
        for call in calls
        # The next one is asked for where the first was taken, which only callers can bring about.
        for provider_id, ordinal in islice(rule.candidates(call, -1), 1)
        if ordinal is None
    }
    names: set[tuple[str, str]] = set()
    if waiting:
        for call in calls:
            plain = Call(call.id, call.raw_id, call.name, "", None, "", 0, 0)
            names |= _waiting_names([plain], rules.prefixes)
        names |= {("raw", one) for one in candidates}
    return Keys(
        call_ids=frozenset(call.id for call in calls),
        provider_ids=frozenset(candidates),
        waiting=frozenset(names),
        ordinals=frozenset(rules.assigned),
    )


def _keys_of_results(results: Sequence[ToolResult], prefixes: tuple[str, ...]) -> Keys:
    call_ids: set[str] = set()
    provider_ids: set[str] = set()
    named: Counter[tuple[str, ...]] = Counter()
    for result in results:
        raw_id = result.call_id or result.raw_id
        if not raw_id:
            # The other results may answer calls that would come first for this one.
            named[("open", "name", result.name) if result.name else ("open",)] = len(results)
            continue
        if ids.is_canonical(raw_id):
            call_ids.add(raw_id)
        if canonical := ids.from_prefixed(raw_id, prefixes):
            call_ids.add(canonical)
        for kind, name in result_names(raw_id):
            if kind == "provider_id":
                provider_ids.add(name)
            else:
                named["open", kind, name] += 1
                named["answered", kind, name] += 1
    return Keys(call_ids=frozenset(call_ids), provider_ids=frozenset(provider_ids), named=named)


def with_canonical_ids(
    blocks: Iterable[Block],
    provider: str,
    turn_id: str,
    book: Book,
    mine: Collection[str] = (),
) -> tuple[Block, ...]:
    """The blocks with an id on every call. A well-formed canonical id is kept if it is free.

    `mine`: ids of calls that the turn made in an earlier version.
    """
    identified: list[Block] = []
    given: set[str] = set()
    for block in blocks:
        if not isinstance(block, ToolCall):
            identified.append(block)
            continue
        call_id = _free_id(block, provider, turn_id, book, given, mine)
        given.add(call_id)
        identified.append(
            ToolCall(
                block.raw_id, block.name, block.arguments, call_id, block.signature, block.custom
            )
        )
    return tuple(identified)


def _free_id(
    call: ToolCall,
    provider: str,
    turn_id: str,
    book: Book,
    given: Collection[str],
    mine: Collection[str],
) -> str:
    """Its own, if that is a canonical id and free; else the hashed one. `given`: in this turn."""

    def is_free(canonical: str) -> bool:
        return canonical not in given and (canonical in mine or not book.has(canonical))

    kept = call.id or call.raw_id or ""
    if ids.is_canonical(kept) and is_free(kept):
        return kept
    key = turn_id
    while True:
        hashed = ids.canonical_id(provider, call.raw_id, call.name, key, len(given))
        if is_free(hashed):
            return hashed
        # Only a caller who posts forged canonical ids can have taken it before. No turn id may
        # hold a tilde, so a salted key never meets another turn's.
        key += "~"


def _matched(
    turn: Turn, book: Book, prefixes: tuple[str, ...], kept: Mapping[int, ResultRecord]
) -> Iterator[ResultRecord]:
    """The turn's results with their calls: first those that are `kept`, then those that name an
    open call by its id, then those that name its tool, then all others."""
    left = []
    for at, result in turn.results():
        was = kept.get(at)
        if was and was.call_id and (call := book.by_canonical(was.call_id)):
            yield _claimed(turn, at, result, Match(call, was.matched_by, was.repeat), book)
        else:
            left.append((at, result))
    for rules in _STRONGEST_FIRST:
        others = []
        for at, result in left:
            found = match(result, book, prefixes)
            if found.matched_by in rules and not found.repeat:
                yield _claimed(turn, at, result, found, book)
            else:
                others.append((at, result))
        left = others
    for at, result in left:
        yield _claimed(turn, at, result, match(result, book, prefixes), book)


def _claimed(turn: Turn, at: int, result: ToolResult, found: Match, book: Book) -> ResultRecord:
    if found.call and not found.call.answered:
        book.mark_answered(found.call.id)
    # One that waits is looked up again later, so it waits under the id that names its call.
    waits_for = None if found.call else result.call_id
    return ResultRecord(
        turn.seq,
        at,
        turn.turn_id,
        waits_for or result.raw_id,
        result.name,
        result.status,
        found.call.id if found.call else None,
        found.matched_by,
        found.repeat,
    )


def _named(
    turn: Turn, book: Book, rules: IdRules, known: Collection[str] = ()
) -> tuple[list[Call], list[ProviderId]]:
    """The turn's calls as the ledger keeps them, but for those it knows, with their other ids."""
    calls: list[Call] = []
    provider_ids: list[ProviderId] = []
    given: set[tuple[str, str]] = set()
    highest: dict[str, int] = {}
    for index, block in enumerate(turn.calls()):
        if block.id in known:
            continue
        mine: dict[str, str] = {}
        for target, rule in rules.assigned.items():
            last = highest[target] if target in highest else book.highest(target)
            provider_id, ordinal = _first_free(rule, target, block, last, book, given)
            highest[target] = last if ordinal is None else ordinal
            given.add((target, provider_id))
            mine[target] = provider_id
            provider_ids.append(ProviderId(target, provider_id, block.id, ordinal))
        call = Call(
            block.id,
            block.raw_id,
            block.name,
            turn.provider,
            turn.model,
            turn.turn_id,
            turn.seq,
            index,
            provider_ids=mine,
        )
        calls.append(call)
    return calls, provider_ids


def _first_free(
    rule: Assigned,
    target: str,
    call: ToolCall,
    highest: int,
    book: Book,
    given: Collection[tuple[str, str]],
) -> tuple[str, int | None]:
    for provider_id, ordinal in rule.candidates(call, highest):
        # An id that counts on is new by its number.
        if ordinal is not None or not (
            (target, provider_id) in given or book.taken(target, provider_id)
        ):
            return provider_id, ordinal
    raise AssertionError(f"{target} has no id left")


def _adopt(calls: Sequence[Call], book: Book, prefixes: tuple[str, ...]) -> list[ResultRecord]:
    """Early results find their calls among those that have just come."""
    adopted: list[ResultRecord] = []
    if not calls or not book.orphans:
        return adopted
    fresh = whole_book(calls)
    for waiting in book.waiting(_waiting_names(calls, prefixes)):
        found = match(ToolResult(waiting.raw_id, name=waiting.name), fresh, prefixes)
        if found.call is None:
            continue
        fresh.mark_answered(found.call.id)
        book.mark_answered(found.call.id)
        result = replace(
            waiting, call_id=found.call.id, matched_by=found.matched_by, repeat=found.repeat
        )
        book.adopt(result)
        adopted.append(result)
    return adopted


def _waiting_names(calls: Iterable[Call], prefixes: tuple[str, ...]) -> set[tuple[str, str]]:
    """Every name under which a result may wait for these calls."""
    names: set[tuple[str, str]] = set()
    for call in calls:
        prefixed = (ids.with_prefix(call.id, prefix) for prefix in prefixes)
        names |= {("raw", one) for one in (call.id, *call.provider_ids.values(), *prefixed)}
        if call.raw_id:
            names.add(("raw", call.raw_id))
            if core := ids.normalized(call.raw_id):
                names.add(("normalized", core))
    return names
