"""What an example printed, as a page shows it: laid out, without what differs from run to run."""

import json
import re
from typing import Any

from tests.docs.shell import documents

_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)")
_NUMBER = re.compile(r"(?<= )[\d.e+]+$", re.MULTILINE)
# Of the release, not of the operation.
_VARYING = {"schema"}
_WIDTH = 118


def shown(printed: str) -> str:
    """The blocks of the page."""
    if not printed.strip():
        return "\nThe answer has no body.\n"
    try:
        found = documents(printed)
    except ValueError:
        text = _NUMBER.sub("…", _TIME.sub("…", printed)).strip()
        return f"```text\n{text}\n```\n"
    return "".join(f"```json\n{_laid_out(_steady(one))}\n```\n" for one in found)


def _steady(value: Any) -> Any:
    match value:
        case dict():
            return {key: "…" if key in _VARYING else _steady(one) for key, one in value.items()}
        case list():
            return [_steady(one) for one in value]
        case str():
            return _TIME.sub("…", value)
    return value


def _laid_out(value: Any, depth: int = 0, before: int = 0) -> str:
    """JSON, on one line where it fits."""
    line = json.dumps(value, ensure_ascii=False)
    if depth + before + len(line) < _WIDTH or not value or not isinstance(value, dict | list):
        return line
    pad = " " * (depth + 2)
    if isinstance(value, dict):
        inside = [
            f"{pad}{json.dumps(key)}: {_laid_out(one, depth + 2, len(key) + 4)}"
            for key, one in value.items()
        ]
        return "{\n" + ",\n".join(inside) + f"\n{' ' * depth}}}"
    return (
        "[\n" + ",\n".join(pad + _laid_out(one, depth + 2) for one in value) + f"\n{' ' * depth}]"
    )
