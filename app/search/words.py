"""Words: how text is cut up for searching, the same for what is stored and for what is asked.

Case, accents and the width of letters do not matter. A word is a run of letters, digits and `_`. An
identifier is found whole and by its parts (`readFile`, `read_file`: also `read` and `file`).
Scripts that write no spaces are cut into pairs of neighbouring characters. Words hold nothing that
means something to a database: no quote, no blank, no NUL, no lone surrogate.
"""

import re
import unicodedata
from collections.abc import Iterator

from ..ledger.wanted import AskedWord

# Characters of a word that count, and words of a question.
LONGEST = 64
MOST_ASKED = 64

_RUN = re.compile(r"\w+")
# ASCII with blanks for all that stands between runs.
_PARTED = bytes(sign if _RUN.match(chr(sign)) else 32 for sign in range(128)).ljust(256)
# Where a part of an identifier ends and the next begins.
_SEAM = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HAS_SEAM = re.compile(r"_|[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
# Thai, Lao, Burmese, Khmer, Japanese and Chinese write without spaces between words.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+)"
)


class _Marks(dict[int, str | None]):
    """What a character becomes without marks; found out once for each character that occurs."""

    def __missing__(self, code: int) -> str | None:
        sign = chr(code)
        self[code] = None if unicodedata.category(sign).startswith("M") else sign
        return self[code]


_WITHOUT_MARKS = _Marks()


def words(text: str) -> set[str]:
    """The words of a text, and the parts of its identifiers."""
    runs = set(_runs(text))
    # Most words are plain ones, which need no closer look.
    marked = (run for run in runs if "_" in run or not run.islower())
    seamed = " ".join(filter(_HAS_SEAM.search, marked))
    return _whole(runs) | _folded(_SEAM.sub(" ", seamed)) if seamed else _whole(runs)


def id_words(text: str) -> set[str]:
    """The words of an id. Its parts (`call`, `turn`) would be found in every conversation."""
    return _whole(set(_runs(text)))


def asked(text: str) -> tuple[AskedWord, ...]:
    """The words that a text asks for; the last one may be the beginning of a word."""
    found: list[AskedWord] = []
    for run in _runs(text):
        if not _UNSPACED.match(run):
            found.append(AskedWord(_word(run)))
        elif len(run) == 1:
            found.append(AskedWord(run, prefix=True))
        else:
            found.extend(map(AskedWord, _pairs(run)))
    found = found[:MOST_ASKED]
    if found:
        found[-1] = AskedWord(found[-1].text, prefix=True)
    return tuple(dict.fromkeys(found))


def _runs(text: str) -> list[str]:
    """The runs of letters, digits and `_`, each of scripts with spaces or of others."""
    if not text.isascii():
        # What is done to a part does not reach across a blank, and most parts are plain already.
        text = " ".join(part if part.isascii() else _plain(part) for part in text.split())
    if text.isascii():
        # Four times as fast as the expression.
        return text.encode().translate(_PARTED).decode().split()
    return [
        part
        for run in _RUN.findall(text)
        for part in ((run,) if run.isascii() else _UNSPACED.split(run))
        if part
    ]


def _plain(text: str) -> str:
    """The runs of a text in plain letters: no accents, no ligatures, no wide or styled forms."""
    apart = unicodedata.normalize("NFKD", text).translate(_WITHOUT_MARKS)
    return " ".join(_RUN.findall(unicodedata.normalize("NFKC", apart)))


def _whole(runs: set[str]) -> set[str]:
    unspaced = [run for run in runs if not run.isascii() and _UNSPACED.match(run)]
    found = _folded(" ".join(runs.difference(unspaced)))
    for run in unspaced:
        found.update(_pairs(run))
        # With it, some word begins with each character of the run.
        found.add(run[-1])
    return found


def _folded(runs: str) -> set[str]:
    """The words that runs with blanks between them stand for: all are folded at once."""
    found = set(runs.casefold().split())
    return found if max(map(len, found), default=0) <= LONGEST else {w[:LONGEST] for w in found}


def _word(run: str) -> str:
    return run.casefold()[:LONGEST]


def _pairs(run: str) -> Iterator[str]:
    return (run[place : place + 2] for place in range(len(run) - 1))
