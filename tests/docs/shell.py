"""Pages are run as their readers run them: block by block, in one shell, against a real service.

Blocks in `sh` and `python` are run. A block in `json` or `text` behind one is what it printed; in
it `…` stands for what differs from run to run, or is left out: a value, the rest of a text, of a
list or of an object.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PRINTED = "http://127.0.0.1:8420"
RUN, SHOWN = {"sh", "python"}, {"json", "text"}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|…|[^\s"\[\]{}:,…]+')
_END = "\x1e"


class Block(NamedTuple):
    kind: str
    text: str


class Step(NamedTuple):
    """A block that is run, and what the page says that it prints."""

    block: Block
    shown: Block | None


def blocks(page: str) -> list[Block]:
    return [Block(*found) for found in _BLOCK.findall(page)]


def steps(page: str) -> list[Step]:
    """What is run; blocks of other kinds are only read."""
    found = blocks(page)
    behind = [*found[1:], Block("", "")]
    return [
        Step(block, after if after.kind in SHOWN else None)
        for block, after in zip(found, behind, strict=True)
        if block.kind in RUN
    ]


def run(
    pieces: Sequence[Block], url: str, folder: Path, environment: Mapping[str, str] | None = None
) -> list[str]:
    """What each block prints. A command that fails ends the run, and the test."""
    if not shutil.which("curl") and not os.environ.get("CI"):
        pytest.skip("curl is not installed")
    script = "".join(f"{_command(one)}\nprintf '{_END}'\n" for one in pieces)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace(PRINTED, url)],
        cwd=folder,
        env={
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
            "NO_PROXY": "127.0.0.1",
            **(environment or {}),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    printed = done.stdout.split(_END)
    assert done.returncode == 0, f"{pieces[len(printed) - 1].text}{printed[-1]}{done.stderr}"
    return printed[:-1]


def _command(block: Block) -> str:
    return f"python3 - <<'PYTHON'\n{block.text}PYTHON" if block.kind == "python" else block.text


def documents(printed: str) -> list[Any]:
    """The JSON documents of a text, one behind the other."""
    return list(_documents(printed.strip()))


def _documents(text: str) -> Iterator[Any]:
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        yield value
        text = text[end:].lstrip()


def differs(shown: Block, printed: str) -> str | None:
    """Where what is printed is not what the page shows."""
    if shown.kind == "text":
        same = _fits(shown.text.strip(), printed.strip())
        return None if same else f"printed:\n{printed}\nshown:\n{shown.text}"
    expected = json.loads(_filled(shown.text))
    return next(_differences(expected, documents(printed)[0], ""), None)


def _filled(shown: str) -> str:
    """A shown text as JSON: an ellipsis is the text `…`, and in an object a member of that name."""
    inside: list[str] = []
    written: list[str] = []
    for sign in _SIGNS.findall(shown):
        if sign in "[{":
            inside.append(sign)
        elif sign in "]}":
            inside.pop()
        if sign == "…":
            is_member = inside[-1:] == ["{"] and written[-1] != ":"
            written.append('"…":"…"' if is_member else '"…"')
        else:
            written.append(sign)
    return "".join(written)


def _differences(expected: Any, got: Any, path: str) -> Iterator[str]:
    match expected:
        case "…":
            return
        case dict() if isinstance(got, dict):
            missing = [key for key in expected if key != "…" and key not in got]
            extra = [] if "…" in expected else [key for key in got if key not in expected]
            if missing or extra:
                yield f"{path or '/'}: not there {missing}, not shown {extra}"
            for key in expected.keys() & got.keys():
                yield from _differences(expected[key], got[key], f"{path}/{key}")
        case list() if isinstance(got, list):
            first = expected[:-1] if expected[-1:] == ["…"] else expected
            if len(got) < len(first) or (first is expected and len(got) > len(first)):
                yield f"{path or '/'}: {len(got)} of {len(first)}"
            for place, (left, right) in enumerate(zip(first, got, strict=False)):
                yield from _differences(left, right, f"{path}/{place}")
        case str() if isinstance(got, str) and _fits(expected, got):
            return
        case _ if expected != got:
            yield f"{path or '/'}: shown {expected!r}, printed {got!r}"


def _fits(shown: str, printed: str) -> bool:
    """Whether a text is the shown one, where an ellipsis stands for anything."""
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None
