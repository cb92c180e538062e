"""What is posted is read, kept as it is, named in a note, or refused. Nothing else.

The law: take a valid message and rename or add one member anywhere. Then the post is refused, or
the stored blocks are the same, or a note names the member, or it stands in a block as it was
posted (arguments, results and what only its provider reads are kept verbatim).
"""

import copy
import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from app.formats.neutral.blocks import block_json
from app.formats.registry import CODECS, TARGETS
from app.jsontext.reading import loads, loads_object, value_of
from app.jsontext.writing import dumps
from app.model.conversation import Draft
from app.model.errors import TurnkeepError
from app.model.limits import Limits
from app.turns.posting import read_post
from app.turns.turnform import made_ready
from tests.formats import folder

NEW = "renamed_zq7"


def corpus(target: str) -> list[dict[str, Any]]:
    """The valid posts of a codec: its golden cases."""
    paths = sorted(folder(target).glob("cases/*/wire.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def drafts(body: dict[str, Any]) -> tuple[Draft, ...]:
    return read_post(*loads_object(json.dumps(body), Limits()), Limits()).drafts


def objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all objects at any depth."""
    if isinstance(value, dict):
        yield path
        for key, one in value.items():
            yield from objects(one, (*path, key))
    if isinstance(value, list):
        for place, one in enumerate(value):
            yield from objects(one, (*path, place))


def at(body: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        body = body[step]
    return body


def mutations(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every message with one member renamed, or with one more."""
    for key in (*CODECS[body.get("format", body["provider"])].keys, "messages"):
        if not isinstance(body.get(key), list | dict):
            continue
        for path in objects(body[key], (key,)):
            for name in at(body, path):
                changed = copy.deepcopy(body)
                holder = at(changed, path)
                renamed = {NEW if one == name else one: held for one, held in holder.items()}
                holder.clear()
                holder.update(renamed)
                yield f"{path} {name} renamed", changed
            changed = copy.deepcopy(body)
            at(changed, path)[NEW] = "words of somebody"
            yield f"{path} one more", changed


def blocks(read: tuple[Draft, ...]) -> list[tuple[str, Any]]:
    return [
        (one.speaker, [(type(block), block_json(block)) for block in one.blocks]) for one in read
    ]


def is_named(read: tuple[Draft, ...]) -> bool:
    return any(
        note.code == "MEMBERS_NOT_READ" and NEW in note.detail for one in read for note in one.notes
    )


def is_kept(read: tuple[Draft, ...], before: tuple[Draft, ...]) -> bool:
    """Whether blocks of the same kinds hold the member verbatim."""
    kinds = [[type(block) for block in one.blocks] for one in read]
    said = dumps([block_json(block) for one in read for block in one.blocks])
    return kinds == [[type(block) for block in one.blocks] for one in before] and NEW in said


def vanished(body: dict[str, Any]) -> Iterator[str]:
    before = drafts(body)
    for what, changed in mutations(body):
        try:
            read = drafts(changed)
        except TurnkeepError:
            continue
        if blocks(read) != blocks(before) and not is_named(read) and not is_kept(read, before):
            yield what


@pytest.mark.parametrize("target", TARGETS)
def test_no_member_of_a_message_vanishes_without_a_word(target: str) -> None:
    found = [what for body in corpus(target) for what in vanished(body)]
    assert found == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_member_that_nobody_knows_is_named(target: str) -> None:
    """Beside content that is read, at the top of each message."""
    for body in corpus(target):
        key = next(key for key in (CODECS[target].messages, "messages") if key in body)
        for place in range(len(body[key]) if isinstance(body[key], list) else 0):
            changed = copy.deepcopy(body)
            changed[key][place][NEW] = "words of somebody"
            try:
                read = drafts(changed)
            except TurnkeepError:
                continue
            kept = NEW in dumps([block_json(block) for one in read for block in one.blocks])
            assert is_named(read) or kept


# Members of real messages that no block has room for.
NOTED = {"openai": {"name"}, "openrouter": {"name"}, "gemini": {"video_metadata"}}


@pytest.mark.parametrize("target", TARGETS)
def test_valid_messages_need_no_note_of_members(target: str) -> None:
    noted = {
        note.detail.partition(":")[0].rpartition("/")[2]
        for body in corpus(target)
        for one in drafts(body)
        for note in one.notes
        if note.code == "MEMBERS_NOT_READ"
    }
    assert noted == NOTED.get(target, set())


@pytest.mark.parametrize("target", TARGETS)
def test_reading_a_post_changes_nothing_of_what_was_read(target: str) -> None:
    """The content hash is made of the same values, after the codec has seen them."""
    for body in corpus(target):
        members, texts = loads_object(json.dumps(body), Limits())
        made_ready(read_post(members, texts, Limits()).drafts)
        for text in chain.from_iterable(texts.values()):
            assert dumps(value_of(text)) == dumps(loads(text))
