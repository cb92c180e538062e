"""What only a service can get wrong: retries, writers side by side, and the bytes in its store.

Runs on SQLite and on PostgreSQL. Every history of the zoo is also stored and shown once, because
the store has its own ledger and must come to the same pairs as memory does.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests import judges
from tests.long import IS_LONG
from tests.zoo import laws
from tests.zoo.expecting import Variant
from tests.zoo.spoken import (
    Body,
    ai,
    answer,
    assistant,
    call,
    chat,
    function,
    human,
    neutral,
    result,
    tool,
    user,
    verbatim,
)
from tests.zoo.test_zoo import LIGHT

TURNS = "/v1/conversations/{}/turns"
SHARES = 4


def post(client: TestClient, body: Body, cid: str = "c1", **headers: str) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    sent = {"Content-Type": "application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return client.post(TURNS.format(cid), content=text.encode(), headers=sent)


def stored(client: TestClient, cid: str = "c1") -> list[Any]:
    found = client.get(TURNS.format(cid), params={"limit": 1000})
    assert found.status_code == 200, found.text
    turns: list[Any] = found.json()["data"]
    return turns


def replay(client: TestClient, target: str, cid: str = "c1", **options: Any) -> Any:
    found = client.get(f"/v1/conversations/{cid}/replay", params={"provider": target, **options})
    assert found.status_code == 200, found.text
    return found.json()


def verified(client: TestClient, cid: str = "c1") -> bool:
    answered = client.get(f"/v1/conversations/{cid}/verify").json()
    assert answered["problems"] == []
    return bool(answered["ok"])


def posted_messages(variant: Variant) -> list[Any]:
    told: list[Any] = []
    for body in variant.posts:
        members = json.loads(body) if isinstance(body, str) else json.loads(json.dumps(body))
        system = members.get("system", [])
        told += [system] if isinstance(system, str) else system
        told += members["messages"]
    return told


def kept_messages(client: TestClient, cid: str) -> list[Any]:
    """All payloads; one that holds several messages or blocks is a list of them."""
    listed = client.get(TURNS.format(cid), params={"raw": "true", "limit": 1000}).json()["data"]
    kept: list[Any] = []
    for turn in listed:
        payload = turn["payload"]
        kept += payload if isinstance(payload, list) else [payload]
    return kept


# In shares, so that all processes have their part.
@pytest.mark.parametrize("share", range(SHARES))
def test_the_store_shows_every_history_as_memory_does(
    client: TestClient, database_url: str, share: int
) -> None:
    """The first variant of each class, on SQLite every second one too, all where there is time."""
    step = 1 if IS_LONG else 2 if database_url.startswith("sqlite") else len(LIGHT)
    told_here = [one for at, one in enumerate(LIGHT) if at % step == 0 or one.is_first]
    differing = []
    for at, case in enumerate(told_here[share::SHARES]):
        cid, name, variant = f"zoo-{at}", str(case), case.variant
        for body in variant.posts:
            assert post(client, body, cid).status_code == 201, name
        told = laws.history(variant.posts, name=cid)
        for target in ("neutral", "mistral"):
            shown = replay(client, target, cid)
            expected = told.render(target)
            if shown["request"] != expected.request:
                differing.append((name, target, "request"))
            if shown["repairs"] != [json.loads(json.dumps(r.json())) for r in expected.repairs]:
                differing.append((name, target, "repairs"))
        if kept_messages(client, cid) != posted_messages(variant):
            differing.append((name, "payload", "kept"))
        assert verified(client, cid), name
    assert differing == []


# Z11: order is the order of storing.


def test_z11_places_are_counted_without_gaps_whatever_clocks_say(client: TestClient) -> None:
    for second in (9, 3, 3, 7):
        body = neutral(
            human(f"at {second}", metadata={"timestamp": f"2030-01-01T00:00:0{second}Z"})
        )
        assert post(client, body).status_code == 201
    turns = stored(client)
    assert [turn["seq"] for turn in turns] == [1, 2, 3, 4]
    assert [turn["blocks"][0]["text"] for turn in turns] == ["at 9", "at 3", "at 3", "at 7"]


def test_z11_a_result_that_came_first_is_matched_when_its_call_comes(client: TestClient) -> None:
    early = post(client, neutral(tool(result("soon", "already here")))).json()
    assert early["turns"][0]["tool_results"][0]["matched_by"] == "none"
    assert [note["code"] for note in early["notes"]] == ["ORPHAN_RESULT"]
    late = post(client, neutral(ai(call("soon", "wait")))).json()
    assert [note["code"] for note in late["notes"]] == ["EARLY_RESULT_MATCHED"]
    shown = replay(client, "openai")["request"]
    ((_, name, _, said),) = judges.calls_and_results("openai", shown)
    assert (name, said) == ("wait", "already here")


# Z12: several writers.


def write(client: TestClient, writer: int) -> list[int]:
    """Five rounds, each turn on its own, under ids that all writers use."""
    statuses = []
    for number in range(5):
        asked = assistant("", function("call_0", "dig", f'{{"by": "{writer}-{number}"}}'))
        given = answer("call_0", f"dug by {writer}-{number}")
        statuses += [post(client, chat(message)).status_code for message in (asked, given)]
    return statuses


def test_z12_writers_side_by_side_lose_nothing_and_leave_no_gap(client: TestClient) -> None:
    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(partial(write, client), range(6)))
    assert {status for each in statuses for status in each} == {201}
    turns = stored(client)
    assert [turn["seq"] for turn in turns] == list(range(1, 61))
    assert verified(client)
    for target in ("openai", "anthropic", "kimi", "mistral"):
        shown = replay(client, target)["request"]
        assert judges.history_complaints(target, shown) == []
        said = {str(said) for *_, said in judges.calls_and_results(target, shown)}
        assert said == {f"dug by {writer}-{number}" for writer in range(6) for number in range(5)}


def test_z12_a_writer_who_names_an_old_version_is_told_the_current_one(client: TestClient) -> None:
    assert post(client, neutral(human("first")), If_Match='"0"').status_code == 201
    stale = post(client, neutral(human("second")), If_Match='"0"')
    assert (stale.status_code, stale.json()["version"]) == (412, 1)
    assert len(stored(client)) == 1
    assert post(client, neutral(human("second")), If_Match='"1"').status_code == 201


def test_z12_of_two_writers_with_one_version_one_wins(client: TestClient) -> None:
    assert post(client, neutral(human("begin"))).status_code == 201

    def attempt(writer: int) -> int:
        body = neutral(human(f"I am {writer}"))
        return int(post(client, body, If_Match='"1"').status_code)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(attempt, range(4))) == [201, 412, 412, 412]
    assert len(stored(client)) == 2


# Z21, Z22: assigned ids are stored.


def test_z21_ids_outlive_the_process_and_are_never_given_twice(database_url: str) -> None:
    shown: list[list[object]] = []
    for day in range(3):
        with TestClient(create_app(Settings(database_url=database_url))) as client:
            body = neutral(
                ai(call(f"call_{day}", "dig")), tool(result(f"call_{day}", f"day {day}"))
            )
            assert post(client, body).status_code == 201
            for target in ("mistral", "kimi"):
                request = replay(client, target)["request"]
                shown.append([one for one, *_ in judges.calls_and_results(target, request)])
    mistral, kimi = shown[0::2], shown[1::2]
    assert mistral[1][:1] == mistral[0]
    assert mistral[2][:2] == mistral[1]
    assert len(set(mistral[2])) == 3
    assert kimi[2] == ["functions.dig:0", "functions.dig:1", "functions.dig:2"]


# Z28: raw ids of any length.


@pytest.mark.parametrize("length", [41, 2_705, 4_572, 65_536])
def test_z28_a_raw_id_of_any_length_is_stored_and_found(client: TestClient, length: int) -> None:
    raw_id = ("call_x__thought__" + "EuIDCt8D" * 8_192)[:length]
    body = chat(assistant("", function(raw_id, "dig")), provider="litellm")
    assert post(client, body).json()["turns"][0]["tool_calls"][0]["raw_id"] == raw_id
    found = post(client, chat(answer(raw_id, "found"), provider="litellm")).json()
    assert found["turns"][0]["tool_results"][0]["matched_by"] == "raw"
    found = client.get("/v1/tool-calls/lookup", params={"id": raw_id[:4_000]})
    assert found.status_code == 200
    assert verified(client)


# Z29: an id of ours means something in its own conversation only.


def test_z29_a_canonical_id_of_another_conversation_matches_nothing(client: TestClient) -> None:
    first = post(client, neutral(ai(call("a", "dig"))), "one").json()
    canonical = first["turns"][0]["tool_calls"][0]["id"]
    assert post(client, neutral(ai(call("b", "dig"))), "two").status_code == 201
    foreign = post(client, neutral(tool(result(canonical, "from afar"))), "two").json()
    assert foreign["turns"][0]["tool_results"][0]["matched_by"] == "none"
    own = post(client, neutral(tool(result(canonical, "from here"))), "one").json()
    assert own["turns"][0]["tool_results"][0]["matched_by"] == "canonical"
    assert "from afar" not in json.dumps(replay(client, "openai", "one"))


# Z33, Z40, Z42, Z43: what was posted comes back byte for byte.


HOSTILE = {
    "z33 digits": r'{"n":[9007199254740993,18446744073709551616,1.10,2e3,-0.0,1E-7]}',
    "z40 order of keys": r'{"zebra":1,"apple":{"b":2,"a":1.0},"zebra2":[]}',
    "z42 half a character": r'{"half":"x \ud83d y","other":"\udc00","\ud800":1}',
    "z43 nul": r'{"nul":"a\u0000b","more":"\u0000"}',
    "escapes and blanks": '{ "tab" : "\\t\\u0041\\/" ,\n "n" : [ 1 , 2 ] }',
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_what_was_posted_is_read_back_byte_for_byte(client: TestClient, value: str) -> None:
    message = (
        f'{{"speaker":"tool","blocks":[{{"type":"tool_result","call_id":"c","result":{value}}}]}}'
    )
    body = f'{{"provider":"neutral","turn_id":"t1","messages":[{message}]}}'
    assert post(client, verbatim(body)).status_code == 201
    read = client.get(f"{TURNS.format('c1')}/t1")
    assert read.status_code == 200
    assert f'"payload":{message}'.encode() in read.content
    listed = client.get(TURNS.format("c1"), params={"raw": "true"})
    assert f'"payload":{message}'.encode() in listed.content
    assert verified(client)


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_no_reader_of_it_ever_fails(client: TestClient, value: str) -> None:
    body = f"""{{"provider":"neutral","messages":[
      {{"speaker":"human","blocks":[{{"type":"text","text":"go"}}],"metadata":{value}}},
      {{"speaker":"ai","blocks":[{{"type":"tool_call","id":"c","name":"f","parameters":{value}}}]}},
      {{"speaker":"tool","blocks":[{{"type":"tool_result","call_id":"c","result":{value}}}]}}]}}"""
    assert post(client, verbatim(body)).status_code == 201
    for target in judges.TARGETS:
        if judges.available(target):
            continue
        shown = replay(client, target)["request"]
        assert judges.history_complaints(target, shown) == [], target
    for path in ("", "/turns", "/tool-calls", "/verify", "/replay?provider=neutral"):
        found = client.get(f"/v1/conversations/c1{path}")
        assert found.status_code == 200, path
        found.content.decode()


@pytest.mark.parametrize("raw", [r"half \ud83d", r"nul \u0000", r"\\ud83d", r"emoji \ud83d\ude00"])
def test_ids_and_names_of_any_characters_are_stored_and_matched(
    client: TestClient, raw: str
) -> None:
    body = f"""{{"provider":"neutral","messages":[
      {{"speaker":"ai","blocks":[{{"type":"tool_call","id":"{raw}","name":"{raw}"}}]}},
      {{"speaker":"tool","blocks":[{{"type":"tool_result","call_id":"{raw}","result":"ok"}}]}}]}}"""
    answered = post(client, verbatim(body))
    assert answered.status_code == 201
    assert answered.json()["turns"][1]["tool_results"][0]["matched_by"] == "raw"
    assert client.get("/v1/conversations/c1/tool-calls").status_code == 200
    assert verified(client)


# Z59: retries.


PAY = chat(user("pay five"))


def test_z59_a_retry_with_its_key_is_stored_once_and_answered_the_same(client: TestClient) -> None:
    first = post(client, PAY, Idempotency_Key="k1")
    again = post(client, PAY, Idempotency_Key="k1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert again.json() == first.json()
    assert len(stored(client)) == 1


def test_z59_a_key_with_another_body_is_refused_and_stores_nothing(client: TestClient) -> None:
    assert post(client, PAY, Idempotency_Key="k1").status_code == 201
    other = post(client, chat(user("pay six")), Idempotency_Key="k1")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert len(stored(client)) == 1


def test_z59_a_key_that_is_still_running_is_told_to_wait(client: TestClient) -> None:
    with client.app.state.context.claim("c1", "k1"):  # type: ignore[attr-defined]
        waiting = post(client, PAY, Idempotency_Key="k1")
        assert (waiting.status_code, waiting.headers["Retry-After"]) == (409, "1")
        assert post(client, PAY, "c2", Idempotency_Key="k1").status_code == 201
    assert post(client, PAY, Idempotency_Key="k1").status_code == 201


def test_z59_a_key_belongs_to_its_conversation(client: TestClient) -> None:
    assert post(client, PAY, "one", Idempotency_Key="k1").status_code == 201
    assert post(client, chat(user("pay six")), "two", Idempotency_Key="k1").status_code == 201


def test_z59_a_repeated_turn_id_protects_as_well(client: TestClient) -> None:
    body = chat(assistant("", function("call_1", "pay")))
    first = post(client, body | {"turn_id": "t-1"})
    again = post(client, body | {"turn_id": "t-1"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    other = post(client, chat(user("something else"), turn_id="t-1"))
    assert (other.status_code, other.json()["code"]) == (409, "turn_id_taken")
    assert len(stored(client)) == 1


def test_z59_a_retry_with_its_key_works_after_others_wrote(client: TestClient) -> None:
    first = post(client, PAY, Idempotency_Key="k1", If_Match='"0"')
    assert post(client, chat(assistant("Paid."))).status_code == 201
    again = post(client, PAY, Idempotency_Key="k1", If_Match='"0"')
    assert (again.status_code, again.json()) == (200, first.json())
    assert len(stored(client)) == 2


def test_z59_a_batch_is_stored_whole_or_not_at_all(client: TestClient) -> None:
    broken = chat(user("fine"), assistant("", function("call_1", "pay")), {"role": "critic"})
    assert post(client, broken, Idempotency_Key="k1").status_code == 422
    assert client.get("/v1/conversations/c1").status_code == 404
    assert post(client, chat(user("fine")), Idempotency_Key="k1").status_code == 201
    assert len(stored(client)) == 1


# Z60: what cannot be stored is refused, with its place.


@pytest.mark.parametrize(
    ("turn", "pointer"),
    [
        ({"speaker": "critic", "blocks": []}, "/messages/1/speaker"),
        ({"speaker": "human", "blocks": [{"text": "no type"}]}, "/messages/1/blocks/0/type"),
        ({"speaker": "human"}, "/messages/1/blocks"),
    ],
)
def test_z60_what_nobody_can_read_is_refused_with_its_place(
    client: TestClient, turn: dict[str, Any], pointer: str
) -> None:
    refused = post(client, neutral(human("before"), turn))
    assert (refused.status_code, refused.json()["pointer"]) == (422, pointer)
    assert client.get("/v1/conversations/c1").status_code == 404


def test_z60_unknown_blocks_are_stored_and_come_back(client: TestClient) -> None:
    strange = {"type": "hologram", "rays": [1, {"z": 1, "a": None}]}
    assert post(client, neutral(human("see", strange))).status_code == 201
    shown = replay(client, "openai")
    assert [repair["code"] for repair in shown["repairs"]] == ["BLOCK_OMITTED"]
    (turn,) = stored(client)
    assert strange in (turn["blocks"][1], turn["blocks"][1].get("native"))


# Z61: deltas of a stream.


def deltas(*pieces: list[dict[str, Any]]) -> bytes:
    """An SSE body of chat chunks, one for each piece."""
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": piece}}]} for piece in pieces]
    first = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in (first, *chunks, last)]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def piece(arguments: str, **more: Any) -> dict[str, Any]:
    """One delta; `name` goes where the wire has it."""
    name = {"name": more.pop("name")} if "name" in more else {}
    return {**more, "function": {**name, "arguments": arguments}}


STREAMS: dict[str, tuple[bytes, list[tuple[str, object]]]] = {
    "no index at all": (
        deltas(
            [piece('{"city":', id="a", name="weather")],
            [piece('"Bonn"}')],
            [piece('{"zone":"CET"}', id="b", name="time")],
        ),
        [("weather", {"city": "Bonn"}), ("time", {"zone": "CET"})],
    ),
    "one index for two calls": (
        deltas(
            [piece('{"q":"elm"}', index=0, id="a", name="find")],
            [piece('{"q":"oak"}', index=0, id="b", name="find")],
        ),
        [("find", {"q": "elm"}), ("find", {"q": "oak"})],
    ),
    "pieces of two calls mixed": (
        deltas(
            [piece("", index=0, id="a", name="left"), piece("", index=1, id="b", name="right")],
            [piece('{"n"', index=1), piece('{"m"', index=0)],
            [piece(":1}", index=0), piece(":2}", index=1)],
        ),
        [("left", {"m": 1}), ("right", {"n": 2})],
    ),
    "whole objects without ids": (
        deltas([piece('{"n":1}', name="dig")], [piece('{"n":2}', name="dig")]),
        [("dig", {"n": 1}), ("dig", {"n": 2})],
    ),
}


@pytest.mark.parametrize(("body", "calls"), STREAMS.values(), ids=STREAMS)
def test_z61_deltas_become_the_calls_that_were_made(
    client: TestClient, body: bytes, calls: list[tuple[str, object]]
) -> None:
    streamed(client, body)
    shown = replay(client, "openai")["request"]
    found = [(n, arguments) for _, n, arguments, _ in judges.calls_and_results("openai", shown)]
    assert found == calls


def streamed(client: TestClient, body: bytes) -> dict[str, Any]:
    answer = client.post(
        f"{TURNS.format('c1')}/stream",
        params={"provider": "openai"},
        content=body,
        headers={"Content-Type": "text/event-stream"},
    )
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


def test_z61_a_piece_under_a_wrong_index_goes_on_with_the_open_call(client: TestClient) -> None:
    first = [piece('{"city":"Paris"}', id="a", name="weather")]
    second = [piece('{"tz":"JST"}', id="b", name="time")]
    third = [piece('{"q":', index=0, id="c", name="find")]
    answer = streamed(client, deltas(first, second, third, [piece("1}", index=1)]))
    assert [note["code"] for note in answer["notes"]] == ["STREAM_REASSEMBLED"]
    shown = replay(client, "openai")["request"]
    found = [(n, arguments) for _, n, arguments, _ in judges.calls_and_results("openai", shown)]
    assert found == [("weather", {"city": "Paris"}), ("time", {"tz": "JST"}), ("find", {"q": 1})]


def test_z61_a_piece_that_fits_nowhere_is_reported(client: TestClient) -> None:
    body = deltas([piece('{"q":1}', index=0, id="c", name="find")], [piece("2}", index=1)])
    answer = streamed(client, body)
    assert [note["code"] for note in answer["notes"]] == ["STREAM_REASSEMBLED"]
    (call,) = client.get("/v1/conversations/c1/tool-calls").json()["data"]
    assert call["name"] == "find"
    (turn,) = stored(client)
    assert turn["blocks"][0]["parameters"] == {"q": 1}


def test_z61_arguments_that_ran_together_are_not_split_by_guess(client: TestClient) -> None:
    glued = [piece('{"q":"elm"}', index=0, id="a", name="find")]
    streamed(client, deltas(glued, [piece('{"q":"oak"}', index=0)]))
    shown = replay(client, "openai")
    assert "ARGS_UNPARSEABLE" in {repair["code"] for repair in shown["repairs"]}
    (turn,) = stored(client)
    assert turn["blocks"][0]["arguments"] == '{"q":"elm"}{"q":"oak"}'
