"""An option of replays is said once: HTTP, the commands and the tags know it from its field."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.replay.options import OPTIONS, ReplayOptions

ROOT = Path(__file__).parents[2]
FILE = ROOT / "app" / "replay" / "options.py"
INVENTED = """
    colour: Literal["grey", "red"] = _option("grey", later=True, said="Its ink.", flag="the ink")

    @property
    def is_window"""
# Puts another text in the place of the file before anybody imports it, and tells what is seen.
LOOK = """
import contextlib, io, json, sys, types
import app.replay
name = "app.replay.options"
module = sys.modules[name] = app.replay.options = types.ModuleType(name)
exec(compile(sys.stdin.read(), "options.py", "exec"), module.__dict__)

from app.cli import main
from app.main import create_app
from app.settings import Settings

def said(command):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main([command, "--help"])
    return out.getvalue()

paths = create_app(Settings(database_url="sqlite://")).openapi()["paths"]
asked, plain = module.ReplayOptions("openai", colour="red"), module.ReplayOptions("openai")
print(json.dumps({
    "query": paths["/v1/conversations/{cid}/replay"]["get"]["parameters"],
    "replay": said("replay"),
    "diff": said("diff"),
    "tags": [plain.tagged, asked.tagged],
}))
"""


@pytest.fixture(scope="module")
def seen() -> Any:
    text = FILE.read_text(encoding="utf-8")
    before = "\n    @property\n    def is_window"
    assert text.count(before) == 1
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        input=text.replace(before, INVENTED),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_an_option_that_is_one_field_can_be_asked_over_http(seen: Any) -> None:
    [colour] = (one for one in seen["query"] if one["name"] == "colour")
    assert (colour["in"], colour["required"], colour["description"]) == ("query", False, "Its ink.")
    assert colour["schema"]["enum"] == ["grey", "red"]
    assert colour["schema"]["default"] == "grey"


@pytest.mark.parametrize("command", ["replay", "diff"])
def test_it_is_a_flag_of_the_commands(seen: Any, command: str) -> None:
    assert re.search(r"--colour \{grey,red\}\s+the ink", seen[command])


def test_tags_of_requests_that_do_not_ask_for_it_stay(seen: Any) -> None:
    plain, asked = seen["tags"]
    assert plain == ReplayOptions("openai").tagged
    assert asked == plain + " with colour 'red'"


def test_tags_are_made_of_the_first_options_and_of_later_ones_that_are_asked() -> None:
    """Another text moves the tags of all replays: callers fetch again what they have."""
    plain = (
        "ReplayOptions(provider='openai', model=None, until=None, last=None, max_tokens=None,"
        " reasoning='auto', tools='include', since=None, ready=False)"
    )
    assert ReplayOptions("openai").tagged == plain
    assert ReplayOptions("openai", tokens=True).tagged == plain + " with tokens"


def test_every_option_makes_a_tag_of_its_own() -> None:
    asked: list[dict[str, Any]] = [{one.name: "x"} for one in OPTIONS]
    tags = {ReplayOptions("openai", **one).tagged for one in asked}
    assert len(tags) == len(OPTIONS)
