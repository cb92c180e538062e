"""Any member of any event may be missing or of another type: the bytes are kept, nothing breaks."""

import json
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from itertools import cycle
from typing import Any, TypeAlias

from app.formats.neutral.blocks import block_json
from app.jsontext.writing import dumps
from app.model.conversation import Draft
from app.model.errors import TurnkeepError
from tests.long import IS_LONG
from tests.streams.posts import from_response, from_stream, of_each
from tests.streams.recordings import CLEAN, RECORDINGS, Recording
from tests.streams.recordings.frames import sse

Path: TypeAlias = tuple[str | int, ...]
ODD: list[Any] = [None, 0, True, "", "odd", [], {}, [None], [{}], ["x"], {"x": 1}, -1, 2.5]
ALL_ODD = [KeyError, *ODD]


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    if at:
        yield at
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*at, key))


def changed(value: Any, path: Path, odd: Any) -> Any:
    """The value with something odd at one place; without that member, if it is `KeyError`."""
    holder = new = copy(value)
    for key in path[:-1]:
        holder[key] = copy(holder[key])
        holder = holder[key]
    if odd is KeyError:
        del holder[path[-1]]
    else:
        holder[path[-1]] = odd
    return new


def events(one: Recording) -> list[Any]:
    found = []
    for line in one.stream.decode().split("\n"):
        text = line.removeprefix("data: ")
        if text.startswith("{"):
            found.append(json.loads(text))
    return found


def written(draft: Draft) -> str:
    """What is stored of a draft."""
    return dumps([draft.all_metadata, *map(block_json, draft.blocks)])


@of_each(RECORDINGS)
def test_a_stream_with_something_odd_in_it_is_kept(one: Recording) -> None:
    sent = events(one)
    odd = cycle(ALL_ODD)
    for place, event in enumerate(sent):
        for path in paths(event):
            with_odd = [*sent[:place], changed(event, path, next(odd)), *sent[place + 1 :]]
            stream = sse(*with_odd, last="[DONE]")
            draft = from_stream(one.provider, [stream])
            assert draft.raw == stream
            written(draft)


@of_each(CLEAN)
def test_an_answer_with_something_odd_in_it_is_stored_or_refused(one: Recording) -> None:
    """A third of the odd values at each place, other ones at the next; all where there is time."""
    for at, path in enumerate(paths(one.finished)):
        for odd in ALL_ODD if IS_LONG else ALL_ODD[at % 3 :: 3]:
            with suppress(TurnkeepError):
                written(from_response(one.provider, changed(one.finished, path, odd)))
