"""The README's walk-through, line by line as it is printed, against a real server."""

import json
import re
import shlex
from pathlib import Path
from string import Template

import httpx

from tests.e2e.server import ROOT, serving

README = (ROOT / "README.md").read_text()
PRINTED = "http://127.0.0.1:8420"


def printed() -> list[str]:
    """What a reader copies into a shell, command by command."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    chosen = [text for _, text in blocks if text.startswith(("curl", "TURNKEEP="))]
    return [one for block in chosen for one in re.split(r"\n(?=[A-Z]+=|curl)", block.strip())]


def run(commands: list[str], url: str) -> list[httpx.Response]:
    """What a shell and curl do with these few words."""
    variables: dict[str, str] = {}
    answers: list[httpx.Response] = []
    for command in commands:
        # Two dollars are the number of the shell.
        words = [
            Template(word).substitute(variables) for word in shlex.split(command.replace("$$", "7"))
        ]
        if words[0] != "curl":
            name, _, value = words[0].partition("=")
            variables[name] = url if value == PRINTED else value
            continue
        headers = [words[place + 1] for place, word in enumerate(words) if word == "-H"]
        pairs = dict(header.split(": ", 1) for header in headers)
        body = words[words.index("-d") + 1].encode() if "-d" in words else None
        [target] = [word for word in words if word.startswith("http")]
        answers.append(
            httpx.request("POST" if body else "GET", target, headers=pairs, content=body)
        )
    return answers


def test_the_walk_through_works_as_printed(tmp_path: Path) -> None:
    commands = printed()
    assert commands[0] == f"TURNKEEP={PRINTED}"
    with serving(tmp_path) as server:
        answers = run(commands, server.url)
    assert [answer.status_code for answer in answers] == [201, 201, 200, 200, 200]
    replay, calls, verified = (json.loads(answer.content) for answer in answers[2:])
    assert replay["conversation_id"] == "demo-7"
    assert replay["request"]["messages"][-1]["content"][0]["content"] == "alpha"
    assert len(calls["data"]) == 2
    assert verified["ok"]


def test_the_address_and_the_conversation_are_said_once() -> None:
    commands = printed()
    assert [one for one in commands if "8420" in one] == [f"TURNKEEP={PRINTED}"]
    assert [one for one in commands if "demo" in one] == ["CHAT=demo-$$"]


def test_the_loop_is_quoted_from_the_example() -> None:
    [quoted] = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    example = (ROOT / "examples" / "agent_loop.py").read_text()
    assert example.endswith(quoted)
    assert quoted.startswith("def ask(")
    assert "Post the user's message, replay, call, post the response, post the results." in README


def test_the_readme_is_short_and_names_the_commands() -> None:
    assert len(README.splitlines()) <= 110
    for command in ("make serve", "make example", "make test"):
        assert command in README
