"""A service and its database tell the same: what is printed does not depend on who was asked.

And whoever is asked, nothing that stands in a conversation takes over the terminal.
"""

import pytest

from tests.cli.conftest import HOSTILE, Run, World

COMMANDS = [
    "list",
    "list --json",
    "list --limit 1",
    "list --q paris",
    "list --title paris --tool weather --provider kimi --metadata user=7",
    "list --metadata user=8 --metadata user=7",
    "show trip",
    "show trip --last 2",
    "show trip --raw",
    "show trip --json --raw",
    "show trip --turn called",
    "show trip --turn 3",
    "show trip --turn 3 --raw",
    "show trip --turn 3 --json",
    "show trip --turn 99",
    "show absent",
    "find weather:0",
    "find weather:0 --json",
    "find trip",
    "find called",
    "find call_lost",
    "find nobody_knows_it",
    "replay trip --provider anthropic",
    "replay trip --provider mistral --json --last 3 --reasoning text --tools flatten --ready",
    "replay trip --provider openai --until called --model gpt --max-tokens 900",
    "replay trip --provider openai --since 2 --json",
    "replay trip --provider openai --since 99",
    "replay trip --provider neutral --tools flatten",
    "replay trip --provider openai --until absent",
    "replay trip --provider openai --until 3",
    "replay trip --provider openai --until 99",
    "list --state open",
    "list --state interrupted",
    "audit trip",
    "audit trip --state open",
    "audit trip --csv",
    "audit trip --json",
    "audit plain",
    "audit absent",
    "diff trip --between anthropic,openai",
    "diff trip --between kimi,gemini --json",
    "diff trip --between kimi,vercel --last 3",
    "show hostile",
    "show hostile --turn 1",
    "show hostile --turn 2",
    "show hostile --raw",
    "audit hostile",
    "audit hostile --csv",
    "replay hostile --provider gemini",
    "diff hostile --between mistral,bedrock",
    "tail hostile",
    "tail trip",
    "tail trip -n 2 --json",
    "verify trip plain",
    "verify trip --json",
    "verify absent",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_service_and_its_database_tell_the_same(world: World, run: Run, command: str) -> None:
    asked = run(*command.split(), "--url", world.url)
    read = run(*command.split(), "--database-url", world.database_url)
    assert (asked.code, asked.out, asked.err) == (read.code, read.out, read.err)
    assert asked.out or asked.err
    # Nothing of a conversation moves the cursor.
    assert not [line for line in (read.out + read.err).split("\n") if not line.isprintable()]


def test_a_hostile_id_is_found_and_moves_no_cursor(world: World, run: Run) -> None:
    for any_id, code in ((HOSTILE, 0), (f"lost {HOSTILE}", 0), (f"no {HOSTILE}", 1)):
        done = run("find", any_id, "--url", world.url)
        assert done.code == code
        assert all(line.isprintable() for line in (done.out + done.err).split("\n"))
