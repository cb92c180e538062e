"""Rollouts of the Codex CLI, with and without the envelope."""

import json
from pathlib import Path

import pytest

from tests.transfer.conftest import FILES, Run, replayed, spoken, stored

SESSION = "019f5c5a-eb02-7ff0-90af-653b66eba9f4"
FILE = FILES / f"rollout-2026-07-13T18-41-30-{SESSION}.jsonl"
LINES = FILE.read_text().splitlines(keepends=True)
OLD = "c3c4b301-27c8-4c70-b6e4-46b99fdf0236"
OLD_FILE = FILES / f"rollout-2025-06-02T17-17-41-{OLD}.jsonl"


def test_a_rollout_becomes_a_conversation_of_its_session(
    sqlite_database_url: str, turnkeep: Run
) -> None:
    url = sqlite_database_url
    told = turnkeep(url, "import", FILE)
    assert told.code == 0
    assert spoken(url, SESSION) == [
        ("system", "You are a careful miller."),
        ("system", "<permissions instructions>read only</permissions instructions>"),
        ("human", "<environment_context>\n  <cwd>/home/ada/mill</cwd>\n</environment_context>"),
        ("human", "Is the wheel turning?"),
        ("ai", "Look at the wheel. shell()"),
        ("tool", '={"output":"turning","metadata":{"exit_code":0}}'),
        ("ai", "local_shell()"),
        ("tool", "=wheel"),
        ("ai", "apply_patch()"),
        ("tool", "=done"),
        ("ai", "It turns."),
        ("human", "Thanks."),
    ]
    assert "1 compacted lines" in told.out
    assert "1 event_msg agent_message lines" in told.out
    assert "1 ghost_snapshot items" in told.out
    assert "1 session_meta lines of another session" in told.out


def test_turns_keep_place_model_time_and_lines(sqlite_database_url: str, turnkeep: Run) -> None:
    turnkeep(sqlite_database_url, "import", FILE)
    turns = stored(sqlite_database_url, SESSION)
    answer = turns[4]
    assert (answer["turn_id"], answer["model"]) == ("line-9", "gpt-5.6-sol")
    assert answer["payload"] == [json.loads(LINES[8]), json.loads(LINES[9])]
    assert answer["metadata"]["imported"] == {"timestamp": "2026-07-13T16:41:03.000Z"}
    line = json.loads(turnkeep(sqlite_database_url, "export", SESSION).out)
    assert line["title"] == "The mill wheel"
    assert line["metadata"]["imported"]["cwd"] == "/home/ada/mill"


def test_every_call_has_its_result_and_reasoning_goes_back(
    sqlite_database_url: str, turnkeep: Run
) -> None:
    turnkeep(sqlite_database_url, "import", FILE)
    request = json.loads(replayed(sqlite_database_url, SESSION, "openai-responses"))["request"]
    kinds = [item.get("type", "message") for item in request["input"]]
    assert kinds.count("function_call") == kinds.count("function_call_output") == 2
    assert kinds.count("custom_tool_call") == kinds.count("custom_tool_call_output") == 1
    assert "gAAAAsealed" in json.dumps(request)


def test_a_rollout_without_envelope_is_read_too(sqlite_database_url: str, turnkeep: Run) -> None:
    told = turnkeep(sqlite_database_url, "import", OLD_FILE)
    assert (told.code, "2 state lines" in told.out) == (0, True)
    assert spoken(sqlite_database_url, OLD) == [
        ("system", "Answer in one word."),
        ("human", "Colour of grass?"),
        ("ai", "look()"),
        ("tool", "=green"),
        ("ai", "Green."),
    ]


@pytest.mark.parametrize("file", [FILE, OLD_FILE], ids=["new", "old"])
def test_a_rollout_may_be_imported_line_by_line(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, file: Path
) -> None:
    url, growing = sqlite_database_url, tmp_path / file.name
    lines = file.read_text().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        growing.write_text("".join(lines[:count]))
        assert turnkeep(url, "import", growing).code == 0
    cid = SESSION if file is FILE else OLD
    grown = [block for turn in stored(url, cid) for block in turn["blocks"]]
    turnkeep(url, "import", file, "--conversation", "at-once")
    at_once = [block for turn in stored(url, "at-once") for block in turn["blocks"]]
    assert [block["type"] for block in grown] == [block["type"] for block in at_once]
    answers = [block["call_id"] for block in grown if block["type"] == "tool_result"]
    assert answers == [block["id"] for block in grown if block["type"] == "tool_call"]


def test_a_file_without_its_first_line_is_named_by_its_name(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    (tmp_path / FILE.name).write_text("".join(LINES[3:7]))
    assert turnkeep(sqlite_database_url, "import", tmp_path / FILE.name).code == 0
    assert len(stored(sqlite_database_url, SESSION)) == 3


def test_a_second_rollout_in_one_file_is_a_problem_and_is_not_mixed_in(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url, file = sqlite_database_url, tmp_path / "all.jsonl"
    first = FILE.read_text()
    other = first.replace("019f5c5a-eb02", "019f5c5a-ffff").replace("careful", "careless")
    file.write_text(first + other)
    told = turnkeep(url, "import", file)
    assert told.code == 1
    number = len(first.splitlines()) + 1
    assert f"{file}:{number}: Another session begins here" in told.err
    turnkeep(url, "import", FILE)
    assert turnkeep(url, "export", "--all").out.count("\n") == 1
    assert not any("careless" in words for _, words in spoken(url, SESSION))
