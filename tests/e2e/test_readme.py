"""The README's walk-through, line by line as it is printed, against a real server."""

import re
from pathlib import Path

from tests.docs.shell import PRINTED, Block, blocks, documents, run
from tests.e2e.server import ROOT, serving

README = (ROOT / "README.md").read_text()


def printed() -> list[Block]:
    """What a reader copies into a shell."""
    return [block for block in blocks(README) if block.kind == "sh"]


def test_the_walk_through_works_as_printed(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        said = run(printed(), server.url, tmp_path)
    posted, results, replay, calls, verified = documents("".join(said))
    assert replay["conversation_id"].startswith("demo-")
    assert (posted["version"], results["version"]) == (2, 4)
    assert replay["request"]["messages"][-1]["content"][0]["content"] == "alpha"
    assert len(calls["data"]) == 2
    assert verified["ok"]


def test_the_address_and_the_conversation_are_said_once() -> None:
    lines = "".join(block.text for block in printed()).splitlines()
    assert [one for one in lines if "8420" in one] == [f"TURNKEEP={PRINTED}"]
    assert [one for one in lines if "demo" in one] == ["CHAT=demo-$$"]


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
