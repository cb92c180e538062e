"""A change behind the service's back is found, and says where."""

from typing import Any

import pytest
import zstandard
from sqlalchemy import create_engine, text

from app.database.database import engine_url
from app.model import ids
from tests.http_api import Api, answering, calling, user


def tamper(database_url: str, statement: str, **values: Any) -> None:
    engine = create_engine(engine_url(database_url))
    with engine.begin() as connection:
        done = connection.execute(text(statement), values)
        assert done.rowcount > 0
    engine.dispose()


@pytest.fixture
def told(api: Api) -> Api:
    api.post(user("one"), calling(("a", "f", "{}"), ("b", "g", "{}")))
    api.post(answering("a", "1"), answering("nobody", "2"), user("end"))
    assert api.get("verify").json() == {
        "ok": True,
        "checked": {"turns": 5, "tool_calls": 2, "provider_ids": 4},
        "problems": [],
    }
    return api


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE turns SET payload = :empty WHERE seq = 1", "HASH_MISMATCH"),
        ("UPDATE turns SET blocks = :empty WHERE seq = 2", "HASH_MISMATCH"),
        ("UPDATE turns SET model = :empty WHERE seq = 3", "HASH_MISMATCH"),
        ("UPDATE turns SET blocks = :broken WHERE seq = 1", "TURN_UNREADABLE"),
        ("DELETE FROM turns WHERE seq = 3", "SEQ_GAP"),
        ("DELETE FROM turns WHERE seq = 5", "HEAD_MISMATCH"),
        ("UPDATE conversations SET version = 9", "HEAD_MISMATCH"),
        ("UPDATE conversations SET orphans = 0", "ORPHANS_MISMATCH"),
        ("UPDATE conversations SET open_calls = 7", "OPEN_CALLS_MISMATCH"),
        ("DELETE FROM provider_ids WHERE target = 'kimi'", "PROVIDER_ID_MISMATCH"),
        ("UPDATE tool_calls SET seq = 1 WHERE call_index = 0", "CALL_DIFFERS"),
        ("UPDATE tool_results SET matched_by = 'name' WHERE seq = 3", "RESULT_DIFFERS"),
        ("DELETE FROM tool_results WHERE seq = 3", "RESULT_DIFFERS"),
    ],
)
def test_a_change_is_found(told: Api, database_url: str, statement: str, code: str) -> None:
    values = {"empty": b"[]", "broken": b"\xff["}
    used = {name: value for name, value in values.items() if f":{name}" in statement}
    tamper(database_url, statement, **used)
    report = told.get("verify").json()
    assert not report["ok"]
    assert code in {problem["code"] for problem in report["problems"]}


def test_two_turns_that_changed_places_are_found(told: Api, database_url: str) -> None:
    for old, new in ((1, 100), (4, 1), (100, 4)):
        tamper(database_url, "UPDATE turns SET seq = :new WHERE seq = :old", old=old, new=new)
    assert not told.get("verify").json()["ok"]


def test_forged_ids_make_no_false_alarm(api: Api) -> None:
    """Whoever posts the ids first that a call would get makes it get another one."""
    forged = [
        ids.canonical_id("openai", "call_x", "f", "victim" + "~" * number, 0)
        for number in range(12)
    ]
    api.post(calling(*((one, "g", "{}") for one in forged)))
    assert api.post(calling(("call_x", "f", "{}")), turn_id="victim").status_code == 201
    assert api.get("verify").json()["problems"] == []


def test_an_unreadable_turn_is_quarantined_and_the_rest_is_served(
    told: Api, database_url: str
) -> None:
    tamper(database_url, "UPDATE turns SET blocks = :broken WHERE seq = 1", broken=b"\xff[")
    answer = told.replay("anthropic")
    assert "TURN_QUARANTINED" in {repair["code"] for repair in answer["repairs"]}
    assert "end" in str(answer["request"])
    assert told.get("turns", raw=True).json()["data"][0]["quarantined"] is True


def test_one_damaged_turn_is_reported_and_the_others_are_served(
    api: Api, database_url: str
) -> None:
    said = " ".join(f"word{number}" for number in range(300))
    api.post(user(said), calling(("a", "f", "{}")), answering("a", said), user("end"))
    # The beginning of a frame, and then something else.
    broken = zstandard.compress(said.encode())[:20] + b"\xff" * 64
    tamper(database_url, "UPDATE turns SET blocks = :broken WHERE seq = 1", broken=broken)
    problems = api.get("verify").json()["problems"]
    assert {problem["code"] for problem in problems} == {"HASH_MISMATCH", "TURN_UNREADABLE"}
    assert len({problem["turn_id"] for problem in problems}) == 1
    answer = api.replay("anthropic")
    assert "TURN_QUARANTINED" in {repair["code"] for repair in answer["repairs"]}
    assert said in str(answer["request"])
    assert [one.get("quarantined") for one in api.get("turns", raw=True).json()["data"]] == [
        *(True, None, None, None),
    ]


def test_a_match_by_position_that_older_rules_made_is_no_fault(api: Api, database_url: str) -> None:
    """Before, a result without id went to the newest turn with an open call, whatever its name."""
    api.post(user("q"), calling((None, "grep", "{}")), user("wait"), calling((None, "read", "{}")))
    api.post({"role": "tool", "name": "grep", "content": "found"}, user("end"))
    grep, read = api.get("tool-calls", order="asc").json()["data"]
    assert grep["result"]["matched_by"] == "name"
    tamper(database_url, "UPDATE tool_results SET matched_by = 'position'")
    assert not api.get("verify").json()["ok"]
    tamper(database_url, "UPDATE tool_results SET call_id = :id", id=read["id"])
    for call, answered in ((grep, False), (read, True)):
        statement = "UPDATE tool_calls SET answered = :answered WHERE call_id = :id"
        tamper(database_url, statement, id=call["id"], answered=answered)
    assert api.get("verify").json()["problems"] == []
