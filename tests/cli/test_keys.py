"""`turnkeep keys`, and `turnkeep serve` where others could reach it."""

import json
import stat
from pathlib import Path

import pytest

from app.cli import main
from app.database.database import Database
from app.model.api_keys import read
from tests.database.specimens import append
from tests.postgres import connected


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TURNKEEP_DATABASE_URL", database_url)
    return database_url


def test_a_key_is_shown_once_and_only_its_hash_is_stored(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keys", "create", "laptop", "--scopes", "read,admin", "--expires-in", "90d"]) == 0
    text = capsys.readouterr().out.strip()
    found = read(text)
    assert found
    with Database(url) as database:
        [key] = database.ask_keys_now(lambda keys: keys.every())
    assert (key.id, key.scopes, key.tenant_id) == (found[0], ("read", "admin"), "default")
    assert key.has(found[1])
    assert main(["keys", "list"]) == 0
    listed = capsys.readouterr().out
    assert "laptop" in listed
    assert found[1] not in listed


def test_a_revoked_key_is_listed_as_such(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["keys", "create"])
    key_id = capsys.readouterr().out.split("_")[1]
    assert main(["keys", "revoke", key_id]) == 0
    assert main(["keys", "revoke", key_id]) == 1
    assert "no valid key" in capsys.readouterr().err
    main(["keys", "list"])
    assert "revoked" in capsys.readouterr().out


def test_the_first_key_goes_to_a_file_that_only_its_owner_reads(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "first-key"
    first = ["keys", "create", "--if-none", "--output", str(file)]
    assert main(first) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    written = file.read_text()
    assert read(written.strip())
    assert written.strip() not in capsys.readouterr().out
    assert main(first) == 0
    assert file.read_text() == written
    # A file that is there is never written over, and no key is made that nobody can see.
    assert main(["keys", "create", "--output", str(file)]) == 2
    with Database(url) as database:
        assert len(database.ask_keys_now(lambda keys: keys.every())) == 1


@pytest.mark.parametrize("held", [f"tk_{'0' * 12}_{'a' * 43}\n", ""], ids=["a key", "nothing"])
def test_a_first_key_that_no_database_knows_is_moved_aside(
    url: str, held: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A volume may outlive its database, and a start may be ended in the middle."""
    file = tmp_path / "first-key"
    file.write_text(held)
    first = ["keys", "create", "--if-none", "--output", str(file)]
    assert main(first) == 0
    assert "first-key.old" in capsys.readouterr().err
    assert (tmp_path / "first-key.old").read_text() == held
    found = read(file.read_text().strip())
    assert found
    with Database(url) as database:
        [key] = database.ask_keys_now(lambda keys: keys.every())
    assert (key.id, key.has(found[1])) == (found[0], True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_holds_something_else_is_not_moved(url: str, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_bytes(b"notes \xff")
    assert main(["keys", "create", "--if-none", "--output", str(file)]) == 2
    assert [one.name for one in tmp_path.iterdir() if "notes" in one.name] == ["notes"]
    assert file.read_bytes() == b"notes \xff"


WRONG = [
    (["--scopes", "read,all"], "read, write, admin"),
    (["--expires-in", "soon"], "30m"),
    (["--requests", "0"], "from 1 on"),
    (["--requests", "01"], "from 1 on"),
    (["--body-bytes", "1" + 15 * "0"], "from 1 on"),
    (["--prefix", "a/b"], "beginning of a conversation id"),
    (["--tenant", "a b"], "name of a tenant"),
]


@pytest.mark.parametrize(("flags", "said"), WRONG)
def test_what_cannot_be_meant_is_told(
    url: str, flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["keys", "create", *flags])
    except SystemExit as end:
        code = int(str(end.code))
    assert code == 2
    assert said in capsys.readouterr().err


def test_without_a_key_nobody_else_is_served(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "0.0.0.0", "--port", "0"]) == 1
    assert "turnkeep keys create" in capsys.readouterr().err


def test_only_postgresql_knows_roles(
    sqlite_database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--grant", "serving", "--database-url", sqlite_database_url]
    assert main(["migrate", *flags]) == 2
    assert "PostgreSQL" in capsys.readouterr().err


def test_a_role_that_does_not_exist_is_told(
    postgres_database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--grant", 'no "such" role', "--database-url", postgres_database_url]
    assert main(["migrate", *flags]) == 2
    assert "does not exist" in capsys.readouterr().err
    with connected(postgres_database_url) as connection:
        assert connection.execute("SELECT count(*) FROM conversations").fetchone() == (0,)


def test_verify_looks_at_all_tenants(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["keys", "create", "--tenant", "acme"])
    with Database(url) as database:
        database.write_now(append("c"))
        database.of("acme").write_now(append("theirs"))
    capsys.readouterr()
    # What the specimens store has no chain.
    assert main(["verify"]) == 1
    told = capsys.readouterr()
    assert [line.partition(":")[0] for line in told.out.splitlines()] == ["acme theirs", "c"]
    assert main(["verify", "--tenant", "acme"]) == 1
    assert capsys.readouterr().out.startswith("acme theirs:")


def test_keys_are_listed_for_programs_without_their_secrets(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["keys", "create", "one", "--prefix", "team-", "--requests", "5"])
    text = capsys.readouterr().out.strip()
    main(["keys", "create", "two"])
    main(["keys", "revoke", capsys.readouterr().out.split("_")[1]])
    capsys.readouterr()
    assert main(["keys", "list", "--json"]) == 0
    out = capsys.readouterr().out
    one, two = sorted(map(json.loads, out.splitlines()), key=lambda key: key["name"])
    assert (one["state"], one["prefix"], one["requests"]) == ("valid", "team-", 5)
    assert (two["state"], two["scopes"]) == ("revoked", ["read", "write"])
    assert text.split("_", 2)[2] not in out


def test_who_makes_the_first_key_is_told_what_it_means(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["keys", "create"])
    assert "every request to the service needs one" in capsys.readouterr().err
    main(["keys", "create"])
    assert capsys.readouterr().err == ""
