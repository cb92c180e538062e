"""What is printed for people. Names of files and words of others may hold anything."""

import sys


def printable(words: str) -> str:
    """One line: what would move the cursor, change colours or end the line is escaped."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in words)


def complain(words: str) -> None:
    """One line on standard error."""
    print(f"turnkeep: {printable(words)}", file=sys.stderr)
