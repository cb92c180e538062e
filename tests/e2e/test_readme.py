"""The README's walk-through, line by line as it is printed, against a real server."""

import json
import re
import shlex
from pathlib import Path

import httpx

from tests.e2e.server import ROOT, serving

README = (ROOT / "README.md").read_text()
PRINTED = "http://127.0.0.1:8420"


def commands() -> list[list[str]]:
    blocks = re.findall(r"^```\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    return [shlex.split(block) for block in blocks if block.startswith("curl")]


def run(command: list[str], url: str) -> httpx.Response:
    """What curl does with these few flags."""
    address = next(word for word in command if word.startswith(PRINTED))
    headers = [command[place + 1] for place, word in enumerate(command) if word == "-H"]
    pairs = dict(header.split(": ", 1) for header in headers)
    target = address.replace(PRINTED, url)
    if "-d" not in command:
        return httpx.get(target, headers=pairs)
    body = command[command.index("-d") + 1]
    return httpx.post(target, headers=pairs, content=body.encode())


def test_the_walk_through_works_as_printed(tmp_path: Path) -> None:
    lines = commands()
    assert 1 < len(lines) <= 6
    with serving(tmp_path) as server:
        answers = [run(line, server.url) for line in lines]
    assert [answer.status_code for answer in answers] == [201, 201, 200, 200, 200]
    replay, calls, verified = (json.loads(answer.content) for answer in answers[2:])
    assert replay["request"]["messages"][-1]["content"][0]["content"] == "alpha"
    assert len(calls["data"]) == 2
    assert verified["ok"]


def test_the_readme_is_one_screen_and_names_the_two_commands() -> None:
    assert len(README.splitlines()) <= 70
    assert "make serve" in README
    assert "make test" in README
