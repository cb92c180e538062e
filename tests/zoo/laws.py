"""The laws that hold for every history of the zoo, whatever it is about."""

import base64
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from app.jsontext.reading import loads_object
from app.jsontext.writing import dumps_utf8
from app.model.conversation import (
    Block,
    Draft,
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from app.model.json_values import Json, NumberText
from app.model.limits import Limits
from app.replay.unstored import Remembered, remember
from app.transfer.queries import exported_turn
from app.turns.posting import read_post
from tests.histories import History, Render
from tests.judges import calls_and_results, texts
from tests.zoo.spoken import Body

_LEFT_OUT = re.compile(r".+_(OMITTED|DROPPED|SUPERSEDED|ELIDED|QUARANTINED)")
_CHANGED_ARGUMENTS = re.compile(r"ARGS_.+|UNICODE_REPLACED")
_LONE = re.compile("[\ud800-\udfff]")


@cache
def drafts(posts: tuple[str, ...]) -> list[Draft]:
    """The turns that these bodies ask to store."""
    found: list[Draft] = []
    for body in posts:
        members, parts = loads_object(body, Limits())
        found.extend(read_post(members, parts, Limits()).drafts)
    return found


def history(posts: Iterable[Body], first: int | None = None, name: str = "c1") -> History:
    """The history after these bodies, or after the `first` so many turns of them."""
    written = tuple(one if isinstance(one, str) else json.dumps(one) for one in posts)
    return History(remember(drafts(written)[:first], name))


def exported(whole: History) -> str:
    """The turns of a history as an export has them, in a body that stores them again."""
    links = whole.remembered.links()
    turns: list[Json] = [exported_turn(turn, links) for turn in whole.remembered.turns]
    return dumps_utf8({"provider": "neutral", "turns": turns}).decode()


def without_turn(whole: History, place: int) -> History:
    """The same history with one turn that can no longer be read."""
    turns = list(whole.remembered.turns)
    turns[place] = replace(turns[place], blocks=None)
    return History(Remembered(turns, whole.remembered.ledger))


def unpaired(target: str, turns: Sequence[Turn], shown: Render) -> list[str]:
    """Each stored call is shown once, with one result, in order, and says what it said."""
    stored = [(turn, call) for turn in turns for call in turn.calls()]
    pairs = calls_and_results(target, shown.request)
    if len(stored) != len(pairs):
        return [f"{len(stored)} calls are stored, {len(pairs)} are shown"]
    reported: dict[str, set[str]] = {}
    for repair in shown.repairs:
        reported.setdefault(repair.call_id or "", set()).add(repair.code)
    faults = []
    for (_, call), (_, name, arguments, said) in zip(stored, pairs, strict=True):
        codes = reported.get(call.id, set())
        if said is None:
            faults.append(f"{call.name} has no result")
        if name != call.name and "NAME_SANITIZED" not in codes:
            faults.append(f"{call.name} is shown as {name} and nothing is reported")
        if not _says_the_same(call, arguments) and not any(map(_CHANGED_ARGUMENTS.match, codes)):
            faults.append(f"{call.name} is shown with {arguments} and nothing is reported")
    return faults


def _says_the_same(call: ToolCall, arguments: object) -> bool:
    try:
        return bool(json.loads(call.arguments) == arguments)
    except ValueError:
        return False


def _as_posted(target: str, turn: Turn, place: int) -> Block | None:
    """An opaque block as its issuer is shown it: nulls that it accepts come back too."""
    block = turn.blocks[place] if turn.blocks else None
    if not isinstance(block, Opaque) or turn.posted_as != target or not turn.original:
        return None
    posted = turn.original.blocks[place]
    return replace(block, native=posted.value) if posted and posted.value else None


def lost(target: str, turns: Sequence[Turn], shown: Render) -> list[str]:
    """What is stored but neither shown nor named, with turn and block, among the repairs."""
    named = _named(shown, _LEFT_OUT)
    # An orphan is shown by its words; that it held a picture is said among them.
    told = named | _named(shown, re.compile("ORPHAN_RESULT"))
    words, things = Counter[str](), Counter[str]()
    for turn in turns:
        for place, block in enumerate(turn.blocks or ()):
            if (turn.turn_id, place) not in named:
                words.update(_words(block))
            if (turn.turn_id, place) not in told:
                things.update(_things(_as_posted(target, turn, place) or block))
    said = texts(target, shown.request)
    raw = shown.raw.decode()
    return [
        *(
            f"{one!r} is lost"
            for one, times in words.items()
            if max(sum(t.count(form) for t in said) for form in _forms(one)) < times
        ),
        *(
            f"{one[:60]!r} is lost"
            for one, times in things.items()
            if max(map(raw.count, (one, _decoded(one)))) < times
        ),
    ]


def _decoded(data: str) -> str:
    """The text behind base64, as some wires show a file of text; itself where it is none."""
    try:
        return json.dumps(base64.b64decode(data, validate=True).decode(), ensure_ascii=False)
    except ValueError:
        return data


def _named(shown: Render, codes: re.Pattern[str]) -> set[tuple[str | None, int | None]]:
    """The blocks, as turn and place, that repairs with these codes name."""
    return {
        (repair.turn_id, repair.block) for repair in shown.repairs if codes.fullmatch(repair.code)
    }


def _forms(one: str) -> tuple[str, ...]:
    """A text as it is shown, and as it stands inside a JSON text, whole or mended."""
    mended = _LONE.sub("\N{REPLACEMENT CHARACTER}", one)
    return mended, json.dumps(mended, ensure_ascii=False)[1:-1], json.dumps(one)[1:-1]


def _words(block: Block) -> Iterator[str]:
    return (kept for said in _said(block) if (kept := said.rstrip()))


def _said(block: Block) -> Iterator[str]:
    match block:
        case Text(text=said) | Thinking(text=said):
            yield said
        case ToolResult():
            yield from _leaves(block.result)
            yield from () if not block.error or block.error == block.result else (block.error,)
            for part in block.parts or ():
                yield from _said(part)
        case _:
            pass


def _leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case None | NumberText():
            # Nothing is nothing, and numbers in a form of their own have a class to themselves.
            pass
        case list():
            for one in value:
                yield from _leaves(one)
        case dict():
            for one in value.values():
                yield from _leaves(one)
        case _:
            yield json.dumps(value)


def _things(block: Block) -> Iterator[str]:
    match block:
        case Image(url=url) | File(url=url):
            yield url.rpartition("base64,")[2]
        case Opaque(native=native):
            yield dumps_utf8(native).decode()
        case Thinking(text=said, native=native) if not said.strip():
            yield dumps_utf8(native).decode()
        case ToolResult(parts=parts):
            for part in parts or ():
                yield from _things(part)
        case _:
            pass
