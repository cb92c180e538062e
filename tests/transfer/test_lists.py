"""Histories as people write them down: lists of messages, requests, fine-tuning lines."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.transfer.conftest import FILES, Run, replayed, spoken, stored


def providers(url: str, cid: str) -> set[tuple[str, str]]:
    return {(turn["provider"], turn["format"]) for turn in stored(url, cid)}


def test_a_line_of_fine_tuning_is_a_conversation_with_its_tools(
    sqlite_database_url: str, turnkeep: Run
) -> None:
    url = sqlite_database_url
    told = turnkeep(url, "import", FILES / "fine-tuning.jsonl")
    assert (told.code, told.out) == (0, "2 conversations, 7 turns stored, 0 already there.\n")
    assert spoken(url, "fine-tuning-1") == [
        ("system", "Be brief."),
        ("human", "Weather in Bern?"),
        ("ai", "weather()"),
        ("tool", "=rain"),
        ("ai", "Rain."),
    ]
    request = json.loads(replayed(url, "fine-tuning-1", "openai"))["request"]
    assert request["tools"][0]["function"]["name"] == "weather"
    assert request["parallel_tool_calls"] is False
    assert [turn["turn_id"] for turn in stored(url, "fine-tuning-2")] == ["message-1", "message-2"]
    # What was in the file is kept, also what no codec reads.
    assert stored(url, "fine-tuning-2")[1]["payload"]["weight"] == 0


@pytest.mark.parametrize(
    ("line", "wire", "said"),
    [
        (1, "openai", ["one", "two"]),
        (2, "anthropic", ["paint", "paint()", "=blue"]),
        (3, "anthropic", ["Be kind.", "hello"]),
        (4, "openai-responses", ["count", "count()", "=9"]),
        (5, "openai-responses", ["Be exact.", "how many?"]),
        (6, "gemini", ["bonjour", "salut"]),
    ],
)
def test_the_shape_of_every_line_is_told_from_its_content(
    sqlite_database_url: str, turnkeep: Run, line: int, wire: str, said: list[str]
) -> None:
    assert turnkeep(sqlite_database_url, "import", FILES / "plain.jsonl").code == 0
    cid = f"plain-{line}"
    assert [words for _, words in spoken(sqlite_database_url, cid)] == said
    assert providers(sqlite_database_url, cid) == {(wire, wire)}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("document.json", ["a document", "over many lines"]),
        ("one-message-a-line.jsonl", ["ping", "pong", "ping again"]),
    ],
)
def test_a_file_of_one_history_is_named_after_the_file(
    sqlite_database_url: str, turnkeep: Run, name: str, said: list[str]
) -> None:
    assert turnkeep(sqlite_database_url, "import", FILES / name).code == 0
    cid = name.partition(".")[0]
    assert [words for _, words in spoken(sqlite_database_url, cid)] == said


def test_a_document_may_hold_several_histories(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    said: list[Any] = [{"role": "user", "content": "x"}]
    (tmp_path / "all.json").write_text(json.dumps([{"messages": said}, said], indent=1))
    assert turnkeep(sqlite_database_url, "import", tmp_path / "all.json").code == 0
    assert spoken(sqlite_database_url, "all-1") == spoken(sqlite_database_url, "all-2")


def test_who_spoke_and_the_format_can_be_said(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url, file = sqlite_database_url, tmp_path / "a.jsonl"
    file.write_text('[{"role": "user", "content": "hello"}]\n')
    words = ("--format", "anthropic", "--provider", "my-proxy", "--model", "m-1")
    assert turnkeep(url, "import", file, *words, "--conversation", "c1").code == 0
    [turn] = stored(url, "c1")
    assert (turn["provider"], turn["format"], turn["model"]) == ("my-proxy", "anthropic", "m-1")


def test_folders_are_walked_and_packed_files_are_read(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    shutil.copy(FILES / "document.json", deep)
    (deep / "notes.txt").write_text("not a history")
    (deep / "index.json").write_text('{"entries": [],\n "version": 1}')
    (deep / "prompts.jsonl").write_text('{"session_id": "s", "ts": 1, "text": "hello"}\n')
    packed = gzip.compress((FILES / "one-message-a-line.jsonl").read_bytes())
    (tmp_path / "pings.jsonl.gz").write_bytes(packed)
    told = turnkeep(sqlite_database_url, "import", tmp_path)
    assert (told.code, told.out) == (
        0,
        (
            "2 conversations, 5 turns stored, 0 already there.\n"
            "Not stored: 2 files without messages.\n"
        ),
    )
    assert len(stored(sqlite_database_url, "pings")) == 3
    alone = turnkeep(sqlite_database_url, "import", deep / "index.json")
    assert (alone.code, "has no list of messages" in alone.err) == (1, True)


def test_a_name_that_cannot_be_an_id_is_changed_and_marked(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    for name in ("my chat.json", "my/chat.json".replace("/", "ß")):
        (tmp_path / name).write_text('[{"role": "user", "content": "hello"}]')
    told = turnkeep(sqlite_database_url, "import", tmp_path)
    assert told.out.startswith("2 conversations, 2 turns stored")
    ids = json.dumps(turnkeep(sqlite_database_url, "export", "--all").out)
    assert ids.count("my_chat-") == 2


def test_a_list_that_has_grown_appends_what_is_new(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url, file = sqlite_database_url, tmp_path / "a.json"
    said = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    file.write_text(json.dumps(said))
    turnkeep(url, "import", file)
    file.write_text(json.dumps([*said, {"role": "user", "content": "three"}]))
    told = turnkeep(url, "import", file)
    assert told.out == "1 conversations, 1 turns stored, 2 already there.\n"
    assert [words for _, words in spoken(url, "a")] == ["one", "two", "three"]


def test_a_list_that_was_changed_is_refused_and_nothing_of_it_is_stored(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url, file = sqlite_database_url, tmp_path / "a.json"
    file.write_text('[{"role": "user", "content": "one"}]')
    turnkeep(url, "import", file)
    file.write_text('[{"role": "user", "content": "other"}, {"role": "user", "content": "two"}]')
    told = turnkeep(url, "import", file)
    assert told.code == 1
    assert "a.json:1: The turn message-1 is stored with other content." in told.err
    assert [words for _, words in spoken(url, "a")] == ["one"]


def test_the_older_functions_are_tools(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url, file = sqlite_database_url, tmp_path / "a.json"
    function = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    body = {"messages": [{"role": "user", "content": "x"}], "functions": [function], "split": 1}
    file.write_text(json.dumps(body))
    told = turnkeep(url, "import", file)
    assert "Not stored: 1 members 'split'." in told.out
    request = json.loads(replayed(url, "a", "openai"))["request"]
    assert request["tools"][0]["function"]["name"] == "f"


def test_tools_that_cannot_be_used_are_named(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    file = tmp_path / "a.json"
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "string"}}}]
    file.write_text(json.dumps({"messages": [{"role": "user", "content": "x"}], "tools": tools}))
    assert "Not stored: 1 tools 'f' (" in turnkeep(sqlite_database_url, "import", file).out


@pytest.mark.parametrize(
    ("name", "value", "must"),
    [
        ("title", 5, "`title` must be a string, not a number."),
        ("metadata", [1], "`metadata` must be an object, not a list."),
        ("model", {}, "`model` must be a string, not an object."),
    ],
)
def test_a_wrong_title_is_told_and_its_line_not_stored(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, name: str, value: Any, must: str
) -> None:
    said = [{"role": "user", "content": "x"}]
    wrong = {"conversation_id": "a", "messages": said, name: value}
    empty = {"conversation_id": "b", "messages": said, name: None}
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (wrong, empty)))
    told = turnkeep(sqlite_database_url, "import", file)
    assert (told.code, f"t.jsonl:1: {must}" in told.err) == (1, True), told.err
    assert told.out.startswith("1 conversations, 1 turns stored")
    assert spoken(sqlite_database_url, "b") == [("human", "x")]
