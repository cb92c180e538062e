"""The forms of names that callers choose: of conversations, of turns, of providers.

Each is written here once. Refusals, the OpenAPI page and the importers take it from here.
"""

import re

from . import telling

# Clients take the path segments . and .. away, so nothing could be found under such a name.
_NO_SEGMENT = r"(?!\.\.?\Z)"


class Form:
    """What a name must look like: 1 to `longest` of these `signs`, a class of `re`.

    `allowed` says the same to people. `ahead`: what must hold of the whole name besides.
    """

    def __init__(self, subject: str, signs: str, allowed: str, longest: int, ahead: str) -> None:
        self._told = (allowed, signs, longest)
        self._subject = subject
        self.signs = signs
        self.pattern = re.compile(f"{ahead}[{signs}]{{1,{longest}}}")

    def fits(self, name: str) -> bool:
        return self.pattern.fullmatch(name) is not None

    def complaint(self, name: str) -> str:
        """What is wrong with a name that does not fit."""
        return telling.bad_characters(self._subject, name, *self._told)


# No bar: it parts the fields of a turn id's hash input. No slash: ids stand in paths.
CONVERSATION_ID = Form(
    "A conversation id", "A-Za-z0-9._:@+=,-", "letters, digits, . _ : @ + = , -", 128, _NO_SEGMENT
)
TURN_ID = Form("A turn id", "A-Za-z0-9._:-", "letters, digits, . _ : -", 128, _NO_SEGMENT)
PROVIDER = Form(
    "`provider`",
    "A-Za-z0-9._:/-",
    "letters, digits, . _ : / -, the first a letter or digit",
    64,
    "(?=[A-Za-z0-9])",
)
