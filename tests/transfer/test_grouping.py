"""Lines and messages that say which conversation they belong to; nothing is ever mixed."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.transfer.conftest import Run, spoken, stored


def written(path: Path, lines: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def said(words: str, **beside: Any) -> dict[str, Any]:
    return {**beside, "role": "user", "content": words}


def words(url: str, cid: str) -> list[str]:
    return [text for _, text in spoken(url, cid)]


def conversations(url: str, turnkeep: Run) -> list[str]:
    lines = turnkeep(url, "export", "--all").out.splitlines()
    return [json.loads(line)["conversation_id"] for line in lines]


@pytest.mark.parametrize("field", ["conversation_id", "session", "session_id", "sessionId"])
def test_messages_on_lines_go_to_the_conversation_they_name_in_order(
    database_url: str, turnkeep: Run, tmp_path: Path, field: str
) -> None:
    url = database_url
    lines = [said(f"{name} {n}", **{field: name}) for n in range(3) for name in ("s-1", "s-2")]
    file = written(tmp_path / "log.jsonl", lines)
    told = turnkeep(url, "import", file)
    assert (told.code, told.err) == (0, "")
    assert told.out == "2 conversations, 6 turns stored, 0 already there.\n"
    assert words(url, "s-1") == ["s-1 0", "s-1 1", "s-1 2"]
    assert words(url, "s-2") == ["s-2 0", "s-2 1", "s-2 2"]
    # What the file said is kept, and the name is no part of the message.
    assert stored(url, "s-2")[0]["payload"] == lines[1]
    assert turnkeep(url, "import", file).out == (
        "2 conversations, 0 turns stored, 6 already there.\n"
    )


def test_calls_of_two_conversations_that_share_ids_keep_their_own_results(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    """In one conversation the second result would answer the newest call of that id."""
    url = sqlite_database_url
    call = {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    lines: list[Any] = [
        {"session": name, "role": "assistant", "content": None, "tool_calls": [call]}
        for name in ("a", "b")
    ]
    lines += [
        {"session": name, "role": "tool", "tool_call_id": "call_0", "content": f"for {name}"}
        for name in ("a", "b")
    ]
    assert turnkeep(url, "import", written(tmp_path / "log.jsonl", lines)).code == 0
    assert [words(url, name)[-1] for name in ("a", "b")] == ["=for a", "=for b"]


def test_lists_on_lines_are_named_by_their_line(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url = sqlite_database_url
    lines = [
        {"session": "a", "messages": [said("one")]},
        {"sessionId": "b", "type": "chat", "messages": [said("two")]},
        {"conversation_id": 7, "session": "x", "messages": [said("three")]},
        {"messages": [said("four")]},
    ]
    told = turnkeep(url, "import", written(tmp_path / "log.jsonl", lines))
    assert told.code == 0
    assert conversations(url, turnkeep) == ["7", "a", "b", "log-4"]
    assert words(url, "log-4") == ["four"]


def test_a_list_whose_messages_name_conversations_is_parted(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url = sqlite_database_url
    file = tmp_path / "all.json"
    file.write_text(json.dumps([said("1", session="a"), said("2", session="b")], indent=1))
    assert turnkeep(url, "import", file).code == 0
    assert (words(url, "a"), words(url, "b")) == (["1"], ["2"])
    lines: list[Any] = [{"messages": [said("3", session="c"), said("4")]}]
    told = turnkeep(url, "import", written(tmp_path / "torn.jsonl", lines))
    assert told.code == 1
    assert "torn.jsonl:1: Message 2: `session` is required" in told.err
    assert conversations(url, turnkeep) == ["a", "b"]


def test_a_line_without_the_name_that_others_have_is_a_problem_and_goes_nowhere(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url = sqlite_database_url
    lines = [said("1", session="a"), said("2"), said("3", session=None), said("4", session="a")]
    told = turnkeep(url, "import", written(tmp_path / "log.jsonl", lines))
    assert told.code == 1
    assert "log.jsonl:2: `session` is required: it says which conversation" in told.err
    assert "log.jsonl:3: `session` is required" in told.err
    assert conversations(url, turnkeep) == ["a"]
    assert words(url, "a") == ["1", "4"]


@pytest.mark.parametrize("value", [{}, ["a"], True, "", 1.5])
def test_a_name_that_is_none_is_a_problem(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, value: Any
) -> None:
    url = sqlite_database_url
    lines = [said("1", session="a"), said("2", session=value)]
    told = turnkeep(url, "import", written(tmp_path / "log.jsonl", lines))
    assert (told.code, "log.jsonl:2: `session` must be a string" in told.err) == (1, True)
    assert conversations(url, turnkeep) == ["a"]


@pytest.mark.parametrize(
    ("field", "lines"),
    [
        ("thread", [said("1", thread="a", session="x"), said("2", thread="b", session="x")]),
        ("meta.thread", [said("1", meta={"thread": "a"}), said("2", meta={"thread": "b"})]),
        ("meta.thread", [said("1", **{"meta.thread": "a"}), said("2", **{"meta.thread": "b"})]),
        ("thread", [{"thread": "a", "messages": [said("1")]}, [said("2", thread="b")]]),
        (
            "of.thread",
            [{"of": {"thread": "a"}, "messages": [said("1")]}, [said("2", of={"thread": "b"})]],
        ),
    ],
)
def test_the_member_that_names_conversations_can_be_said(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, field: str, lines: Sequence[Any]
) -> None:
    url, file = sqlite_database_url, written(tmp_path / "log.jsonl", lines)
    told = turnkeep(url, "import", "--group-by", field, file)
    assert told.code == 0, told.err
    assert (words(url, "a"), words(url, "b")) == (["1"], ["2"])


@pytest.mark.parametrize(
    "line", [said("2", session="a"), {"session": "a", "messages": [said("2")]}, {"turns": []}]
)
def test_what_was_asked_for_must_be_there(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, line: Any
) -> None:
    url = sqlite_database_url
    told = turnkeep(url, "import", "--group-by", "thread", written(tmp_path / "log.jsonl", [line]))
    assert (told.code, "log.jsonl:1: " in told.err) == (1, True)
    assert conversations(url, turnkeep) == []


def test_one_given_id_takes_one_conversation_of_a_file(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url = sqlite_database_url
    file = written(tmp_path / "log.jsonl", [said("1", session="a"), said("2", session="b")])
    told = turnkeep(url, "import", file, "--conversation", "c")
    assert told.code == 1
    assert "log.jsonl:2: --conversation names one history" in told.err
    assert words(url, "c") == ["1"]


def test_sessions_of_programs_are_not_grouped(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    line = {"type": "user", "sessionId": "s", "uuid": "u", "message": said("x")}
    file = written(tmp_path / "s.jsonl", [line])
    told = turnkeep(sqlite_database_url, "import", file, "--group-by", "sessionId")
    assert (told.code, "--group-by is not for sessions" in told.err) == (1, True)
    assert conversations(sqlite_database_url, turnkeep) == []


@pytest.mark.parametrize(
    "beside",
    [
        {"id": "m1", "timestamp": "2026-01-01"},
        {"type": "message", "sessionId": "a"},
        {"type": "user", "sessionId": "a"},
    ],
)
def test_messages_with_the_members_of_program_sessions_are_messages(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path, beside: dict[str, str]
) -> None:
    file = written(tmp_path / "a.jsonl", [said("hello", **beside)])
    assert turnkeep(sqlite_database_url, "import", file).out.startswith("1 conversations")
    assert words(sqlite_database_url, "a") == ["hello"]


def test_names_that_cannot_be_ids_stay_apart(
    sqlite_database_url: str, turnkeep: Run, tmp_path: Path
) -> None:
    url = sqlite_database_url
    long = "x" * 128
    lines = [said(name, session=name) for name in ("a/b", "a b", long, long + "y")]
    assert turnkeep(url, "import", written(tmp_path / "log.jsonl", lines)).code == 0
    found = conversations(url, turnkeep)
    assert len(found) == 4
    assert long in found
