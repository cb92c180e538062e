"""What is another tenant's is not there: generated from the OpenAPI page, so no route is left out.

Each operation is asked by one tenant for what another one has, and for what nobody has. Answers
must be the same but for the ids, and so must be what the database is asked.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient

from app.access.commands import made
from app.database.database import Database
from app.main import create_app
from app.settings import Settings
from tests.edge.openapi import PAGE
from tests.http_api import answering, calling, user
from tests.statements import noted

THEIRS, ABSENT = "their-talk", "no-such-id"
RAW_ID = "call_theirs"
TURNS = [
    user("a secret of theirs"),
    calling((RAW_ID, "f", "{}")),
    answering(RAW_ID, "42"),
    calling((RAW_ID, "f", "{}")),
]
TOOLS = {"provider": "openai", "tools": [{"type": "function", "function": {"name": "f"}}]}
# A body for each operation that takes one.
BODIES: dict[str, Any] = {
    "change_conversation": {"title": "mine"},
    "append_turns": {"provider": "openai", "messages": [user("mine")]},
    "append_stream": 'data: {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}\n\n'
    "data: [DONE]\n\n",
    "put_tools": TOOLS,
}
# What those ask that must be told what to look for.
QUERIES = {
    "replay_conversation": {"provider": "openai"},
    "append_stream": {"provider": "openai"},
    "get_tools": {"provider": "openai"},
}
# These make a conversation where there is none.
MAKING = {"append_turns", "append_stream", "put_tools"}
# Operations without an id in their path: each has a test of its own below.
WITHOUT = {
    "create_conversation",
    "list_conversations",
    "lookup_tool_calls",
    "convert_messages",
    "convert_tools",
    "convert_tool_id",
    "get_health",
    "get_readiness",
    "get_metrics",
}


class Operation(NamedTuple):
    name: str
    method: str
    path: str


def operations() -> list[Operation]:
    paths = PAGE["paths"]
    return [
        Operation(one["operationId"], method.upper(), path)
        for path, methods in paths.items()
        for method, one in methods.items()
    ]


OPERATIONS = operations()


class Two:
    """A service with two tenants: of one there is a conversation, the other asks."""

    def __init__(self, http: TestClient, url: str) -> None:
        self.http = http
        self.database: Database = http.app.state.context.database  # type: ignore[attr-defined]
        with Database(url) as database:
            self.they, self.me = (self._key(database, name) for name in ("they", "me"))
        turns = f"/v1/conversations/{THEIRS}/turns"
        body = {"provider": "openai", "messages": TURNS}
        headers = {**self.they, "Idempotency-Key": "k1"}
        posted = http.post(turns, json=body, headers=headers)
        assert posted.status_code == 201, posted.text
        self.turn_ids = [one["turn_id"] for one in posted.json()["turns"]]
        http.put(f"/v1/conversations/{THEIRS}/tools", json=TOOLS, headers=self.they)
        http.patch(f"/v1/conversations/{THEIRS}", json={"title": "secret"}, headers=self.they)

    @staticmethod
    def _key(database: Database, tenant_id: str) -> dict[str, str]:
        key, text = made(tenant_id, "", ["admin"])
        database.change_keys(lambda keys: keys.add(key))
        return {"Authorization": f"Bearer {text}"}

    def theirs(self) -> list[bytes]:
        """All that can be seen of their conversation."""
        paths = ["", "/turns?raw=true", "/tool-calls", "/verify", "/tools?provider=openai"]
        paths += [f"/replay?provider={one}" for one in ("openai", "anthropic", "kimi")]
        answers = [
            self.http.get(f"/v1/conversations/{THEIRS}{path}", headers=self.they) for path in paths
        ]
        assert {one.status_code for one in answers} == {200}
        return [one.content for one in answers]

    def ask(self, one: Operation, cid: str, turn_id: str) -> tuple[int, bytes, list[str]]:
        """What the other tenant hears, and the statements that it took."""
        statements: list[str] = []
        body = BODIES.get(one.name)
        given: dict[str, Any] = {"json": body} if isinstance(body, dict) else {"content": body}
        headers = {**self.me, "Idempotency-Key": "k1"}
        if isinstance(body, str):
            headers["Content-Type"] = "text/event-stream"
        path = one.path.format(cid=cid, turn_id=turn_id)
        with noted(lambda _, text, __: statements.append(text), self.database):
            answer = self.http.request(
                one.method, path, params=QUERIES.get(one.name), headers=headers, **given
            )
        body_ = answer.content.replace(cid.encode(), b"CID").replace(turn_id.encode(), b"TURN")
        return answer.status_code, body_, sorted(statements)


@pytest.fixture
def two(database_url: str) -> Iterator[Two]:
    # Without the search: it indexes when it likes, and its statements would be counted.
    with TestClient(create_app(Settings(database_url=database_url, search=False))) as http:
        yield Two(http, database_url)


def test_every_operation_has_a_test() -> None:
    with_ids = {one.name for one in OPERATIONS if "{" in one.path}
    assert {one.name for one in OPERATIONS} - with_ids == WITHOUT
    assert BODIES.keys() <= with_ids


@pytest.mark.parametrize(
    "one", [one for one in OPERATIONS if "{" in one.path], ids=lambda one: one.name
)
def test_what_another_tenant_has_is_absent(two: Two, one: Operation) -> None:
    before = two.theirs()
    # Once for what the service learns from any first request.
    two.ask(one, "warm-up-it", "no-turn")
    status, body, statements = two.ask(one, THEIRS, two.turn_ids[1])
    assert (status, statements) == two.ask(one, ABSENT, "no-turn-either")[::2]
    assert status in ((200, 201) if one.name in MAKING else (404,))
    if status == 404:
        assert body == two.ask(one, ABSENT, "no-turn-either")[1]
    assert two.theirs() == before


@pytest.mark.parametrize(
    "one", [one for one in OPERATIONS if "{turn_id}" in one.path], ids=lambda one: one.name
)
def test_their_turns_are_not_in_my_conversations(two: Two, one: Operation) -> None:
    two.http.post(
        "/v1/conversations/mine/turns",
        json={"provider": "openai", "messages": [user("mine")]},
        headers=two.me,
    )
    asked = two.ask(one, "mine", two.turn_ids[1])
    assert asked[0] == 404
    assert asked == two.ask(one, "mine", "no-such-turn")


def _get(two: Two, path: str, **params: Any) -> Any:
    return two.http.get(path, params=params, headers=two.me)


CHECKS: list[tuple[str, Callable[[Two], Any]]] = [
    ("list", lambda two: _get(two, "/v1/conversations")),
    ("newest", lambda two: _get(two, "/v1/conversations", order="updated")),
    ("tool", lambda two: _get(two, "/v1/conversations", tool="f")),
    ("cursor", lambda two: _get(two, "/v1/conversations", cursor="their-tal")),
    ("raw id", lambda two: _get(two, "/v1/tool-calls/lookup", id=RAW_ID, limit=1)),
    ("turn id", lambda two: _get(two, "/v1/tool-calls/lookup", id=two.turn_ids[0])),
]


@pytest.mark.parametrize("check", [check for _, check in CHECKS], ids=[name for name, _ in CHECKS])
def test_nothing_of_theirs_is_found(two: Two, check: Callable[[Two], Any]) -> None:
    found = check(two)
    assert found.status_code == 200
    # Not even that there is something which cannot be seen.
    assert found.json() == {"data": [], "has_more": False, "next_cursor": None}


def test_words_of_theirs_are_not_found(database_url: str) -> None:
    with TestClient(create_app(Settings(database_url=database_url))) as http:
        two = Two(http, database_url)
        assert _get(two, "/v1/conversations", q="secret").json()["data"] == []
        seen = http.get("/v1/conversations", params={"q": "secret"}, headers=two.they).json()
        assert [one["id"] for one in seen["data"]] == [THEIRS]


def test_a_conversation_of_the_same_id_is_another_one(two: Two) -> None:
    before = two.theirs()
    assert (
        two.http.post("/v1/conversations", json={"id": THEIRS}, headers=two.me).status_code == 201
    )
    headers = {**two.me, "Idempotency-Key": "k1"}
    mine = {"provider": "openai", "messages": [answering(RAW_ID, "forged"), user("mine")]}
    url = f"/v1/conversations/{THEIRS}"
    assert two.http.post(f"{url}/turns", json=mine, headers=headers).status_code == 201
    # Renders that are kept, and the tag of theirs.
    tag = two.http.get(f"{url}/replay?provider=openai", headers=two.they).headers["ETag"]
    kept = two.http.get(f"{url}/replay?provider=openai", headers={**two.me, "If-None-Match": tag})
    assert kept.status_code == 200
    assert b"a secret of theirs" not in kept.content
    assert two.theirs() == before
    assert two.http.delete(url, headers=two.me).status_code == 200
    assert two.theirs() == before


def test_their_canonical_ids_lead_nowhere(two: Two) -> None:
    calls = two.http.get(f"/v1/conversations/{THEIRS}/tool-calls", headers=two.they).json()
    canonical = calls["data"][0]["id"]
    posted = two.http.post(
        "/v1/conversations/mine/turns",
        json={"provider": "openai", "messages": [answering(canonical, "x")]},
        headers=two.me,
    )
    assert posted.status_code == 201
    assert _get(two, "/v1/tool-calls/lookup", id=canonical).json()["data"][0]["kind"] == (
        "orphan_result"
    )


def test_converting_reads_nothing(two: Two) -> None:
    statements: list[str] = []
    for path, body in (
        ("messages", {"from": "openai", "to": "kimi", "messages": TURNS}),
        ("tools", {"from": "openai", "to": "kimi", **TOOLS}),
        ("tool-id", {"id": RAW_ID, "to": "mistral"}),
    ):
        two.http.post(f"/v1/convert/{path}", json=body, headers=two.me)
        with noted(lambda _, text, __: statements.append(text), two.database):
            two.http.post(f"/v1/convert/{path}", json=body, headers=two.me)
    assert [one for one in statements if "api_keys" not in one] == []
