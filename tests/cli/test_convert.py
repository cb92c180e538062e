"""`turnkeep convert`: what the HTTP interface answers, for files and pipes."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.formats.registry import TARGETS
from app.main import create_app
from app.settings import Settings
from tests.tools.shapes import RICH, Said, written

READ = Said("read", "Reads a file.", RICH)
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "look"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        ],
    },
]


class Ran(NamedTuple):
    code: int
    out: str
    said: str

    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Runs the command in this process, with an input and without a database."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *args: str, given: Any = "") -> Ran:
        text = given if isinstance(given, bytes | str) else json.dumps(given)
        content = text.encode() if isinstance(text, str) else text
        self._monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        code = main(["convert", *args])
        return Ran(code, *self._capsys.readouterr())


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture
def http(sqlite_database_url: str) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(database_url=sqlite_database_url))) as http:
        yield http


def ways(source: str, target: str) -> list[str]:
    return ["--from", source, "--to", target]


@pytest.mark.parametrize("target", TARGETS)
def test_the_answers_are_those_of_the_interface(
    shell: Shell, http: TestClient, target: str
) -> None:
    for kind, body in (
        ("messages", {"from": "openai", "to": target, "messages": HISTORY}),
        ("tools", {"from": "anthropic", "to": target, "tools": written("anthropic", READ)}),
    ):
        ran = shell(kind, given=body)
        assert (ran.code, ran.json()) == (0, http.post(f"/v1/convert/{kind}", json=body).json())


def test_a_bare_list_of_messages_is_enough(shell: Shell) -> None:
    ran = shell("messages", *ways("openai", "anthropic"), given=HISTORY)
    assert [one["role"] for one in ran.json()["request"]["messages"]] == [
        "user",
        "assistant",
        "user",
    ]
    assert "SYNTH_RESULT (1): " in ran.said


def test_a_whole_request_is_converted_with_its_system_text_and_tools(shell: Shell) -> None:
    request = {
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": written("anthropic", READ),
        "tool_choice": {"type": "any"},
    }
    shown = shell("messages", *ways("anthropic", "openai"), given=request).json()["request"]
    assert shown["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (len(shown["tools"]), shown["tool_choice"]) == (1, "required")


@pytest.mark.parametrize("source", TARGETS)
def test_bare_definitions_are_enough(shell: Shell, source: str) -> None:
    ran = shell("tools", *ways(source, "openai"), given=written(source, READ))
    assert [one["function"]["name"] for one in ran.json()["tools"]] == ["read"]


@pytest.mark.parametrize(
    ("source", "request_"),
    [
        ("openai", {"model": "m", "messages": HISTORY, "tool_choice": "required"}),
        ("gemini", {"contents": [], "toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
        ("vercel", {"messages": [], "toolChoice": "required"}),
    ],
)
def test_the_tools_of_a_whole_request_are_found(
    shell: Shell, source: str, request_: dict[str, Any]
) -> None:
    given = request_ | {"tools": written(source, READ)}
    answer = shell("tools", *ways(source, "anthropic"), given=given).json()
    assert (answer["tools"][0]["name"], answer["tool_choice"]) == ("read", {"type": "any"})


def test_the_tool_config_of_bedrock_is_found(shell: Shell) -> None:
    config = {"tools": written("bedrock", READ), "toolChoice": {"any": {}}}
    for given in ({"toolConfig": config, "messages": []}, config):
        answer = shell("tools", *ways("bedrock", "openai"), given=given).json()
        assert (len(answer["tools"]), answer["tool_choice"]) == (1, "required")


def test_flags_win_over_the_body(shell: Shell) -> None:
    body = {"from": "anthropic", "to": "openai", "tools": written("anthropic", READ)}
    kept = shell("tools", "--required", "keep", "--to", "bedrock", given=body).json()
    assert "toolSpec" in kept["tools"][0]
    assert kept["notes"] == []


def test_a_request_can_be_asked_for_that_is_ready(shell: Shell) -> None:
    history = [HISTORY[0], {"role": "assistant", "content": "nothing here"}]
    shown, ready = (
        shell("messages", *ways("openai", "mistral"), *flags, given=history)
        for flags in ([], ["--ready"])
    )
    assert "prefix" not in shown.json()["request"]["messages"][-1]
    assert ready.json()["request"]["messages"][-1]["prefix"] is True
    assert "MARKED_AS_PREFIX (1)" in ready.said


def test_what_is_left_out_is_told_on_standard_error(shell: Shell) -> None:
    tools = [{"name": "a\nb", "input_schema": 7}, *written("anthropic", READ)]
    ran = shell("tools", *ways("anthropic", "openai"), given=tools)
    assert ran.code == 0
    first, second = ran.said.splitlines()
    assert first == "turnkeep: tool 0 'a\\nb' is left out: the schema is not a JSON object"
    assert second.startswith("turnkeep: REQUIRED_FILTERED (1): properties that are optional")


@pytest.mark.parametrize(
    ("args", "given", "words"),
    [
        (["messages", *ways("openai", "eliza")], [], "/to: "),
        (["messages", *ways("eliza", "openai")], [], "/from: "),
        (["messages"], [], "/from: "),
        (["messages", *ways("openai", "kimi")], [{"role": "usr"}], "/messages/0/role: "),
        (["messages", *ways("openai", "kimi")], {"messages": [], "a\n": 1}, "/a\\n: "),
        (["messages", *ways("openai", "kimi"), "--reasoning", "x"], HISTORY, "/reasoning: "),
        (["messages", *ways("openai", "kimi")], "[", "line 1"),
        (["messages", *ways("openai", "kimi")], "", "line 1"),
        (["messages", *ways("openai", "kimi")], b"\xff", "not UTF-8"),
        (["tools", *ways("openai", "kimi")], 7, "/tools: "),
        (["tools", *ways("openai", "kimi"), "--required", "x"], [], "/required: "),
        (["tools", *ways("openai", "kimi"), "--strict"], [{}], "/tools/0: "),
        (["tools", *ways("vercel", "kimi"), "--strict"], {"a": 7}, "/tools/a: "),
        (["tools", *ways("openai", "kimi")], [{}] * 1_001, "/tools: The limit tools"),
        (["tools", *ways("openai", "kimi"), "/absent.json"], "", "/absent.json cannot be read"),
        (["tool-id", "--to", "eliza", "x"], "", "/to: "),
    ],
)
def test_a_broken_rule_is_one_line_that_says_where(
    shell: Shell, args: list[str], given: Any, words: str
) -> None:
    ran = shell(*args, given=given)
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.said.splitlines()
    assert line.startswith("turnkeep: ")
    assert words in line


def test_a_file_may_be_named(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(written("openai", READ)))
    assert shell("tools", *ways("openai", "anthropic"), str(file)).json()["dropped"] == []


def test_ids_are_arguments_or_lines(shell: Shell) -> None:
    by_argument = shell("tool-id", "--to", "openai", "toolu_a", "b")
    by_line = shell("tool-id", "--to", "openai", given="toolu_a\r\nb\n")
    assert by_argument.out == by_line.out == '{"id":"call_a"}\n{"id":"call_b"}\n'


def test_the_limit_of_bodies_holds_here_too(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNKEEP_MAX_BODY_BYTES", "10")
    ran = shell("messages", *ways("openai", "kimi"), given=HISTORY)
    assert (ran.code, "body_bytes" in ran.said) == (2, True)


@pytest.mark.parametrize("kind", ["messages", "tools", "tool-id"])
def test_every_kind_explains_itself_with_an_example(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["convert", kind, "--help"])
    assert f"turnkeep convert {kind} --" in capsys.readouterr().out


def test_the_real_command_works_in_a_pipe_and_leaves_no_file(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("turnkeep")
    ran = subprocess.run(
        [command, "convert", "tools", *ways("anthropic", "openai-responses")],
        input=json.dumps(written("anthropic", READ)).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )
    assert json.loads(ran.stdout)["tools"][0]["name"] == "read"
    assert ran.stderr.startswith(b"turnkeep: REQUIRED_FILTERED")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_who_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("".join(f"call_{number}\n" for number in range(50_000)))
    command = Path(sys.executable).with_name("turnkeep")
    pipe = f"{command} convert tool-id --to anthropic < ids | head -n 1"
    ran = subprocess.run(
        ["/bin/sh", "-c", pipe], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (ran.stdout, ran.stderr) == ('{"id":"toolu_0"}\n', "")


def test_the_real_command_refuses_with_status_two(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("turnkeep")
    ran = subprocess.run(
        [command, "convert", "messages", *ways("openai", "anthropic")],
        input=b'[{"role": "user", "content": 7}]',
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"turnkeep: /messages/0/content: ")
    assert ran.stderr.count(b"\n") == 1


def test_the_settings_of_a_whole_request_are_named_in_one_line(shell: Shell) -> None:
    whole = {"model": "m", "messages": HISTORY, "max_tokens": 5, "stream": True}
    ran = shell("messages", "--from", "openai", "--to", "anthropic", given=whole)
    assert ran.code == 0
    assert "SETTINGS_IGNORED (1): " in ran.said
    assert "max_tokens, stream" in ran.said
    plain = {key: whole[key] for key in ("model", "messages")}
    same = shell("messages", "--from", "openai", "--to", "anthropic", given=plain)
    assert ran.json()["request"] == same.json()["request"]


def test_the_settings_beside_tools_are_named_in_one_line(shell: Shell) -> None:
    whole = {"messages": HISTORY, "temperature": 1, "tools": written("openai", READ)}
    ran = shell("tools", "--from", "openai", "--to", "anthropic", given=whole)
    assert ran.code == 0
    assert [line for line in ran.said.splitlines() if "SETTINGS_IGNORED (1): " in line]
    assert len(ran.json()["tools"]) == 1


def test_tools_without_a_description_are_kept_when_asked_for(shell: Shell) -> None:
    bare = written("openai", Said("bare", None, RICH))
    ran = shell("tools", "--from", "openai", "--to", "anthropic", given=bare)
    assert "is left out: the tool has no description" in ran.said
    ran = shell(
        "tools", "--from", "openai", "--to", "anthropic", "--description", "keep", given=bare
    )
    assert [one["name"] for one in ran.json()["tools"]] == ["bare"]
    assert "DESCRIPTION_MISSING (1)" in ran.said
