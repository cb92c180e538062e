"""A clock that is set back does no harm: the order of turns is that of their seq, not of time."""

from datetime import UTC, datetime, timedelta

import pytest

from app.database import groups
from tests.http_api import Api, answering, calling, user


class Back(datetime):
    """The time of an hour ago."""

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        return datetime.now(UTC) - timedelta(hours=1)


def test_a_clock_that_is_set_back_an_hour_changes_no_order(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Idempotency-Key": "k"}
    first = api.post(user("one"), calling(("call_1", "f", "{}")), headers=headers)
    api.post(user("other"), cid="c2")
    monkeypatch.setattr(groups, "datetime", Back)
    second = api.post(answering("call_1", "two"), user("three"))
    assert (second.status_code, second.json()["version"]) == (201, 4)
    assert (
        api.post(user("one"), calling(("call_1", "f", "{}")), headers=headers).json()
        == first.json()
    )
    said = [one["role"] for one in api.replay("openai")["request"]["messages"]]
    assert said == ["user", "assistant", "tool", "user"]
    assert [one["seq"] for one in api.get("turns").json()["data"]] == [1, 2, 3, 4]
    assert api.get("verify").json()["ok"]
    # Found by words, by raw id, and newest first: by the clock of the time, which is what it says.
    listed = api.http.get("/v1/conversations", params={"order": "updated"}).json()
    assert {one["id"] for one in listed["data"]} == {"c1", "c2"}
    found = api.http.get("/v1/tool-calls/lookup", params={"id": "call_1"}).json()["data"]
    assert [one["conversation_id"] for one in found] == ["c1"]
    words = api.http.get("/v1/conversations", params={"q": "three"}).json()["data"]
    assert [one["id"] for one in words] == ["c1"]
