"""Sessions of Claude Code: answers over several lines, helpers, compaction, files that grow."""

import json
from pathlib import Path

import pytest

from tests.transfer.conftest import FILES, Run, replayed, spoken, stored

SESSION = "6f1d2c3b-4a5e-4f60-8b7a-9c0d1e2f3a4b"
FILE = FILES / f"{SESSION}.jsonl"
LINES = FILE.read_text().splitlines(keepends=True)


def uuid(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def test_a_session_becomes_a_conversation_of_its_id(
    sqlite_database_url: str, turnkeep: Run
) -> None:
    url = sqlite_database_url
    told = turnkeep(url, "import", FILE)
    assert told.code == 0
    assert spoken(url, SESSION) == [
        ("human", "<command-name>/clear</command-name>"),
        ("human", "Which loaves does recipes.txt list, and is the oven log there?"),
        ("ai", "Read both files. I will look at both. Read() Bash()"),
        ("tool", "=rye, spelt"),
        ("tool", "=ls: oven.log: no such file"),
        ("ai", "Rye and spelt; there is no oven log."),
        ("human", "Ask a helper to write one."),
        ("ai", "Task()"),
        ("tool", "=[{'type': 'text', 'text': 'Oven log written.'}]"),
        ("human", "[Request interrupted by user]"),
        ("human", "This session is being continued: two loaves, an oven log."),
        ("human", "Thanks, that is all."),
        ("ai", "Happy baking."),
    ]
    assert told.out.splitlines()[1] == (
        "Not stored: 1 answers written by the program, 1 file-history-snapshot lines,"
        " 1 progress lines, 2 summary lines, 2 system lines."
    )


def test_turns_keep_ids_model_time_and_the_lines_they_came_from(
    sqlite_database_url: str, turnkeep: Run
) -> None:
    turnkeep(sqlite_database_url, "import", FILE)
    turns = stored(sqlite_database_url, SESSION)
    answer, result = turns[2], turns[3]
    assert (answer["turn_id"], answer["model"]) == (uuid(3), "claude-opus-4-5-20251101")
    assert answer["payload"] == [json.loads(LINES[place]) for place in (4, 5, 6, 9)]
    assert answer["metadata"] == {"imported": {"timestamp": "2026-02-03T09:02:00.000Z"}}
    assert result["payload"]["toolUseResult"]["file"]["numLines"] == 1
    assert turns[0]["metadata"]["imported"]["meta"] is True
    assert turns[10]["metadata"]["imported"]["compact_summary"] is True


def test_signed_thinking_and_results_go_back_to_their_issuer(
    sqlite_database_url: str, turnkeep: Run
) -> None:
    turnkeep(sqlite_database_url, "import", FILE)
    messages = json.loads(replayed(sqlite_database_url, SESSION, "anthropic"))["request"][
        "messages"
    ]
    called, answered = messages[1]["content"], messages[2]["content"]
    assert [block["type"] for block in called] == ["thinking", "text", "tool_use", "tool_use"]
    assert called[0]["signature"] == "EpMCsig=="
    assert [block["tool_use_id"] for block in answered] == [block["id"] for block in called[2:]]
    assert answered[1]["is_error"] is True


def test_the_title_is_the_summary_of_this_session_only(
    sqlite_database_url: str, turnkeep: Run
) -> None:
    turnkeep(sqlite_database_url, "import", FILE)
    assert json.loads(turnkeep(sqlite_database_url, "export", SESSION).out)["title"] == (
        "Loaves and an oven log"
    )


def test_helpers_have_conversations_of_their_own(sqlite_database_url: str, turnkeep: Run) -> None:
    url = sqlite_database_url
    assert turnkeep(url, "import", FILE, FILES / "agent-a1b2c3d.jsonl").code == 0
    assert [words for _, words in spoken(url, f"{SESSION}.sidechain-{uuid(14)}")] == [
        "Write an oven log.",
        "Oven log written.",
    ]
    assert [words for _, words in spoken(url, f"{SESSION}.agent-a1b2c3d")] == [
        "Count the flour sacks.",
        "Bash()",
        "=17 sacks.txt",
        "Seventeen sacks.",
    ]


@pytest.mark.parametrize("cut", range(1, len(LINES)))
def test_a_session_may_be_imported_at_any_moment_and_again(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, cut: int
) -> None:
    """Also in the middle of an answer: what came later of it is a turn of its own."""
    url, file = sqlite_database_url, tmp_path / FILE.name
    file.write_text("".join(LINES[:cut]))
    assert turnkeep(url, "import", file).code == 0
    file.write_text("".join(LINES))
    assert turnkeep(url, "import", file).code == 0
    again = turnkeep(url, "import", file)
    assert (again.code, " 0 turns stored" in again.out) == (0, True)
    blocks = [block for turn in stored(url, SESSION) for block in turn["blocks"]]
    kinds = [block["type"] for block in blocks]
    assert (kinds.count("tool_call"), kinds.count("tool_result")) == (3, 3)
    assert kinds.count("thinking") == 1
    assert len(blocks) == 16
    json.loads(replayed(url, SESSION, "anthropic"))


def test_repeated_lines_are_stored_once_and_counted(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    file = tmp_path / FILE.name
    piece = json.loads(LINES[5]) | {"uuid": uuid(77)}
    file.write_text("".join([*LINES[:6], json.dumps(piece), "\n", *LINES[3:6]]))
    told = turnkeep(sqlite_database_url, "import", file)
    assert "4 repeated lines" in told.out
    assert len(stored(sqlite_database_url, SESSION)) == 3


def test_a_result_may_hold_bare_texts(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    line = json.loads(LINES[8])
    line["message"]["content"][0]["content"] = ["rye", {"type": "text", "text": "spelt"}]
    (tmp_path / FILE.name).write_text("".join([*LINES[:8], json.dumps(line)]))
    assert turnkeep(sqlite_database_url, "import", tmp_path / FILE.name).code == 0
    [block] = stored(sqlite_database_url, SESSION)[-1]["blocks"]
    assert [part["text"] for part in block["content"]] == ["rye", "spelt"]


def test_a_prompt_typed_while_the_model_works_is_stored(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    def queued(number: int, mode: str, prompt: str) -> str:
        about = {"type": "queued_command", "commandMode": mode, "prompt": prompt}
        line = {"type": "attachment", "uuid": uuid(number), "sessionId": SESSION}
        return json.dumps({**line, "isSidechain": False, "attachment": about}) + "\n"

    typed = queued(60, "prompt", "and the yeast?")
    noted = queued(61, "task-notification", "<task-notification>")
    (tmp_path / FILE.name).write_text("".join([*LINES[:4], typed, noted]))
    told = turnkeep(sqlite_database_url, "import", tmp_path / FILE.name)
    assert "1 attachment lines" in told.out
    assert spoken(sqlite_database_url, SESSION)[-1] == ("human", "and the yeast?")


def test_a_helpers_chain_goes_on_over_lines_that_are_not_stored(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    first, last = json.loads(LINES[15]), json.loads(LINES[16])
    between = {**first, "type": "progress", "uuid": uuid(62), "parentUuid": first["uuid"]}
    lines = [first, between, {**last, "parentUuid": uuid(62)}]
    (tmp_path / FILE.name).write_text("\n".join(map(json.dumps, lines)))
    assert turnkeep(sqlite_database_url, "import", tmp_path / FILE.name).code == 0
    assert len(stored(sqlite_database_url, f"{SESSION}.sidechain-{uuid(14)}")) == 2


def test_a_session_that_goes_on_another_is_named_after_its_file(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    """`--continue` copied the lines of the old session, with its id, into the new file."""
    other = "0a0a0a0a-1111-4222-8333-444444444444"
    new = json.loads(LINES[22]) | {"uuid": uuid(88), "sessionId": other}
    (tmp_path / f"{other}.jsonl").write_text("".join([*LINES[:13], json.dumps(new)]))
    (tmp_path / "renamed.jsonl").write_text("".join(LINES[:13]))
    told = turnkeep(sqlite_database_url, "import", tmp_path)
    assert told.code == 0
    assert len(stored(sqlite_database_url, other)) == len(stored(sqlite_database_url, SESSION)) + 1


def test_a_broken_line_is_named_and_the_rest_is_imported(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    file = tmp_path / FILE.name
    bad = json.loads(LINES[11])
    bad["message"]["role"] = "wizard"
    lines = [*LINES[:11], json.dumps(bad) + "\n", "{torn\n", "[]\n", "{}\n", *LINES[12:]]
    file.write_text("".join(lines))
    told = turnkeep(sqlite_database_url, "import", file)
    assert told.code == 1
    named = [line.partition(": ")[0].rpartition(":")[2] for line in told.err.splitlines()[:-1]]
    assert sorted(named, key=int) == ["12", "13", "14", "15"]
    assert "`role` must be user, assistant or system, not 'wizard'" in told.err
    assert len(stored(sqlite_database_url, SESSION)) == 12


def test_sessions_that_come_in_one_stream_stay_apart(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url, other = sqlite_database_url, "0" * 8 + SESSION[8:]
    changed = [line.replace(SESSION, other).replace('uuid":"0', 'uuid":"f') for line in LINES]
    file = tmp_path / "all.jsonl"
    file.write_text("".join([*LINES, *changed]))
    assert turnkeep(url, "import", file).code == 0
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / f"{SESSION}.jsonl").write_text("".join(LINES))
    (alone / f"{other}.jsonl").write_text("".join(changed))
    told = turnkeep(url, "import", alone)
    assert (told.code, " 0 turns stored" in told.out) == (0, True), told
    assert spoken(url, SESSION) == spoken(url, other)
