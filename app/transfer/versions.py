"""What an export says of the order in which things came: earlier versions of turns, and matches.

A turn that was completed stood there before as another version, and calls and results came in
between. Only in the same order do the same rules give the same ids and find the same calls.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from ..formats.registry import ID_RULES
from ..jsontext.fields import objects
from ..jsontext.reading import loads
from ..jsontext.writing import dumps
from ..ledger.append import complete, enter, place
from ..ledger.book import Book, whole_book
from ..ledger.rules import match
from ..model.conversation import Draft, ToolResult, Turn
from ..model.errors import RuleBroken, TurnIdTaken
from ..model.json_values import Json, JsonObject
from ..model.limits import UNLIMITED, Limits
from ..turns.commands import later_version
from ..turns.posting import read_post

_UNTIL = ("until_version", "until_revision")


@dataclass(frozen=True, slots=True)
class Completion:
    """A version of the turn at `seq` that took the place of an earlier one.

    It came when the conversation had the version `at`, as the revision `number`.
    """

    at: int
    number: int
    seq: int
    draft: Draft


@dataclass(frozen=True, slots=True)
class Told:
    """The turns of a history as they came: those that stood there first, and what completed them.

    `by_rules`: results find the calls that the history names by the rules that found them then.
    """

    posted: tuple[Draft, ...]
    completions: tuple[Completion, ...] = ()
    by_rules: bool = True
    versions: Mapping[str, tuple[Draft, ...]] = field(default_factory=dict)

    def versions_of(self, draft: Draft) -> tuple[Draft, ...]:
        """All versions of a turn that was completed, oldest first; none of another."""
        return self.versions.get(draft.turn_id or "", ())


def as_told(told: Told, start: int, end: int) -> Iterator[Sequence[Draft]]:
    """The turns behind `start` up to `end`, and what completed others meanwhile, in their order."""
    read = found_anew if told.by_rules else (lambda draft: draft)
    turns = list(islice(map(read, told.posted), start, end))
    done = start
    for one in told.completions:
        if start < one.at <= end:
            if one.at > done:
                yield turns[done - start : one.at - start]
            done = one.at
            yield [read(one.draft)]
    if done < end:
        yield turns[done - start :]


def told_by(
    drafts: Sequence[Draft], values: Sequence[JsonObject], around: JsonObject, limits: Limits
) -> Told:
    """The turns of an export, from their newest versions and what else is said of each."""
    posted = list(drafts)
    completions: list[Completion] = []
    every: dict[str, tuple[Draft, ...]] = {}
    for seq, (draft, value) in enumerate(zip(drafts, values, strict=True), 1):
        earlier = _earlier(value.get("earlier"), seq, len(drafts))
        if not earlier:
            continue
        versions = (*(_draft(one, draft, around, limits) for one, _ in earlier), draft)
        every[draft.turn_id or ""] = versions
        posted[seq - 1] = versions[0]
        for (_, until), later in zip(earlier, versions[1:], strict=True):
            completions.append(Completion(*until, seq, later))
    ordered = tuple(sorted(completions, key=lambda one: (one.at, one.number)))
    return Told(tuple(posted), ordered, _by_rules(posted, ordered), every)


def _earlier(given: Json, seq: int, turns: int) -> list[tuple[JsonObject, tuple[int, int]]]:
    """Earlier versions, each with the version and the number of the one that came next."""
    found: list[tuple[JsonObject, tuple[int, int]]] = []
    for one in (one for one in objects(given) if _UNTIL[0] in one):
        at, number = (one[key] if type(one.get(key)) is int else -1 for key in _UNTIL)
        assert isinstance(at, int)
        assert isinstance(number, int)
        if not (seq <= at <= turns and number > 0):
            raise RuleBroken(
                f"An earlier version of turn {seq} must have an `until_version` from {seq} to"
                f" {turns}, the number of turns, and an `until_revision`."
            )
        found.append((one, (at, number)))
    return found


def _draft(value: JsonObject, newest: Draft, around: JsonObject, limits: Limits) -> Draft:
    """An earlier version of a turn."""
    said: JsonObject = {key: one for key, one in value.items() if key not in _UNTIL}
    members: JsonObject = {**around, "turns": [said]}
    [draft] = read_post(members, {"turns": [dumps(said)]}, limits).drafts
    return replace(draft, turn_id=newest.turn_id)


def found_anew(draft: Draft) -> Draft:
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


def _by_rules(posted: Sequence[Draft], completions: Sequence[Completion]) -> bool:
    """Whether the rules find the calls that the export names.

    They need not where the order of old is not known: earlier releases did not export it, and what
    cannot be read is left out. Then results go to the calls that are named, if these may be theirs.
    """
    named: dict[tuple[int, int], tuple[str, ToolResult]] = {}
    newest = dict(enumerate(posted, 1)) | {one.seq: one.draft for one in completions}
    for seq, draft in newest.items():
        anew = found_anew(draft)
        for at, (told, block) in enumerate(zip(draft.blocks, anew.blocks, strict=True)):
            if told is not block and isinstance(told, ToolResult) and isinstance(block, ToolResult):
                named[seq, at] = (told.call_id or "", block)
    if not named:
        return True
    book = _entered(posted, completions)
    holds = True
    for where, (call_id, result) in named.items():
        call = book.by_canonical(call_id)
        if call is None or book.results[where].call_id == call.id:
            continue
        holds = False
        alone = whole_book([replace(call, answered=False)])
        if match(result, alone, ID_RULES.prefixes).call is None:
            raise RuleBroken(f"A result in turn {where[0]} names a call that it cannot belong to.")
    return holds


def _entered(posted: Sequence[Draft], completions: Sequence[Completion]) -> Book:
    """The ledger that the turns give, each in its time."""
    book = Book()
    newest: dict[int, Turn] = {}
    later = iter(completions)
    following = next(later, None)
    for seq, draft in enumerate(posted, 1):
        newest[seq] = place(found_anew(draft), seq, draft.turn_id or "", book)
        enter(newest[seq], book, ID_RULES)
        while following is not None and following.at == seq:
            before = newest[following.seq]
            try:
                after = later_version(found_anew(following.draft), before, book)
            except TurnIdTaken as error:
                raise RuleBroken(error.detail) from None
            complete(before, after, book, ID_RULES)
            newest[following.seq] = after
            following = next(later, None)
    return book
