"""The speaker `note`: stored in its place like any turn, and shown to no provider."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.formats.registry import TARGETS
from tests.http_api import Api, answering, calling, user

PROVIDERS = tuple(target for target in TARGETS if target != "neutral")
NOTED = ["n0", "t0", "n1", "t1", "n2", "t2", "n3", "t3", "n4"]
ROUND = (user("look"), calling(("c1", "read", "{}")), answering("c1", "alpha"), user("go on"))


def note(text: str, **more: Any) -> dict[str, Any]:
    return {"speaker": "note", "text": text, **more}


def leave(api: Api, *notes: dict[str, Any], cid: str = "c1") -> Any:
    done = api.post(*notes, provider="neutral", cid=cid)
    assert done.status_code == 201, done.text
    return done.json()


def told(api: Api, cid: str, *, noted: bool) -> None:
    """The same round under the same turn ids, with or without notes everywhere."""
    for number, message in enumerate(ROUND):
        if noted:
            leave(api, note(f"private {number}", turn_id=f"n{number}"), cid=cid)
        assert api.post(message, turn_id=f"t{number}", cid=cid).status_code == 201
    if noted:
        leave(api, note("private 4", turn_id="n4"), cid=cid)


def replay(api: Api, cid: str, provider: str, **params: Any) -> Any:
    answer = api.get("replay", cid=cid, provider=provider, **params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_note_has_a_place_an_id_and_a_link_in_the_chain(api: Api) -> None:
    told(api, "c1", noted=True)
    turns = api.get("turns", raw="true").json()["data"]
    assert [turn["turn_id"] for turn in turns] == NOTED
    assert [turn["seq"] for turn in turns] == list(range(1, 10))
    assert turns[0]["payload"] == note("private 0", turn_id="n0")
    assert turns[0]["blocks"] == [{"type": "text", "text": "private 0"}]
    assert turns[0]["speaker"] == "note"
    assert api.get("verify").json() == {
        "ok": True,
        "checked": {"turns": 9, "tool_calls": 1, "provider_ids": 2},
        "problems": [],
    }


@pytest.mark.parametrize("target", PROVIDERS)
def test_no_provider_is_shown_a_trace_of_notes(lite: Api, target: str) -> None:
    told(lite, "noted", noted=True)
    told(lite, "plain", noted=False)
    windows: list[dict[str, Any]] = [
        {},
        *({"last": count} for count in range(1, 5)),
        *({"max_tokens": budget} for budget in (1, 10, 30)),
        *({"until": f"t{number}"} for number in range(4)),
    ]
    for window in windows:
        noted = replay(lite, "noted", target, **window)
        plain = replay(lite, "plain", target, **window)
        assert "private" not in json.dumps(noted)
        for member in ("request", "pending", "prefix"):
            assert noted[member] == plain[member], window
        codes = [[repair["code"] for repair in one["repairs"]] for one in (noted, plain)]
        assert codes[0] == codes[1], window


def test_the_neutral_form_shows_notes_verbatim_and_does_not_count_them(api: Api) -> None:
    told(api, "c1", noted=True)
    shown = replay(api, "c1", "neutral")["request"]["turns"]
    assert [turn["turn_id"] for turn in shown] == NOTED
    assert shown[0]["blocks"] == [{"type": "text", "text": "private 0"}]
    last = replay(api, "c1", "neutral", last=1)["request"]["turns"]
    assert [turn["turn_id"] for turn in last] == ["n0", "t3", "n4"]


@pytest.mark.parametrize("target", ["openai", "anthropic"])
def test_a_history_as_of_a_note_reaches_on_to_the_end_of_the_tool_group(
    api: Api, target: str
) -> None:
    told(api, "c1", noted=True)
    shown = replay(api, "c1", target, until="n2")
    assert shown["version"] == 6
    assert "alpha" in json.dumps(shown["request"])


def test_any_number_of_notes_may_stand_inside_a_tool_group(api: Api) -> None:
    api.post(*ROUND[:2], turn_ids=["t0", "t1"])
    leave(api, *(note(f"private {number}") for number in range(40)))
    api.post(ROUND[2])
    shown = replay(api, "c1", "openai", until="t1")
    assert shown["version"] == 43
    assert [one["role"] for one in shown["request"]["messages"]] == ["user", "assistant", "tool"]
    assert shown["repairs"][-1]["code"] == "WINDOW_ALIGNED"


def test_a_note_moves_the_version_and_leaves_the_prefix(api: Api) -> None:
    api.post(*ROUND)
    before = api.replay("anthropic")
    leave(api, note("private"))
    after = api.replay("anthropic", since=before["version"])
    assert after["version"] == before["version"] + 1
    assert after["prefix"] == before["prefix"]
    assert (after["since"]["unchanged"], after["request"]) == (True, {"messages": []})


def test_a_turn_that_is_completed_behind_a_note_is_still_the_last(api: Api) -> None:
    ai = {"speaker": "ai", "text": "so", "turn_id": "t1"}
    api.post({**ai, "status": "interrupted"}, provider="neutral")
    leave(api, note("its stream broke"))
    done = api.post({**ai, "text": "so be it"}, provider="neutral")
    assert done.status_code == 200
    codes = [repair["code"] for repair in api.replay("openai")["repairs"]]
    assert "TURN_COMPLETED" not in codes


def test_words_of_a_note_are_found(api: Api) -> None:
    leave(api, note("approved by ada"))
    found = api.http.get("/v1/conversations", params={"q": "ada"}).json()["data"]
    assert [one["id"] for one in found] == ["c1"]


def test_a_conversation_of_notes_alone_has_nothing_to_show(api: Api) -> None:
    leave(api, note("private"))
    shown = api.replay("openai")
    assert shown["request"] == {"messages": []}
    assert [repair["code"] for repair in shown["repairs"]] == ["EMPTY_HISTORY"]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_call", "id": "x", "name": "f", "parameters": {}},
        {"type": "tool_result", "call_id": "x", "result": "r"},
        {"type": "thinking", "text": "hm"},
    ],
    ids=lambda block: str(block["type"]),
)
def test_a_note_makes_no_calls_gives_no_results_and_does_not_think(lite: Api, block: Any) -> None:
    refused = lite.post({"speaker": "note", "blocks": [block]}, provider="neutral")
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/messages/0")
    assert lite.get("").status_code == 404


def test_a_note_may_hold_media_and_be_one_of_several_turns(api: Api) -> None:
    picture = {"type": "image", "data": "data:image/png;base64,iVBORw0KGgo="}
    turns: list[dict[str, Any]] = [
        {"speaker": "human", "text": "hi"},
        {"speaker": "note", "blocks": [picture]},
    ]
    receipt = leave(api, *turns)
    assert [turn["speaker"] for turn in receipt["turns"]] == ["human", "note"]
    assert "iVBORw0KGgo" not in json.dumps(api.replay("openai"))


@pytest.mark.parametrize("target", PROVIDERS)
def test_only_the_neutral_form_has_notes(lite: Api, target: str) -> None:
    text = {"role": "note", "content": "x", "parts": [{"text": "x"}]}
    refused = lite.post(text, provider=target)
    assert refused.status_code == 422


def test_a_conversion_shows_no_notes(lite: Api) -> None:
    turns = [note("private"), {"speaker": "human", "text": "hi"}]
    body = {"from": "neutral", "to": "openai", "turns": turns}
    done = lite.http.post("/v1/convert/messages", json=body).json()
    assert done["request"] == {"messages": [{"role": "user", "content": "hi"}]}


def test_a_list_is_synced_past_the_notes_that_it_does_not_hold(api: Api) -> None:
    told(api, "c1", noted=True)
    body = {"provider": "openai", "messages": [*ROUND, user("and now")]}
    done = api.http.post("/v1/conversations/c1/turns?mode=sync", json=body).json()
    assert (done["known"], [turn["speaker"] for turn in done["turns"]]) == (4, ["human"])


def test_a_neutral_list_with_its_notes_is_synced_too(api: Api) -> None:
    told(api, "c1", noted=True)
    turns = replay(api, "c1", "neutral")["request"]["turns"]
    new = [{"speaker": "human", "text": "and now"}, note("private 5")]
    body = {"provider": "neutral", "turns": [*turns, *new]}
    for status, known, speakers in ((201, 9, ["human", "note"]), (200, 11, [])):
        done = api.http.post("/v1/conversations/c1/turns?mode=sync", json=body)
        assert done.status_code == status, done.text
        receipt = done.json()
        assert (receipt["known"], [turn["speaker"] for turn in receipt["turns"]]) == (
            known,
            speakers,
        )


def test_notes_come_back_from_an_export(
    lite: Api, sqlite_database_url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told(lite, "c1", noted=True)
    main(["export", "c1", "--database-url", sqlite_database_url])
    file = tmp_path / "c1.jsonl"
    file.write_text(capfd.readouterr().out)
    main(["import", str(file), "--conversation", "c2", "--database-url", sqlite_database_url])
    turns, again = (lite.get("turns", cid=cid).json()["data"] for cid in ("c1", "c2"))
    for one, other in zip(turns, again, strict=True):
        for member in ("seq", "turn_id", "speaker", "blocks"):
            assert one[member] == other[member]
    assert lite.get("verify", cid="c2").json()["ok"]
