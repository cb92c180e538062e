"""A database that an earlier release wrote: this one opens it, and answers with the same bytes.

`releases/` holds the file and what the release itself answered; its script says how both were made.
On PostgreSQL the rows of the migrated file are copied, because a release leaves no file there.
"""

import base64
import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, select

from app.cli import main
from app.database.migrations import upgrade
from app.database.tables import TENANTS_ROWS
from app.jsontext.reading import loads
from app.jsontext.writing import dumps_utf8
from app.main import create_app
from app.settings import Settings
from tests.long import IS_LONG
from tests.migrations.test_migrations import connected

FOLDER = Path(__file__).parent / "releases"
WRITTEN: dict[str, Any] = json.loads((FOLDER / "0.1.0.json").read_text())
ASKED: dict[str, list[str]] = WRITTEN["asked"]
SHARES = 3


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the release, brought to the newest schema."""
    file = tmp_path_factory.mktemp("releases") / "written.db"
    file.write_bytes(gzip.decompress((FOLDER / "0.1.0.db.gz").read_bytes()))
    assert upgrade(f"sqlite:///{file}") == "0014"
    return file


@pytest.fixture
def migrated_file(migrated: Path, tmp_path: Path) -> str:
    """A copy of it."""
    return f"sqlite:///{shutil.copy(migrated, tmp_path)}"


@pytest.fixture(params=["sqlite", "postgres"])
def old_url(request: pytest.FixtureRequest, migrated_file: str) -> str:
    if request.param == "sqlite":
        return migrated_file
    url: str = request.getfixturevalue("postgres_database_url")
    copy(migrated_file, url)
    return url


@pytest.fixture
def http(old_url: str) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(database_url=old_url))) as http:
        yield http


def copy(source: str, target: str) -> None:
    """All rows of one database into another one."""
    with connected(source) as old, connected(target) as new:
        for table in TENANTS_ROWS:
            rows = [dict(row) for row in old.execute(select(table)).mappings()]
            if table.name == "search_texts":
                rows = [row | {"words": row["words"].split(), "number": None} for row in rows]
            if rows:
                new.execute(insert(table), rows)


# Members that came later.
_TEXT = rb'"(?:[^"\\]|\\.)*"'
ADDED = re.compile(
    rb',"(?:open_calls":[0-9]+|hash_input":(?:null|%b)|model":%b(?=,"request":))' % (_TEXT, _TEXT)
)


# What 0.1.0 left out of replays for the provider that had issued it, and what the request is now
# that it goes back: the sha256 of the request, as a value.
RETURNED = {
    "golden-mistral/replay?provider=mistral": (
        "a document_url chunk of the user",
        "8e5b8bee7a603ed4d34b830916efcaf0a256c7c9c551022d506913f78488766d",
    ),
    "golden-openai-responses/replay?provider=openai-responses": (
        "mcp_list_tools",
        "8e1eefdbaa1372f7723673fa03e2d098789c004cd4438d2ec6249c959b67b44c",
    ),
    "responses-bedrock/replay?provider=bedrock": (
        "an image of the model, instead of the words that it is left out",
        "026251f648a4ef9b764d6ac53e68b547ec1a4344a40e6f5913331f2f97251cdd",
    ),
    "streams-bedrock/replay?provider=bedrock": (
        "images of the model, and the calls and results of a tool that Bedrock runs",
        "cc49f0ab71df5a267ea421f515d2892329f5a7b0199d9195986a5b1b26b48e00",
    ),
    "streams-gemini/replay?provider=gemini": (
        "nothing, but another reason why an image is left out: no GIF, instead of none here",
        "21718ec7d835e522e8acaa193b244d6d6ed7ff6afdf0db8ed7af725c4ddea7c2",
    ),
    "streams-mistral/replay?provider=mistral": (
        "reference chunks, so that texts are a list of chunks",
        "fcdf781519caf4090ae15ee7cbab511ec96d523a87a6622a78789d000bc73a13",
    ),
    "streams-openai-responses/replay?provider=openai-responses": (
        "mcp_call",
        "d00087fdee08d3a65328bff314dabae402b8d1b7545d66013894fd6592f985b8",
    ),
}
# The same for turns that are posted to this release: all their members go back.
RETURNED_LATER = {
    "orphans/replay?provider=openai": (
        "content: null, which was an empty text",
        "4956402c556e5a6ac904ec2af9a11bd4bbcb8a68d03d2f8065124c6bd57f249e",
    ),
}
# The same for the database that was written at revision 0014.
RETURNED_0014 = {
    "responses-openai-responses/replay?provider=openai-responses": (
        "mcp_call",
        "f8e1840020c3529db4c2b3718fcf388e16bf0f7c48821ad672b63bdb2b8137e3",
    ),
    "streams-bedrock/replay?provider=bedrock": (
        "images of the model, and the calls and results of a tool that Bedrock runs",
        "589ce7defb1191aabbbeb19bac62bd36da4249a916f24dc59415f13f938ba826",
    ),
    "streams-gemini/replay?provider=gemini": (
        "nothing, but another reason why an image is left out: no GIF, instead of none here",
        "07b384fc44908ee7e086abf79278cdb1c97da3a7f98dd374af493b8309214ea1",
    ),
    "streams-mistral/replay?provider=mistral": (
        "reference chunks, so that texts are a list of chunks",
        "d6b706c9f10fe1aceab23afde22d7025e5a97f199461666ac1971eb148538992",
    ),
    "streams-openai-responses/replay?provider=openai-responses": (
        "mcp_call",
        "9935680d9e8188e080b95b4adb4f0d93dd66ba8d9e1cb237f132257604b6ec3e",
    ),
}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def request_sha256(answer: bytes) -> str:
    """Of the request alone, with its numbers as they are written."""
    request = json.loads(answer, parse_float=str, parse_int=str)["request"]
    return sha256(json.dumps(request).encode())


def differing(
    http: TestClient, asked: dict[str, list[str]], returned: dict[str, tuple[str, str]]
) -> list[str]:
    """The paths that are answered with other bytes now, but for members that 0.1.0 did not send.

    0.1.0 reported repairs at other places (an id that is used again at its first use), and wrote a
    whole body in ASCII where one message holds a lone surrogate. So of a replay with repairs or
    lone surrogates the request alone must be the same, and that as a value. `returned` has the
    requests in which more goes back to its provider.
    """
    told = []
    for path, expected in asked.items():
        answer = http.get(path)
        assert answer.status_code == 200, (path, answer.text)
        without = ADDED.sub(b"", answer.content)
        same = expected[0] in (sha256(without), sha256(answer.content))
        if "/replay?" in path:
            request = request_sha256(answer.content)
            same = same or bool(answer.json()["repairs"]) or b"\\ud" in answer.content
            # 0.1.0 showed the reasoning of all models, where none was named.
            same = same and (request == expected[1] or b'"MODEL_CHANGED"' in answer.content)
            if found := returned.get(path.removeprefix("/v1/conversations/")):
                same = request == found[1]
        if not same:
            told.append(path)
    return told


# In shares, so that all processes have their part.
@pytest.mark.parametrize("share", range(SHARES))
def test_it_answers_with_the_same_bytes(migrated_file: str, share: int) -> None:
    paths = sorted(ASKED)[share::SHARES]
    with TestClient(create_app(Settings(database_url=migrated_file))) as http:
        assert differing(http, {path: ASKED[path] for path in paths}, RETURNED) == []


def test_a_database_written_at_revision_0014_answers_with_the_same_bytes(tmp_path: Path) -> None:
    """The newest schema before `originals`: its turns are compressed, and nothing was filled in."""
    file = tmp_path / "written.db"
    file.write_bytes(gzip.decompress((FOLDER / "0014.db.gz").read_bytes()))
    assert upgrade(f"sqlite:///{file}") == "0014"
    asked: dict[str, list[str]] = json.loads((FOLDER / "0014.json").read_text())["asked"]
    with TestClient(create_app(Settings(database_url=f"sqlite:///{file}"))) as http:
        assert differing(http, asked, RETURNED_0014) == []


@pytest.mark.parametrize("old_url", ["postgres"], indirect=True)
def test_it_answers_with_the_same_bytes_on_postgres(http: TestClient) -> None:
    """The rows are copies: every seventh question shows it, and all where there is time."""
    step = 1 if IS_LONG else 7
    assert differing(http, {path: ASKED[path] for path in sorted(ASKED)[::step]}, RETURNED) == []


def test_it_verifies(http: TestClient) -> None:
    for path in ASKED:
        if path.endswith("/verify"):
            report = http.get(path).json()
            codes = {problem["code"] for problem in report["problems"]}
            assert codes == (
                {"HASH_MISMATCH", "TURN_UNREADABLE"} if "quarantined" in path else set()
            )


def test_it_goes_on_as_the_release_did(http: TestClient) -> None:
    """Retries under keys and turn ids, completes a turn, adopts orphans, appends."""
    for sent in WRITTEN["later"]:
        body = base64.b64decode(sent["body"])
        answer = http.request(sent["method"], sent["path"], content=body, headers=sent["headers"])
        assert (answer.status_code, sha256(answer.content)) == (sent["status"], sent["sha256"]), (
            sent["path"],
            answer.text,
        )
    assert differing(http, WRITTEN["asked_later"], RETURNED_LATER) == []


def test_it_is_exported_with_the_same_bytes(old_url: str, tmp_path: Path) -> None:
    # Only the neutral one: the others are replays, and hold repairs.
    file = tmp_path / "all.jsonl"
    main(["export", "--all", "--output", str(file), "--database-url", old_url])
    lines = file.read_bytes().splitlines()
    assert sha256(b"".join(map(_as_the_release, lines))) == WRITTEN["exported"]["neutral"]


def _as_the_release(line: bytes) -> bytes:
    """A line without what the release did not write: its checksum, earlier versions of turns, the
    formats in which turns were posted."""
    value: Any = loads(line.decode())
    del value["sha256"]
    for turn in value["turns"]:
        turn.pop("earlier", None)
        turn.pop("format", None)
    return dumps_utf8(value) + b"\n"


def test_it_holds_what_there_is_to_hold(migrated_file: str) -> None:
    """No table is empty, and each kind of turn, result and block is there."""
    with connected(migrated_file) as connection:
        for table in TENANTS_ROWS:
            assert connection.execute(select(table).limit(1)).all(), table.name
        query = "SELECT DISTINCT speaker || ' ' || status FROM turns"
        assert set(connection.exec_driver_sql(query).scalars()) == {
            *("human complete", "ai complete", "ai interrupted"),
            *("tool complete", "system complete", "note complete"),
        }
        query = "SELECT DISTINCT matched_by FROM tool_results"
        assert set(connection.exec_driver_sql(query).scalars()) == {
            *("canonical", "raw", "provider_id", "normalized", "name", "position", "none"),
        }
        blocks = b"".join(connection.exec_driver_sql("SELECT blocks FROM turns").scalars())
    for kind in ("text", "image", "file", "thinking", "tool_call", "tool_result", "opaque"):
        assert b'"type":"%s"' % kind.encode() in blocks, kind
