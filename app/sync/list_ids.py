"""Naming: which stored calls the ids of a list's calls stand for.

Runtimes rename ids and hosts repeat them, so a list is recognised by what it says. Where the same
is said in several places, its ids tell them apart.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..model.conversation import ToolCall, Turn


@dataclass(frozen=True)
class Naming:
    """The calls of both histories. `shown`: the stored ones by the ids that a replay gives them."""

    stored: Mapping[str, tuple[Turn, ToolCall]]
    told: Mapping[str, ToolCall]
    shown: Mapping[str, str]

    @cached_property
    def names_any(self) -> bool:
        return any(map(self._bearers, self.told))

    def agrees(self, pairs: Mapping[str, str]) -> bool | None:
        """Whether told calls have the ids of the stored ones they are held against; None where
        their ids are nobody's."""
        named = [stored in one for told, stored in pairs.items() if (one := self._bearers(told))]
        return all(named) if named else None

    def is_possible(self, told: str, stored: str) -> bool:
        """Whether a told call may be this one, though renamed: not if its id is from a replay,
        which showed another call under it."""
        if told in self.stored:
            return told == stored
        raw_id = self.told[told].raw_id or ""
        return raw_id in self._came_with or self.shown.get(raw_id, stored) == stored

    def is_likely(self, told: str, stored: str) -> bool:
        """Whether a told call may be this one for all that its id says: not under another's."""
        bearers = self._bearers(told)
        return not bearers or stored in bearers

    def _bearers(self, told: str) -> Collection[str]:
        """The stored calls that have the id of a told one; raw ids repeat."""
        if told in self.stored:
            return {told}
        raw_id = self.told[told].raw_id or ""
        shown = self.shown.get(raw_id)
        return {*self._came_with.get(raw_id, ()), *([shown] if shown else ())}

    @cached_property
    def _came_with(self) -> Mapping[str, Collection[str]]:
        """The stored calls by their raw ids."""
        found: dict[str, list[str]] = defaultdict(list)
        for call_id, (_, call) in self.stored.items():
            found[call.raw_id or call_id].append(call_id)
        return found
