"""About how many tokens a text takes, without a network and without a tokenizer.

Counts pieces of words, digits, signs and letters of other scripts, each at what it costs on
average, plus a tenth: a budget is better missed from below. `make bench-parts` measures the error
against a real tokenizer; docs/concepts.md gives the figures.
"""

import re
from collections.abc import Iterable
from typing import Final

_COSTS: Final = (
    (re.compile(r"[A-Za-z]{1,7}"), 1.0),
    (re.compile(r"[0-9]"), 1.0),
    (re.compile(r"[!-/:-@\[-`{-~]"), 0.6),
    (re.compile(r"[\n\r\t]+ *"), 0.7),
)
_OTHER_SCRIPTS: Final = (
    # Letters with accents cut words into pieces.
    (re.compile(r"[\u0080-\u024f]"), 0.6),
    # Alphabets: Greek, Cyrillic, Arabic, the scripts of India and their neighbours.
    (re.compile(r"[\u0250-\u218f\u2c00-\u2e7f\ua4d0-\uabff]"), 0.42),
    (re.compile(r"[\uac00-\ud7af]"), 0.75),
    # Chinese and Japanese: about a token a character.
    (re.compile(r"[\u2e80-\ua4cf\uf900-\ufaff\uff00-\uffef]"), 0.85),
    # Arrows, signs and emoji.
    (re.compile(r"[\u2190-\u2bff\U00010000-\U0010ffff]"), 2.6),
)
_MARGIN: Final = 1.1


def estimated_text_tokens(text: str) -> int:
    costs = _COSTS if text.isascii() else _COSTS + _OTHER_SCRIPTS
    return round(_MARGIN * sum(cost * len(piece.findall(text)) for piece, cost in costs))


def estimated_block_tokens(texts: Iterable[str]) -> int:
    """Of blocks with these texts: each costs a little more than its words."""
    return sum(4 + estimated_text_tokens(text) for text in texts)
