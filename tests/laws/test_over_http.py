"""The laws through the real application, on SQLite and on PostgreSQL.

Every answer is held against the memory of the same posts, so both databases give the same bytes.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from app.formats.registry import TARGETS
from app.main import create_app
from app.model.conversation import Turn
from app.replay.window import group_end
from app.settings import Settings
from tests.histories import History, posted
from tests.laws import oracle
from tests.laws.running import Window, all_ids, tried, windows
from tests.laws.strategies import Bodies, histories

Some = st.lists(st.sampled_from(TARGETS), min_size=1, max_size=3, unique=True)


@dataclass(frozen=True)
class Kept:
    """A conversation in the service, and the memory of the same posts."""

    http: TestClient
    cid: str
    history: History

    def post(self, body: str) -> list[dict[str, object]]:
        url = f"/v1/conversations/{self.cid}/turns"
        headers = {"Content-Type": "application/json"}
        answer = self.http.post(url, content=body.encode(), headers=headers)
        assert answer.status_code == 201, answer.text
        turns: list[dict[str, object]] = answer.json()["turns"]
        return turns

    def get(self, path: str, **params: str | int) -> bytes:
        answer = self.http.get(f"/v1/conversations/{self.cid}/{path}", params=params)
        assert answer.status_code == 200, answer.text
        return answer.content


def test_what_is_stored_is_what_was_posted_and_renders_alike(database_url: str) -> None:
    conversations = (f"c{number}" for number in count())
    with TestClient(create_app(Settings(database_url=database_url))) as http:

        @tried(100)
        @given(histories(6), windows(), Some)
        def holds(bodies: Bodies, window: Window, targets: Sequence[str]) -> None:
            if bodies:
                cid = next(conversations)
                kept = Kept(http, cid, posted(*bodies, conversation_id=cid))
                for body in bodies:
                    kept.post(body)
                _assert_truth(kept, bodies)
                _assert_same_renders(kept, window, targets)
                _assert_same_ids(kept)
                assert json.loads(kept.get("verify"))["ok"]

        holds()


def _assert_truth(kept: Kept, bodies: Bodies) -> None:
    stored = kept.get("turns", raw="true", limit=1000)
    for body in bodies:
        for message in _messages(body):
            assert b'"payload":' in stored
            assert message.encode() in stored


def _messages(body: str) -> Iterator[str]:
    """The text of each message of a body, as it stands there."""
    _, _, text = body.partition('"messages"')
    at = text.index("[") + 1
    while text[at] != "]":
        _, end = json.JSONDecoder().raw_decode(text, at)
        yield text[at:end]
        rest = text[end:].lstrip(", \n")
        at = len(text) - len(rest)


def _assert_same_renders(kept: Kept, window: Window, targets: Sequence[str]) -> None:
    for target in targets:
        whole = kept.get("replay", provider=target)
        assert _request(kept.history.render(target).raw) in whole
        if turns := window.stored(kept.history):
            asked = _askable(window, target)
            part = kept.get("replay", provider=target, **_query(asked, turns[-1]))
            assert _request(_aligned(kept.history, asked).of(kept.history, target).raw) in part


def _askable(window: Window, target: str) -> Window:
    """The neutral form shows turns as they are stored: never flat, and never ready to be sent."""
    if target != "neutral":
        return window
    tools = "include" if window.tools == "flatten" else window.tools
    return replace(window, tools=tools, ready=False)


def _aligned(history: History, window: Window) -> Window:
    """The window that the interface shows: `until` is widened to the end of a tool group."""
    if window.until is None:
        return window
    remembered = history.remembered
    until = min(window.until, len(remembered.turns))
    return replace(window, until=group_end(remembered.turns, remembered.links(), until))


def _request(raw: bytes) -> bytes:
    return b'"request":' + raw + b',"repairs":'


def _query(window: Window, newest: Turn) -> dict[str, str | int]:
    asked = {
        "until": newest.turn_id if window.until is not None else None,
        "last": window.last,
        "max_tokens": window.max_tokens,
        "reasoning": window.reasoning,
        "model": window.model,
        "tools": window.tools,
        "ready": str(window.ready).lower(),
    }
    return {name: value for name, value in asked.items() if value is not None}


def _assert_same_ids(kept: Kept) -> None:
    listed = json.loads(kept.get("tool-calls", limit=1000))["data"]
    assert {call["id"]: call["ids"] for call in listed} == all_ids(kept.history)


def test_a_result_may_name_its_call_by_any_id_that_the_audit_lists(database_url: str) -> None:
    conversations = (f"d{number}" for number in count())
    with TestClient(create_app(Settings(database_url=database_url))) as http:

        @tried(50)
        @given(histories(6), st.sampled_from(TARGETS), st.data())
        def holds(bodies: Bodies, target: str, data: st.DataObject) -> None:
            cid = next(conversations)
            ids = all_ids(posted(*bodies, conversation_id=cid))
            if ids:
                call = data.draw(st.sampled_from(sorted(ids)))
                answer = _answer(ids[call][target])
                kept = Kept(http, cid, posted(*bodies, answer, conversation_id=cid))
                for body in bodies:
                    kept.post(body)
                matched = kept.post(answer)[0]["tool_results"]
                assert matched == [_expected(kept.history, call, ids[call][target])]

        holds()


def _answer(call_id: str) -> str:
    block = {"type": "tool_result", "call_id": call_id, "result": "~999~"}
    turn = {"speaker": "tool", "blocks": [block]}
    return json.dumps({"provider": "neutral", "messages": [turn]})


def _expected(history: History, call: str, shown: str) -> dict[str, object]:
    """What is answered: this very call, unless the id is the raw id of another one, or its core is.

    An open call goes before one that is answered, even where only the cores of the ids agree.
    """
    ids = {one: frozenset(names.values()) for one, names in all_ids(history).items()}
    made = oracle.matched(history.remembered.turns, ids)
    place = (history.remembered.turns[-1].seq, 0)
    found = next(one for one in made if place in one.answers)
    others = [one.call.raw_id or "" for one in made if one.call.id != call]
    if oracle.core(shown) not in map(oracle.core, others):
        assert found.call.id == call
    link = history.remembered.ledger.results[place]
    repeat = {"repeat": True} if len(found.answers) > 1 else {}
    return {
        "call_id": found.call.id,
        "raw_id": shown,
        "matched_by": link.matched_by,
        **repeat,
    }
