import base64
import csv
import hashlib
import io
import itertools
import json
from typing import Any

import pytest

from app.audit import queries as audit
from app.audit.excerpts import SHOWN
from app.formats.registry import TARGETS
from tests.http_api import Api, answering, calling, user
from tests.turns.test_streams import CUT, RESPONSE, WHOLE, respond, stream


def test_every_call_is_listed_with_all_its_names(api: Api) -> None:
    api.post(user("x"), calling(("a", "read", "{}"), ("b", "write", "{}")), model="gpt-x")
    api.post(answering("b", "done"))
    first, second = api.get("tool-calls", order="asc").json()["data"]
    assert (first["raw_id"], first["state"], first["result"]) == ("a", "open", None)
    assert (second["state"], second["result"]["matched_by"]) == ("answered", "raw")
    assert set(first["ids"]) == set(TARGETS)
    assert first["ids"]["kimi"] == "functions.read:0"
    assert second["ids"]["kimi"] == "functions.write:1"
    assert len(first["ids"]["mistral"]) == 9
    assert first["model"] == "gpt-x"


def test_repeats_stay_visible_and_the_last_real_result_is_the_result(api: Api) -> None:
    api.post(calling(("a", "f", "{}")))
    for status in ("error", "ok", "interrupted"):
        block = {"type": "tool_result", "call_id": "a", "result": status, "status": status}
        api.post({"speaker": "tool", "blocks": [block]}, provider="neutral")
    call = api.get("tool-calls").json()["data"][0]
    assert call["result"]["status"] == "ok"
    assert [one["status"] for one in call["repeats"]] == ["error", "interrupted"]


def test_states_follow_what_is_known(api: Api) -> None:
    api.post(calling(("a", "f", "{}"), ("b", "f", "{}")))
    for raw_id, status in (("a", "denied"), ("b", "interrupted")):
        block = {"type": "tool_result", "call_id": raw_id, "status": status}
        api.post({"speaker": "tool", "blocks": [block]}, provider="neutral")
    states = [call["state"] for call in api.get("tool-calls").json()["data"]]
    assert states == ["interrupted", "denied"]


@pytest.mark.parametrize("order", [None, "desc", "asc"])
def test_the_audit_pages_from_the_newest_call_or_from_the_first(api: Api, order: Any) -> None:
    api.post(calling(*((str(n), "f", "{}") for n in range(3))), calling(("x", "f", "{}")))
    asked = {"order": order} if order else {}
    first = api.get("tool-calls", limit=3, **asked).json()
    assert first["has_more"]
    rest = api.get("tool-calls", limit=3, cursor=first["next_cursor"], **asked).json()
    assert (rest["has_more"], rest["next_cursor"]) == (False, None)
    seen = [call["raw_id"] for call in first["data"] + rest["data"]]
    assert seen == (["0", "1", "2", "x"] if order == "asc" else ["x", "2", "1", "0"])
    assert api.get("tool-calls", cursor="nonsense").status_code == 422
    assert api.get("tool-calls", order="sideways").status_code == 422


def test_calls_are_found_by_their_state(api: Api) -> None:
    states = ("open", "answered", "denied", "interrupted", "unknown")
    for number in range(3):
        api.post(calling(*((f"{state}{number}", "f", "{}") for state in states)))
    for number, state in itertools.product(range(3), states[1:]):
        status = "ok" if state == "answered" else state
        block = {"type": "tool_result", "call_id": f"{state}{number}", "status": status}
        api.post({"speaker": "tool", "blocks": [block]}, provider="neutral")
    for state in states:
        page = api.get("tool-calls", state=state, limit=2).json()
        rest = api.get("tool-calls", state=state, limit=2, cursor=page["next_cursor"]).json()
        seen = [call["raw_id"] for call in page["data"] + rest["data"]]
        assert seen == [f"{state}2", f"{state}1", f"{state}0"]
        assert (page["has_more"], rest["has_more"]) == (True, False)
    assert api.get("tool-calls", state="superseded").json()["data"] == []
    assert api.get("tool-calls", state="closed").status_code == 422


