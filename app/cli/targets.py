"""Flags that name a format or a provider."""

import argparse
from collections.abc import Sequence

from ..formats.registry import NICKNAMES
from ..model.nearest import nearest_provider
from ..model.telling import did_you_mean


class OneOf:
    """The type of a flag that names a format; a wrong name is told the nearest."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def __call__(self, given: str) -> str:
        if given in self.names:
            return given
        known = {one: NICKNAMES.get(one, ()) for one in self.names}
        raise argparse.ArgumentTypeError(
            f"must be one of {', '.join(self.names)}, not {given!r}"
            f"{did_you_mean(nearest_provider(given, known))}"
        )
