"""The tutorial, block by block as it is printed, against a real server and a fake provider."""

from pathlib import Path

import httpx

from examples.fake_provider import fake_provider
from tests.docs.shell import blocks, differs, run, steps
from tests.e2e.server import ROOT, serving
from tests.judges import complaints

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_the_tutorial_works_and_shows_what_is_printed(tmp_path: Path) -> None:
    walk = steps(TUTORIAL)
    with serving(tmp_path) as server, fake_provider() as provider:
        keys = {"ANTHROPIC_BASE_URL": provider.url, "ANTHROPIC_API_KEY": "none"}
        printed = run([step.block for step in walk], server.url, tmp_path, keys)
        replay = f"{server.url}/v1/conversations/tutorial/replay?provider=anthropic"
        request = httpx.get(replay).json()["request"]
    shown = [(step.shown, text) for step, text in zip(walk, printed, strict=True) if step.shown]
    assert [found for one, text in shown if (found := differs(one, text))] == []
    assert complaints("anthropic", request) == []


def test_all_that_is_printed_is_run_or_compared() -> None:
    """Nothing stands on the page that no test looks at, but for the start of the server, and for
    what is posted instead of a response by those who have no key."""
    walk = steps(TUTORIAL)
    looked_at = [one for step in walk for one in step if one]
    left = [block.text for block in blocks(TUTORIAL) if block not in looked_at]
    assert left[0] == "make serve\n"
    assert [text.split("$", 1)[0] for text in left[1:]] == ["curl -s "]
    # Only the variables at the top print nothing.
    assert [step.block.text.split("=")[0] for step in walk if not step.shown] == ["TURNKEEP"]
