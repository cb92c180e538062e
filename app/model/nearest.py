"""The word that somebody probably meant. Pure, and always the same word."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeAlias

# Longer words are no misspelt names; comparing them would only take time.
_LONGEST = 64
_ALIKE = 0.7
# Providers, each with how other names begin that people have for it: its models, its clouds.
Nicknames: TypeAlias = Mapping[str, tuple[str, ...]]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is written most alike; case, `_` and `-` do not count."""
    if len(word) > _LONGEST:
        return None
    by_fold = {_folded(one): one for one in known}
    found = get_close_matches(_folded(word), by_fold, 1, _ALIKE)
    return by_fold[found[0]] if found else None


def nearest_provider(name: str, known: Nicknames) -> str | None:
    """The same for names of providers, which also go by the names of their models and clouds."""
    folded = _folded(name)
    if len(name) > _LONGEST:
        return None
    for one, nicknames in known.items():
        if folded.startswith(nicknames):
            return one
    if found := nearest(name, known):
        return found
    inside = [one for one in known if _folded(one) in folded]
    return max(inside, key=len, default=None)


def _folded(word: str) -> str:
    return re.sub(r"[\s_.-]", "", word.lower())
