"""Turns from recordings without a service: from a stream in any pieces, from a response."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from app.jsontext.reading import loads_object
from app.model.conversation import Draft
from app.model.limits import Limits
from app.turns.posting import Post, read_post
from app.turns.streaming import Stream
from tests.every import Test, every
from tests.streams.recordings import Recording

LIMITS = Limits()


def of_each(recordings: Sequence[Recording]) -> Callable[[Test], Test]:
    """One test for all recordings of a provider."""
    return every("one", recordings, by=lambda one: one.provider, label=lambda one: one.label)


def from_stream(provider: str, pieces: Iterable[bytes], *, hung_up: bool = False) -> Draft:
    with closing(Stream({"provider": provider}, LIMITS)) as stream:
        for piece in pieces:
            stream.feed(piece)
        return stream.draft(hung_up=hung_up)


def from_response(provider: str, response: Any) -> Draft:
    text = json.dumps({"provider": provider, "response": response})
    members, texts = loads_object(text, LIMITS)
    return only(read_post(members, texts, LIMITS))


def only(post: Post) -> Draft:
    (draft,) = post.drafts
    return draft


def meaning(draft: Draft) -> Draft:
    """A draft without what tells in which form it was posted."""
    return replace(draft, payload="", stream=None, pointer="", notes=(), original=None)


def sized(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def from_turn(message: Any) -> Draft:
    text = json.dumps({"provider": "openai", "messages": [message]})
    members, texts = loads_object(text, LIMITS)
    return only(read_post(members, texts, LIMITS))
