"""A damaged row of an API key takes nobody down but the key itself."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Column

from app.access import sql as apikeys
from app.access.commands import made
from app.access.sql import ApiKeys
from app.cli import main
from app.database.database import Database, all_tenants
from app.database.tables import api_keys
from app.model.api_keys import ApiKey
from tests.damage.stored import opened, serve

WRONG = {
    "scopes": ["'read wriet'", "''", "x'ff'", "CAST(x'ff41' AS TEXT)"],
    "tenant_id": ["'a tenant'", "x'ff'", "CAST(x'ff41' AS TEXT)"],
    "prefix": ["'a prefix'", "CAST(x'ff41' AS TEXT)"],
    "name": ["CAST(x'ff41' AS TEXT)"],
    "secret_sha256": ["x'ff'", "'text'"],
    "requests": ["-1", "0", "'many'"],
    "body_bytes": ["-1", "'many'"],
    "conversations": ["-1", "x'ff'"],
    **{key: ["'yesterday'", "x'ff'", "7"] for key in ("created_at", "expires_at", "revoked_at")},
    "seal": ["NULL", "'text'", "x'ff'"],
}
DAMAGE = [(column, value) for column, values in WRONG.items() for value in values]


def keys_in(url: str, requests: int | None = None) -> tuple[tuple[ApiKey, str], tuple[ApiKey, str]]:
    """Two keys: one to be damaged, and another."""
    two = made("acme", "bad", ["read"], requests=requests), made("default", "good", ["read"])
    with Database(url) as database:
        database.change_keys(lambda keys: keys.add(two[0][0]))
        database.change_keys(lambda keys: keys.add(two[1][0]))
    return two


def test_every_column_but_the_id_is_damaged_here() -> None:
    columns: list[Column[object]] = list(api_keys.columns)
    assert WRONG.keys() == {column.name for column in columns} - {"key_id"}


@pytest.mark.parametrize(("column", "value"), DAMAGE)
def test_one_damaged_key_is_refused_and_named_and_the_others_hold(
    url: str,
    column: str,
    value: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (bad, bad_text), (good, good_text) = keys_in(url)
    with opened(url) as connection:
        statement = f"UPDATE api_keys SET {column} = {value} WHERE key_id = ?"
        connection.execute(statement, (bad.id,))
    told: list[str] = []
    # Other packages switch loggers off, in whatever test they are loaded.
    log = SimpleNamespace(warning=lambda text, *values: told.append(text % values))
    monkeypatch.setattr(apikeys, "log", log)
    with serve(url) as http:
        for text, status in ((bad_text, 401), (good_text, 200)):
            given = {"Authorization": f"Bearer {text}"}
            assert http.get("/v1/conversations", headers=given).status_code == status
        assert http.get("/readyz").status_code == 200
    assert f"the API key {bad.id} is damaged" in "\n".join(told)
    assert main(["keys", "list", "--database-url", url]) == 0
    lines = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert "damaged" in lines[bad.id]
    assert "valid" in lines[good.id]
    with Database(url) as database:
        assert "default" in database.ask_keys_now(all_tenants)
    assert main(["keys", "revoke", bad.id, "--database-url", url]) == (column == "revoked_at")


CHANGED = {
    "tenant_id": "'other'",
    "name": "x'78'",
    "secret_sha256": "zeroblob(32)",
    "scopes": "'read write admin'",
    "prefix": "'a-'",
    "created_at": "'2026-01-01 00:00:00.000000'",
    "expires_at": "'2099-01-01 00:00:00.000000'",
    "revoked_at": "NULL",
    "requests": "NULL",
    "body_bytes": "7",
    "conversations": "7",
    "seal": "zeroblob(32)",
    "key_id": "'0123456789ab'",
}


def test_every_column_is_changed_here() -> None:
    columns: list[Column[object]] = list(api_keys.columns)
    assert CHANGED.keys() == {column.name for column in columns}


@pytest.mark.parametrize("column", CHANGED)
def test_a_key_that_was_changed_into_another_is_damaged(url: str, column: str) -> None:
    (bad, _), _ = keys_in(url, requests=5)
    now = "0123456789ab" if column == "key_id" else bad.id
    with Database(url) as database:
        if column == "revoked_at":
            assert database.change_keys(lambda keys: keys.revoke(bad.id, datetime.now(UTC)))
        assert not database.ask_keys_now(ApiKeys.damaged)
        with opened(url) as connection:
            statement = f"UPDATE api_keys SET {column} = {CHANGED[column]} WHERE key_id = ?"
            assert connection.execute(statement, (bad.id,)).rowcount == 1
        assert database.ask_keys_now(ApiKeys.damaged) == [now]
        assert database.ask_keys_now(lambda keys: keys.find(now)) is None
        # A revoked key opens nothing, whatever it says: then all is well again.
        assert database.change_keys(lambda keys: keys.revoke(now, datetime.now(UTC)))
        assert not database.ask_keys_now(ApiKeys.damaged)
        found = database.ask_keys_now(lambda keys: keys.find(now))
        assert found is not None
        assert found.revoked_at


def test_a_key_that_was_given_more_is_refused_and_named(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (bad, text), _ = keys_in(url)
    assert main(["verify", "--database-url", url]) == 0
    with opened(url) as connection:
        more = "tenant_id = 'default', scopes = 'read write admin'"
        connection.execute(f"UPDATE api_keys SET {more} WHERE key_id = ?", (bad.id,))
    with serve(url) as http:
        given = {"Authorization": f"Bearer {text}"}
        assert http.get("/v1/conversations", headers=given).status_code == 401
    capsys.readouterr()
    assert main(["verify", "--database-url", url]) == 1
    told = capsys.readouterr()
    assert told.out.startswith(f"the API key {bad.id}: it was changed")
    assert "3 conversations agree, 0 do not. 1 API keys are damaged." in told.err
    assert main(["verify", "--json", "--database-url", url]) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["key_id"] == bad.id
    assert main(["doctor", "--database-url", url]) == 1
    assert bad.id in capsys.readouterr().out


def test_two_keys_that_changed_places_are_found(url: str) -> None:
    (one, _), (other, _) = keys_in(url)
    with opened(url) as connection:
        for old, new in ((one.id, "x"), (other.id, one.id), ("x", other.id)):
            connection.execute("UPDATE api_keys SET key_id = ? WHERE key_id = ?", (new, old))
    with Database(url) as database:
        assert set(database.ask_keys_now(ApiKeys.damaged)) == {one.id, other.id}


def test_a_key_that_is_gone_is_not_missed(url: str) -> None:
    """docs/trust.md lists it."""
    (gone, text), _ = keys_in(url)
    with opened(url) as connection:
        connection.execute("DELETE FROM api_keys WHERE key_id = ?", (gone.id,))
    assert main(["verify", "--database-url", url]) == 0
    with serve(url) as http:
        given = {"Authorization": f"Bearer {text}"}
        assert http.get("/v1/conversations", headers=given).status_code == 401


@pytest.mark.parametrize("limit", ["requests", "body_bytes", "conversations"])
def test_a_key_whose_seal_fits_has_values_that_a_key_can_have(limit: str) -> None:
    """Who writes a row by hand can seal it, too."""
    key, _ = made("acme", "one", ["read"])
    for value, is_sound in ((1, True), (0, False), (-1, False)):
        changed: dict[str, Any] = {limit: value}
        assert replace(key, **changed).is_sound() is is_sound
