"""A damaged row of an API key takes nobody down but the key itself."""

from types import SimpleNamespace

import pytest
from sqlalchemy import Column

from app.cli import main
from app.core.access import ApiKey
from app.service.apikeys import made
from app.storage import apikeys
from app.storage.database import Database, all_tenants
from app.storage.tables import api_keys
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
}
DAMAGE = [(column, value) for column, values in WRONG.items() for value in values]


def keys_in(url: str) -> tuple[tuple[ApiKey, str], tuple[ApiKey, str]]:
    """Two keys: one to be damaged, and another."""
    two = made("acme", "bad", ["read"]), made("default", "good", ["read"])
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