def test_a_state_is_searched_through_a_long_conversation(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_BATCH", 2)
    api.post(calling(*((str(n), "f", "{}") for n in range(9))))
    api.post(*(answering(str(n), "x") for n in range(9)))
    denied = {"type": "tool_result", "call_id": "3", "status": "denied"}
    api.post({"speaker": "tool", "blocks": [denied]}, provider="neutral")
    [found] = api.get("tool-calls", state="denied", limit=1).json()["data"]
    assert found["raw_id"] == "3"
    assert len(api.get("tool-calls", state="answered").json()["data"]) == 8


def test_calls_of_a_broken_stream_are_interrupted_then_open_or_superseded(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="s1")
    assert api.get("tool-calls", state="open").json()["data"] == []
    assert len(api.get("tool-calls", state="interrupted").json()["data"]) == 2
    content: Any = RESPONSE["content"]
    text, _, time = content
    respond(api, RESPONSE | {"content": [text, time | {"id": "toolu_new"}]}, turn_id="s1")
    gone = api.get("tool-calls", state="superseded", order="asc").json()
    assert [_hashed(call["hash_input"]) for call in gone["data"]] == [
        call["id"] for call in gone["data"]
    ]
    assert [call["raw_id"] for call in gone["data"]] == ["toolu_time", "toolu_weather"]
    # What they were given stands in the earlier version of their turn.
    assert [call.get("parameters", call.get("arguments")) for call in gone["data"]] == [
        '{"zo',
        {"city": "Bonn"},
    ]
    [now] = api.get("tool-calls", state="open").json()["data"]
    assert now["created_at"] > gone["data"][0]["created_at"]


def test_a_call_that_was_completed_keeps_its_time_and_has_its_last_arguments(api: Api) -> None:
    stream(api, WHOLE[:CUT], turn_id="s1")
    before = {call["id"]: call for call in api.get("tool-calls").json()["data"]}
    respond(api, turn_id="s1")
    after = {call["id"]: call for call in api.get("tool-calls").json()["data"]}
    assert before.keys() == after.keys()
    for call_id, call in after.items():
        assert call["created_at"] == before[call_id]["created_at"]
        assert "arguments" not in call
    assert {"zone": "CET"} in [call["parameters"] for call in after.values()]


def test_the_audit_says_what_was_asked_and_what_came_and_when(api: Api) -> None:
    api.post(calling(("a", "f", '{"x": 1.10}'), ("b", "f", "no json"), ("c", "f", "{}")))
    blocks = [
        {"type": "tool_result", "call_id": "a", "result": {"found": [1, 2]}},
        {
            "type": "tool_result",
            "call_id": "b",
            "content": [{"type": "text", "text": "so"}],
            "status": "error",
            "error": "it failed",
        },
        {"type": "tool_result", "call_id": "c", "result": "fünf"},
    ]
    api.post({"speaker": "tool", "blocks": blocks}, provider="neutral")
    answer = api.get("tool-calls", order="asc")
    assert b'"parameters":{"x":1.10}' in answer.content
    first, second, third = answer.json()["data"]
    assert (second["arguments"], "parameters" in second) == ("no json", False)
    assert (first["result"]["result"], first["result"]["size"]) == ({"found": [1, 2]}, 15)
    assert second["result"]["content"] == [{"type": "text", "text": "so"}]
    assert (second["result"]["error"], second["result"]["status"]) == ("it failed", "error")
    assert (third["result"]["result"], third["result"]["size"]) == ("fünf", 4)
    turns = {turn["turn_id"]: turn["created_at"] for turn in api.get("turns").json()["data"]}
    for call in (first, second, third):
        assert call["created_at"] == turns[call["turn_id"]]
        assert call["result"]["created_at"] == turns[call["result"]["turn_id"]]
        assert call["result"]["cut"] is False


def test_long_arguments_and_results_are_cut_and_say_so(api: Api) -> None:
    long = "ä" * (SHOWN + 1)
    given = json.dumps({"text": long}, ensure_ascii=False)
    api.post(calling(*((raw_id, "f", given) for raw_id in "abc")))
    image = {"type": "image", "data": "data:image/png;base64," + "A" * SHOWN}
    parts = [{"type": "text", "text": "a chart"}, image]
    blocks = [
        {"type": "tool_result", "call_id": "a", "result": long},
        {"type": "tool_result", "call_id": "b", "content": parts},
        {"type": "tool_result", "call_id": "c", "result": "", "error": long},
    ]
    api.post({"speaker": "tool", "blocks": blocks}, provider="neutral")
    listed = api.get("tool-calls", order="asc").json()
    for call in listed["data"]:
        assert (call["arguments"], call["arguments_cut"]) == (given[:SHOWN], True)
        assert (call["arguments_size"], "parameters" in call) == (len(given), False)
    text, media, failed = (call["result"] for call in listed["data"])
    assert (text["text"], text["size"], text["cut"]) == (long[:SHOWN], SHOWN + 1, True)
    assert (media["text"], media["size"] > SHOWN, media["cut"]) == ("a chart", True, True)
    assert not {"result", "content"} & (text.keys() | media.keys())
    assert (failed["result"], failed["error"], failed["cut"]) == ("", long[:SHOWN], True)


def _hashed(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return "hist_tool_" + base64.urlsafe_b64encode(digest).decode()[:24]


def test_anybody_can_compute_the_canonical_id_again(api: Api) -> None:
    api.post(user("x"), calling(("a|b\\c", "read", "{}"), (None, "write", "{}")), turn_id=None)
    api.post(calling(("a", "read", "{}")), turn_id="mine")
    calls = api.get("tool-calls", order="asc").json()["data"]
    assert calls[0]["hash_input"] == f"openai|a\\|b\\\\c|read|{calls[0]['turn_id']}|0"
    assert calls[2]["hash_input"] == "openai|a|read|mine|0"
    assert [_hashed(call["hash_input"]) for call in calls] == [call["id"] for call in calls]


def test_a_canonical_id_that_came_with_its_call_has_no_hash_input(api: Api) -> None:
    forged = _hashed("openai||read|mine|0")
    api.post(calling((forged, "elsewhere", "{}")))
    api.post(calling((None, "read", "{}")), turn_id="mine")
    salted, kept = api.get("tool-calls").json()["data"]
    assert (kept["id"], kept["hash_input"]) == (forged, None)
    # Its own was taken, so it was hashed with salt.
    assert salted["hash_input"] == "openai||read|mine~|0"
    assert _hashed(salted["hash_input"]) == salted["id"]


def test_every_canonical_id_can_be_recomputed(api: Api) -> None:
    own = "hist_tool_" + "A" * 24
    api.post(calling(("a|b\\c", "f", "{}"), (None, "g", "{}"), (own, "h", "{}")), turn_id="t1")
    told = {call["name"]: call for call in api.get("tool-calls").json()["data"]}
    assert told["f"]["hash_input"] == "openai|a\\|b\\\\c|f|t1|0"
    for name in "fg":
        digest = hashlib.sha256(told[name]["hash_input"].encode()).digest()
        short = base64.urlsafe_b64encode(digest).decode()[:24]
        assert told[name]["id"] == f"hist_tool_{short}"
    assert (told["h"]["id"], told["h"]["hash_input"]) == (own, None)


def test_all_calls_are_a_table(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.audit.http._LINES", 2)
    nasty = ["=1+1", "+1", "-1", "@x", "\tx", 'plain "and", so\non', "\ud800"]
    message = calling(*((raw_id, "f", "{}") for raw_id in nasty))
    # As ASCII: the client cannot send half a character.
    body = json.dumps({"provider": "openai", "messages": [message], "turn_id": "t1", "model": "=m"})
    headers = {"Content-Type": "application/json"}
    posted = api.http.post("/v1/conversations/c1/turns", content=body, headers=headers)
    assert posted.status_code == 201, posted.text
    api.post(answering("@x", "1"), turn_id="t2")
    answer = api.get("tool-calls", format="csv", order="asc", limit=1)
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    calls = api.get("tool-calls", order="asc").json()["data"]
    columns = "seq turn_id call_index provider model name raw_id canonical_id state matched_by"
    assert list(rows[0]) == [*columns.split(), "result_turn_id", "hash_input", *TARGETS]
    assert [row["raw_id"] for row in rows] == [
        *("'=1+1", "'+1", "'-1", "'@x", "'\tx"),
        nasty[5],
        "\\ud800",
    ]
    assert {row["model"] for row in rows} == {"'=m"}
    for row, call in zip(rows, calls, strict=True):
        assert (row["canonical_id"], row["state"]) == (call["id"], call["state"])
        assert (row["seq"], row["call_index"]) == (str(call["seq"]), str(call["call_index"]))
        assert row["hash_input"] == call["hash_input"].replace("\ud800", "\\ud800")
        assert [row[target].removeprefix("'") for target in TARGETS] == [
            call["ids"][target] for target in TARGETS
        ]
    assert (rows[3]["matched_by"], rows[3]["result_turn_id"]) == ("raw", "t2")
    waiting = api.get("tool-calls", format="csv", state="open").text
    assert waiting.count("t1,") == len(nasty) - 1
    assert api.get("tool-calls", cid="c2", format="csv").status_code == 404
