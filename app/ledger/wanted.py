"""What conversations are found by, as values: the words between service and storage.

A facet is something a conversation has or has not: a provider that spoke in it, a tool that was
called in it, a member of its metadata.
"""

from collections.abc import Collection
from datetime import datetime
from itertools import islice
from typing import Literal, TypeAlias

from ..jsontext.writing import dumps
from ..model import ids
from ..model.conversation import Turn
from ..model.json_values import JsonObject
from ..model.value import dataclass


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word that must occur; with `prefix` one that some word must begin with."""

    text: str
    prefix: bool = False


FacetKind: TypeAlias = Literal["metadata", "tool", "provider"]
Order: TypeAlias = Literal["id", "updated"]
# With a call that has no result, or with a turn whose stream broke and that was not completed.
State: TypeAlias = Literal["open", "interrupted"]
# Members of the metadata that conversations are found by: each costs a row.
MOST_MEMBERS = 1_000
# Words are kept in parts: those of a turn at its seq, those of the title, the id and the metadata
# at these.
TITLE_PART = 0
ID_PART = -1
METADATA_PART = -2
# All words of a question must occur; one of several questions is enough.
Questions: TypeAlias = tuple[tuple[AskedWord, ...], ...]


@dataclass(frozen=True, slots=True)
class Facet:
    """`name` is the tool, the provider, or the member of the metadata, which also has a value."""

    kind: FacetKind
    name: str
    value: str = ""

    @property
    def fingerprint(self) -> bytes:
        """Names and values may be of any length, so they are kept as their hash."""
        return ids.fingerprint(dumps([self.name, self.value]))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: the last conversation, and when it was changed."""

    conversation_id: str
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which conversations, in which order. Everything that is given must hold."""

    order: Order = "id"
    after: Place | None = None
    facets: tuple[Facet, ...] = ()
    text: Questions | None = None
    title: Questions | None = None
    # How the ids of all conversations begin.
    prefix: str = ""
    state: State | None = None


def metadata_facets(metadata: JsonObject) -> list[Facet]:
    """The first members whose values are texts, numbers, true or false, by their text."""
    return [
        Facet("metadata", name, value if isinstance(value, str) else dumps(value))
        for name, value in islice(metadata.items(), MOST_MEMBERS)
        if isinstance(value, str | int | float)
    ]


def turn_facets(turns: Collection[Turn]) -> frozenset[Facet]:
    """Providers and tools. They stay known: a call that a later version of its turn does not make
    was made."""
    providers = {turn.provider for turn in turns}
    tools = {call.name for turn in turns for call in turn.calls()}
    return frozenset(
        [*(Facet("provider", one) for one in providers), *(Facet("tool", one) for one in tools)]
    )
