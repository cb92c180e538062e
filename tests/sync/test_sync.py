"""`POST turns?mode=sync`: the whole list as runtimes hold it; only what is new is appended."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest

from app.formats.registry import CODECS, TARGETS
from app.jsontext.reading import loads
from app.jsontext.writing import dumps
from app.sync import seeing
from tests.http_api import Api, answering, calling, user

READ = ("call_1", "read", '{"path": "a.txt"}')
GREP = ("call_2", "grep", '{"for": "x"}')


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def sync(api: Api, *messages: Any, headers: Any = None, **body: Any) -> Any:
    body = {"provider": "openai", "messages": list(messages), **body}
    url = "/v1/conversations/c1/turns?mode=sync"
    return api.http.post(url, json=body, headers=headers)


def outcome(answer: Any) -> tuple[int, int, list[str]]:
    """Status, known, and the speakers of the new turns."""
    receipt = answer.json()
    assert "known" in receipt, receipt
    return answer.status_code, receipt["known"], [turn["speaker"] for turn in receipt["turns"]]


def difference(answer: Any) -> tuple[int, str, str, int]:
    problem = answer.json()
    assert problem["code"] == "history_differs", problem
    return answer.status_code, problem["pointer"], problem["differs"], problem["seq"]


def version(api: Api) -> int:
    number: int = api.get("").json()["version"]
    return number


def test_a_list_grows_from_sync_to_sync(api: Api) -> None:
    whole = [user("a"), calling(READ), answering("call_1", "alpha"), said("b"), user("c")]
    assert outcome(sync(api, *whole[:2])) == (201, 0, ["human", "ai"])
    assert outcome(sync(api, *whole[:4])) == (201, 2, ["tool", "ai"])
    assert outcome(sync(api, *whole)) == (201, 4, ["human"])
    assert version(api) == 5


def test_a_list_that_is_stored_already_changes_nothing(api: Api) -> None:
    whole = [user("a"), calling(READ), answering("call_1", "alpha"), said("b")]
    sync(api, *whole)
    for length in (4, 3, 2, 1):
        again = sync(api, *whole[:length])
        assert outcome(again) == (200, length, [])
        assert again.headers["etag"] == '"4"'
    assert version(api) == 4


@pytest.mark.parametrize("number", ["1e400", "1" + "0" * 400])
def test_numbers_that_no_double_holds_are_known_again(lite: Api, number: str) -> None:
    call = calling(("call_1", "read", f'{{"n":{number}}}'))
    whole = [user("a"), call, answering("call_1", f'{{"m":{number}}}'), said("b")]
    assert outcome(sync(lite, *whole)) == (201, 0, ["human", "ai", "tool", "ai"])
    spaced = calling(("call_1", "read", f'{{ "n": {number} }}'))
    assert outcome(sync(lite, user("a"), spaced)) == (200, 2, [])
    other = calling(("call_1", "read", f'{{"n":-{number}}}'))
    assert difference(sync(lite, user("a"), other)) == (409, "/messages/1", "call", 2)
    for target in TARGETS:
        # Python's own reader would make infinity of it.
        replay: Any = loads(lite.get("replay", provider=target).text)
        body = dumps({"provider": target, **replay["request"]})
        path, kind = "/v1/conversations/c1/turns?mode=sync", {"Content-Type": "application/json"}
        handed_back = lite.http.post(path, content=body, headers=kind)
        assert (handed_back.status_code, handed_back.json().get("turns")) == (200, []), target


@pytest.mark.parametrize(
    ("place", "changed", "differs"),
    [
        (0, user("A"), "text"),
        (0, user("a, and more"), "text"),
        (0, said("a"), "speaker"),
        (1, calling(("call_1", "write", READ[2]), GREP), "call"),
        (1, calling(("call_1", "read", '{"path": "b.txt"}'), GREP), "call"),
        (1, calling(READ), "call"),
        (1, said("no"), "text"),
        (2, answering("call_1", "other"), "result"),
        (4, said("b is changed"), "text"),
        (4, said(""), "speaker"),
    ],
)
def test_a_changed_message_is_named(lite: Api, place: int, changed: Any, differs: str) -> None:
    whole = [user("a"), calling(READ, GREP), answering("call_1", "alpha")]
    whole += [answering("call_2", "beta"), said("b"), user("c")]
    sync(lite, *whole)
    refused = sync(lite, *whole[:place], changed, *whole[place + 1 :], user("new"))
    where = place + 1 if differs == "speaker" and place == 4 else place
    assert difference(refused)[:3] == (409, f"/messages/{where}", differs)
    assert refused.json()["index"] == where
    assert refused.json()["turn_id"] == lite.get("turns").json()["data"][place]["turn_id"]
    assert version(lite) == 6


def test_a_difference_says_nothing_of_the_content(lite: Api) -> None:
    sync(lite, user("the secret word"))
    refused = sync(lite, user("another secret"))
    assert "secret" not in refused.text


def test_a_response_is_recognised_as_the_message_that_the_sdk_gives(api: Api) -> None:
    api.post(user("a"))
    call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None}
    response = {"id": "r1", "choices": [{"index": 0, "message": message}], "model": "m"}
    body = {"provider": "openai", "response": response}
    assert api.http.post("/v1/conversations/c1/turns", json=body).status_code == 201
    dumped = {**message, "audio": None, "function_call": None, "annotations": []}
    plain = {"role": "assistant", "tool_calls": [call]}
    for shown in (dumped, plain):
        assert outcome(sync(api, user("a"), shown)) == (200, 2, [])
    assert outcome(sync(api, user("a"), dumped, answering("call_1", "x"))) == (201, 2, ["tool"])


def test_results_in_another_order_are_known(lite: Api) -> None:
    first, second = answering("call_1", "alpha"), answering("call_2", "beta")
    sync(lite, user("a"), calling(READ, GREP), second, first)
    assert outcome(sync(lite, user("a"), calling(READ, GREP), first, second)) == (200, 4, [])


def test_a_message_that_is_known_in_part_brings_the_rest(lite: Api) -> None:
    sync(lite, user("a"), calling(READ, GREP), answering("call_1", "alpha"))
    results = [
        {"type": "tool_result", "tool_use_id": "call_1", "content": "alpha"},
        {"type": "tool_result", "tool_use_id": "call_2", "content": "beta"},
        {"type": "text", "text": "go on"},
    ]
    calls = [
        {"type": "tool_use", "id": "call_1", "name": "read", "input": {"path": "a.txt"}},
        {"type": "tool_use", "id": "call_2", "name": "grep", "input": {"for": "x"}},
    ]
    whole = [user("a"), {"role": "assistant", "content": calls}]
    answer = sync(lite, *whole, {"role": "user", "content": results}, provider="anthropic")
    assert outcome(answer) == (201, 2, ["tool"])
    assert [note["code"] for note in answer.json()["notes"]] == ["PARTLY_KNOWN"]
    blocks = lite.get("turns").json()["data"][3]["blocks"]
    assert [block["type"] for block in blocks] == ["tool_result", "text"]
    again = sync(lite, *whole, {"role": "user", "content": results}, provider="anthropic")
    assert outcome(again) == (200, 3, [])


def test_the_system_prompt_may_stand_beside_inside_or_nowhere(lite: Api) -> None:
    system = {"role": "system", "content": "be brief"}
    sync(lite, system, user("a"))
    assert outcome(sync(lite, user("a"))) == (200, 1, [])
    assert outcome(sync(lite, user("a"), system="be brief", provider="anthropic")) == (200, 1, [])
    changed = sync(lite, user("a"), system="be long", provider="anthropic")
    assert difference(changed) == (409, "/system", "text", 1)
    assert "index" not in changed.json()


def test_a_system_prompt_beside_a_new_list_is_stored(lite: Api) -> None:
    answer = sync(lite, user("a"), system="be brief", provider="anthropic")
    assert outcome(answer) == (201, 0, ["system", "human"])


@pytest.mark.parametrize("target", TARGETS)
def test_a_replay_handed_back_with_new_messages_appends_only_those(api: Api, target: str) -> None:
    """Kimi's calls, Mistral's results, one call without a result, a note of the system."""
    api.post(
        {"role": "system", "content": "be brief"},
        user("a"),
        calling(("functions.read:0", "read", "{}"), ("functions.read:1", "read", '{"n":1}')),
        provider="kimi",
    )
    api.post(answering("functions.read:1", {"rows": [1, 2.50]}), provider="mistral")
    api.post(user("go on"), {"role": "system", "content": "hurry"}, said("done"), user("thanks"))
    before = version(api)
    request = api.replay(target)["request"]
    key = CODECS[target].messages
    count = len(request[key])
    same = api.http.post(
        "/v1/conversations/c1/turns?mode=sync", json={"provider": target, **request}
    )
    assert outcome(same) == (200, count, [])
    assert version(api) == before
    more = {
        "gemini": [{"role": "model", "parts": [{"text": "you are welcome"}]}],
        "bedrock": [{"role": "assistant", "content": [{"text": "you are welcome"}]}],
        "neutral": [{"speaker": "ai", "blocks": [{"type": "text", "text": "you are welcome"}]}],
    }.get(target, [said("you are welcome")])
    request[key] += more
    for status, known, new in ((201, count, ["ai"]), (200, count + 1, [])):
        answer = api.http.post(
            "/v1/conversations/c1/turns?mode=sync", json={"provider": target, **request}
        )
        assert outcome(answer) == (status, known, new)
    assert version(api) == before + 1


def test_a_number_of_a_result_without_a_call_may_be_spelled_in_another_way(lite: Api) -> None:
    """As it is after a runtime has read and written the list."""
    lite.http.post(
        "/v1/conversations/c1/turns",
        content='{"provider":"openai","messages":[{"role":"tool","tool_call_id":"x","content":[1e2]}]}',
        headers={"Content-Type": "application/json"},
    )
    request = lite.replay("neutral")["request"]
    for result, status in (([100.0], 200), ([101.0], 409)):
        request["turns"][0]["blocks"][0]["result"] = result
        told = {"provider": "neutral", **request}
        synced = lite.http.post("/v1/conversations/c1/turns?mode=sync", json=told)
        assert synced.status_code == status


def test_results_without_calls_that_give_one_value_in_two_spellings_stay_two(lite: Api) -> None:
    def given(number: str) -> str:
        response = f'{{"name":"f","response":{{"a":{number}}}}}'
        return f'{{"role":"user","parts":[{{"functionResponse":{response}}}]}}'

    def told(text: str) -> str:
        return f'{{"role":"model","parts":[{{"text":"{text}"}}]}}'

    whole = [given("1.0"), told("one"), given("1"), told("two")]
    for count in (1, 2, 3, 4, 4):
        body = f'{{"provider":"gemini","contents":[{",".join(whole[:count])}]}}'
        headers = {"Content-Type": "application/json"}
        url = "/v1/conversations/c1/turns?mode=sync"
        synced = lite.http.post(url, content=body, headers=headers)
        assert (synced.status_code, synced.json().get("version")) in ((201, count), (200, 4))
    assert version(lite) == 4


def test_thinking_alone_is_new_once(lite: Api) -> None:
    thought = {"role": "assistant", "content": None, "reasoning_content": "hm"}
    sync(lite, user("a"), provider="deepseek")
    for known, new in ((1, ["ai"]), (2, [])):
        done = sync(lite, user("a"), thought, provider="deepseek")
        assert outcome(done) == (201 if new else 200, known, new)
    other = {**thought, "reasoning_content": "hm, hm"}
    assert outcome(sync(lite, user("a"), thought, other, provider="deepseek"))[1:] == (2, ["ai"])
    assert outcome(sync(lite, user("a"), said("b"), provider="deepseek")) == (201, 1, ["ai"])


def test_a_picture_of_a_result_that_a_replay_moved_is_known(lite: Api) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    sync(lite, user("a"), calling(READ), answering("call_1", [picture]), said("b"))
    shown = lite.replay("openai")["request"]["messages"]
    assert shown[3]["content"][0] == picture
    assert outcome(sync(lite, *shown, user("c"))) == (201, 5, ["human"])
    other = {"role": "user", "content": [{**picture, "image_url": {"url": "https://x.org/b.png"}}]}
    assert difference(sync(lite, *shown[:3], other, *shown[4:]))[1] == "/messages/3"


PICTURE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}


def test_a_new_picture_that_a_result_showed_before_is_stored(lite: Api) -> None:
    whole = [user("a"), calling(READ), answering("call_1", [PICTURE]), said("done")]
    sync(lite, *whole)
    again = {"role": "user", "content": [PICTURE]}
    assert outcome(sync(lite, *whole, again)) == (201, 4, ["human"])
    assert outcome(sync(lite, *whole, again)) == (200, 5, [])


def test_a_picture_that_a_replay_moved_is_known_once(lite: Api) -> None:
    sync(lite, user("a"), calling(READ), answering("call_1", [PICTURE]), said("done"))
    shown = lite.replay("openai")["request"]["messages"]
    again = {"role": "user", "content": [PICTURE]}
    assert shown[3] == again
    assert difference(sync(lite, *shown[:4], again, *shown[4:]))[1:3] == ("/messages/4", "speaker")
    assert outcome(sync(lite, *shown, again)) == (201, 5, ["human"])
    assert lite.get("turns").json()["data"][4]["blocks"][0]["type"] == "image"


@pytest.mark.parametrize("left_out", ["result", "picture"])
def test_the_same_picture_is_new_further_on_whatever_the_list_has_lost(
    lite: Api, left_out: str
) -> None:
    sync(lite, user("a"), calling(READ), answering("call_1", [PICTURE]), said("b"), user("c"))
    shown = lite.replay("openai")["request"]["messages"]
    assert [one["role"] for one in shown[2:4]] == ["tool", "user"]
    del shown[2]
    if left_out == "picture":
        shown[2:3] = lite.replay("openai")["request"]["messages"][2:3]
    else:
        assert outcome(sync(lite, *shown)) == (200, 5, [])
        del shown[2]
    again = {"role": "user", "content": [PICTURE]}
    assert outcome(sync(lite, *shown, said("d"), again))[2] == ["ai", "human"]
    assert lite.get("turns").json()["data"][-1]["blocks"][0]["type"] == "image"


def test_a_picture_that_a_replay_moved_is_known_behind_an_interrupted_turn(lite: Api) -> None:
    lite.post(user("a"))
    call = {"type": "tool_call", "id": "call_1", "name": "read", "arguments": READ[2]}
    broken_off(lite, call)
    lite.post(answering("call_1", [PICTURE]), said("done"))
    shown = lite.replay("openai")["request"]["messages"]
    assert outcome(sync(lite, *shown)) == (200, len(shown), [])
    cut = lite.replay("openai", last=2)["request"]["messages"]
    assert outcome(sync(lite, *cut)) == (200, len(cut), [])


def test_the_history_is_rendered_once_however_many_results_differ(
    lite: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay shows words in the place of pictures, so each result is held against a render."""
    ids = [f"call_{number}" for number in range(5)]
    calls = calling(*((one, "see", "{}") for one in ids))
    sync(lite, user("a"), calls, *(answering(one, [PICTURE]) for one in ids))
    shown = lite.replay("openai")["request"]["messages"]
    render = Mock(wraps=seeing.shown_results)
    monkeypatch.setattr(seeing, "shown_results", render)
    assert outcome(sync(lite, *shown)) == (200, len(shown), [])
    assert render.call_count == 1


def test_a_result_that_gained_a_picture_differs(lite: Api) -> None:
    words = {"type": "text", "text": "alpha"}
    sync(lite, user("a"), calling(READ), answering("call_1", [words]), said("done"))
    gained = answering("call_1", [words, PICTURE])
    refused = sync(lite, user("a"), calling(READ), gained, said("done"))
    assert difference(refused) == (409, "/messages/2", "result", 3)


def test_a_placeholder_never_becomes_a_result(api: Api) -> None:
    api.post(user("a"), calling(READ))
    shown = api.replay("openai")["request"]["messages"]
    assert shown[2]["content"].startswith("[Error] [turnkeep]")
    assert outcome(sync(api, *shown, user("b"))) == (201, 3, ["human"])
    assert api.get("tool-calls").json()["data"][0]["state"] == "open"
    real = answering(shown[2]["tool_call_id"], "alpha")
    assert outcome(sync(api, *shown[:2], real, user("b"))) == (201, 3, ["tool"])
    assert outcome(sync(api, *shown, user("b"))) == (200, 4, [])
    assert api.get("tool-calls").json()["data"][0]["state"] == "answered"


def test_a_placeholder_in_a_new_conversation_is_stored_as_unknown(lite: Api) -> None:
    lite.post(user("a"), calling(READ), cid="other")
    answer = lite.get("replay", cid="other", provider="openai").json()
    shown = answer["request"]["messages"]
    sync(lite, *shown)
    assert lite.get("turns").json()["data"][2]["blocks"][0]["status"] == "unknown"
    assert outcome(sync(lite, *shown)) == (200, 3, [])
    late = answering(shown[2]["tool_call_id"], "alpha")
    assert outcome(sync(lite, *shown[:2], late)) == (201, 2, ["tool"])


def test_a_result_finds_the_call_beside_which_it_stands_in_the_list(lite: Api) -> None:
    """Hosts repeat ids; by id alone the result would answer the newer call."""
    same = ("call_0", "read", "{}")
    sync(lite, user("a"), calling(same), user("b"), calling(same), user("c"))
    whole = [user("a"), calling(same), answering("call_0", "first"), user("b"), calling(same)]
    assert outcome(sync(lite, *whole, user("c"))) == (201, 5, ["tool"])
    second, first = lite.get("tool-calls").json()["data"]
    assert (first["state"], second["state"]) == ("answered", "open")


@pytest.mark.parametrize("prompt", [[], [{"role": "system", "content": "Be brief."}]])
def test_a_late_result_is_brought_to_its_call_whether_there_is_a_system_prompt(
    lite: Api, prompt: list[Any]
) -> None:
    whole = [*prompt, user("read a"), calling(READ), said("Wait."), user("and b?"), said("Later.")]
    sync(lite, *whole)
    late = sync(lite, *whole[: len(prompt) + 2], answering("call_1", "alpha"))
    assert outcome(late) == (201, len(prompt) + 2, ["tool"])


def test_a_denial_without_a_reason_is_the_one_that_has_one(lite: Api) -> None:
    def denied(**approval: Any) -> dict[str, Any]:
        part = {"type": "tool-rm", "toolCallId": "c1", "state": "output-denied", "input": {}}
        answer = {"id": "a", "approved": False, **approval}
        return {"role": "assistant", "parts": [{**part, "approval": answer}]}

    opening = {"role": "user", "parts": [{"type": "text", "text": "x"}]}
    sync(lite, opening, denied(), provider="vercel")
    assert outcome(sync(lite, opening, denied(reason="no"), provider="vercel")) == (200, 2, [])


def test_items_are_known_with_the_nulls_of_a_dump_and_without(lite: Api) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    block = {"speaker": "ai", "provider": "openai-responses", "blocks": []}
    native = {**thought, "content": None, "status": None}
    old = {"type": "thinking", "text": "", "native": native, "wire": "openai-responses"}
    first = {"speaker": "human", "blocks": [{"type": "text", "text": "x"}]}
    sync(lite, first, {**block, "blocks": [old]}, provider="neutral")
    new = {**old, "native": thought}
    answer = sync(lite, first, {**block, "blocks": [new]}, provider="neutral")
    assert outcome(answer) == (200, 2, [])


def test_thoughts_of_messages_that_say_nothing_else_are_known_behind_a_note(lite: Api) -> None:
    lite.post({"speaker": "note", "blocks": [{"type": "text", "text": "n"}]}, provider="neutral")
    for thought in ("a", "b"):
        strange = [{"type": "hologram", "data": thought}]
        turn = {"role": "assistant", "content": strange, "reasoning_content": thought}
        lite.post(turn, provider="acme", format="mistral")
    shown = lite.replay("mistral", reasoning="text")["request"]["messages"]
    answer = sync(lite, *shown, provider="mistral")
    assert (answer.status_code, answer.json()["turns"]) == (200, [])


def broken_off(api: Api, *blocks: Any, provider: str = "openai") -> None:
    """A turn of the model whose stream broke."""
    turn = {"speaker": "ai", "status": "interrupted", "blocks": list(blocks)}
    assert api.post(turn, provider=provider, format="neutral").status_code == 201


def test_an_interrupted_turn_is_known_as_it_broke_off_or_left_out(lite: Api) -> None:
    lite.post(user("a"))
    broken_off(lite, {"type": "text", "text": "Hel"})
    assert outcome(sync(lite, user("a"), said("Hel"))) == (200, 2, [])
    assert outcome(sync(lite, user("a"), user("again"))) == (201, 1, ["human"])
    assert outcome(sync(lite, user("a"), user("again"), said("b"))) == (201, 2, ["ai"])


def test_an_interrupted_turn_is_completed_by_the_message_in_its_place(api: Api) -> None:
    api.post(user("a"))
    broken_off(api, {"type": "text", "text": "Hel"})
    whole = sync(api, user("a"), said("Hello"), user("b"))
    assert outcome(whole) == (201, 1, ["ai", "human"])
    assert [note["code"] for note in whole.json()["notes"]] == ["TURN_COMPLETED"]
    turns = api.get("turns").json()["data"]
    assert [turn["blocks"][0]["text"] for turn in turns] == ["a", "Hello", "b"]
    assert outcome(sync(api, user("a"), said("Hello"), user("b"))) == (200, 3, [])
    assert api.get("verify").json()["ok"]


def test_an_old_interrupted_turn_is_completed_too(lite: Api) -> None:
    lite.post(user("a"))
    broken_off(lite, {"type": "text", "text": "Hel"})
    lite.post(user("b"), said("c"))
    whole = [user("a"), said("Hello"), user("b"), said("c")]
    assert outcome(sync(lite, *whole)) == (200, 3, ["ai"])
    assert outcome(sync(lite, *whole)) == (200, 4, [])
    assert version(lite) == 4


def test_the_receipt_has_the_calls_and_the_notes_of_a_completed_turn(lite: Api) -> None:
    lite.post(user("a"))
    broken_off(lite, {"type": "text", "text": "I"})
    message = {**calling(("", "read", READ[2])), "content": "I read"}
    receipt = sync(lite, user("a"), message, user("b"), temperature=1).json()
    assert [turn["seq"] for turn in receipt["turns"]] == [2, 3]
    (call,) = receipt["turns"][0]["tool_calls"]
    assert (call["name"], call["parameters"]) == ("read", {"path": "a.txt"})
    codes = [note["code"] for note in receipt["notes"]]
    assert codes == ["TURN_COMPLETED", "ID_SYNTHESIZED", "SETTINGS_IGNORED"]


def test_a_second_try_of_a_broken_answer_is_recognised_behind_it(lite: Api) -> None:
    lite.post(user("a"))
    broken_off(lite, {"type": "text", "text": "Hel"})
    lite.post(said("Hello"))
    assert outcome(sync(lite, user("a"), said("Hello"), user("b"))) == (201, 2, ["human"])


def test_another_provider_does_not_complete_what_broke_off(lite: Api) -> None:
    lite.post(user("a"))
    broken_off(lite, {"type": "text", "text": "Hel"})
    whole = sync(lite, user("a"), said("Hello"), provider="anthropic")
    assert outcome(whole) == (201, 1, ["ai"])


def test_results_of_a_completed_turn_are_known(lite: Api) -> None:
    call = {"type": "tool_call", "id": "call_1", "name": "read", "arguments": READ[2]}
    lite.post(user("a"))
    broken_off(lite, call)
    lite.post(answering("call_1", "alpha"))
    whole = [user("a"), {**calling(READ), "content": "I read"}, answering("call_1", "alpha")]
    assert outcome(sync(lite, *whole)) == (200, 2, ["ai"])
    assert lite.get("tool-calls").json()["data"][0]["state"] == "answered"
    assert lite.get("verify").json()["ok"]


def test_a_list_without_its_beginning_is_recognised_where_most_of_it_fits(lite: Api) -> None:
    whole = [user("a"), said("ok"), user("b"), said("ok"), user("c"), said("ok")]
    sync(lite, *whole)
    assert outcome(sync(lite, *whole[1:], user("d"))) == (201, 5, ["human"])
    assert outcome(sync(lite, *whole[3:], user("d"), said("ok"))) == (201, 4, ["ai"])


def test_a_cut_list_of_the_same_words_is_not_looked_for_everywhere(lite: Api) -> None:
    """It nearly fits wherever it is laid; to walk along for each place would take forever."""
    yes, end = [user("yes")] * 200, user("no")
    sync(lite, user("a"), *yes, end)
    assert outcome(sync(lite, *yes[:10], end)) == (200, 11, [])
    assert difference(sync(lite, *yes[:100], end))[1:3] == ("/messages/0", "text")


def test_a_list_without_its_beginning_is_recognised_where_it_fits_once(lite: Api) -> None:
    whole = [user("a"), said("b"), user("yes"), said("c"), user("yes")]
    sync(lite, *whole)
    cut = sync(lite, *whole[3:], said("d"))
    assert outcome(cut) == (201, 2, ["ai"])
    assert [note["code"] for note in cut.json()["notes"]] == ["LIST_CUT"]
    assert difference(sync(lite, user("yes"))) == (409, "/messages/0", "text", 1)
    assert difference(sync(lite, user("never said"), said("d")))[1] == "/messages/0"


def test_one_message_that_was_said_before_is_no_list_without_its_beginning(lite: Api) -> None:
    sync(lite, user("start"), said("Shall I?"), user("yes"), said("Done. Again?"))
    assert difference(sync(lite, user("yes"))) == (409, "/messages/0", "text", 1)
    assert "leave out `mode=sync`" in sync(lite, user("yes")).json()["detail"]
    assert version(lite) == 4


def test_one_message_with_its_result_is_not_taken_for_a_later_one_without(lite: Api) -> None:
    first, second = (calling((one, "poll", "{}")) for one in ("c1", "c2"))
    sync(lite, user("go"), first, answering("c1", "pending"), said("wait"), user("and?"), second)
    assert difference(sync(lite, first, answering("c1", "pending")))[:2] == (409, "/messages/0")
    assert lite.get("tool-calls").json()["data"][0]["state"] == "open"


def test_a_result_without_its_call_answers_the_open_one_of_its_name(lite: Api) -> None:
    """Though an earlier one of it gave the same: some runtimes count from 0 in every turn."""
    calls = [calling(("call_0", "write", f'{{"f": "{one}"}}')) for one in "ab"]
    done = answering("call_0", "ok")
    sync(lite, user("go"), calls[0], done, calls[1])
    assert outcome(sync(lite, user("go"), done))[2] == ["tool"]
    assert {one["state"] for one in lite.get("tool-calls").json()["data"]} == {"answered"}


def test_what_a_replay_showed_of_a_call_is_told_again_once(lite: Api) -> None:
    calls = [calling(("call_0", "read", "{}")), calling(("functions.read:0", "read", "{}"))]
    lite.post(calls[0], answering("call_0", "ok"), calls[1])
    shown = lite.replay("kimi")["request"]["messages"]
    result = next(one for one in shown if one["role"] == "tool")
    assert result["tool_call_id"] == "functions.read:0"
    assert outcome(sync(lite, result, provider="kimi")) == (200, 1, [])
    assert outcome(sync(lite, result, result, provider="kimi"))[2] == ["tool"]
    states = [one["state"] for one in lite.get("tool-calls").json()["data"]]
    assert states == ["answered", "answered"]


def test_the_note_on_a_cut_list_names_the_result_with_which_it_begins(lite: Api) -> None:
    whole = [user("a"), calling(READ), answering("call_1", "x"), said("b"), user("c")]
    sync(lite, *whole)
    cut = sync(lite, *whole[2:])
    assert outcome(cut) == (200, 3, [])
    (note,) = cut.json()["notes"]
    assert (note["code"], note["detail"].split(";")[0]) == (
        "LIST_CUT",
        "the list begins with turn 3",
    )
    assert note["turn_id"] == lite.get("turns").json()["data"][2]["turn_id"]


def test_a_replay_of_the_last_turns_is_recognised(lite: Api) -> None:
    sync(lite, user("a"), calling(READ), answering("call_1", "x"), said("b"), user("c"))
    shown = lite.replay("anthropic", last=2)["request"]
    count = len(shown["messages"])
    answer = sync(lite, *shown["messages"], said("d"), provider="anthropic")
    assert outcome(answer) == (201, count, ["ai"])


def sync_replay(api: Api, target: str, *new: Any, **window: Any) -> Any:
    """Syncs a replay as it was shown, with new messages behind it."""
    request = api.replay(target, **window)["request"]
    request[CODECS[target].messages] += new
    body = {"provider": target, **request}
    return api.http.post("/v1/conversations/c1/turns?mode=sync", json=body)


def states(api: Api) -> list[str]:
    """Of the calls in the order in which they were made."""
    calls = api.get("tool-calls").json()["data"]
    return [one["state"] for one in sorted(calls, key=lambda one: one["seq"])]


def same(raw_id: str) -> dict[str, Any]:
    """The same call each time, but for its id."""
    return calling((raw_id, "read", "{}"))


def opened_and_repeated(api: Api, first: str = "a", second: str = "b") -> None:
    """A call without a result; then all is said again, and the same call gets one."""
    api.post(user("continue"), same(first), user("continue"), same(second))
    api.post(answering(second, "file"))


@pytest.mark.parametrize("target", TARGETS)
def test_a_window_gives_no_result_to_an_older_call_that_is_the_same(lite: Api, target: str) -> None:
    opened_and_repeated(lite)
    done = sync_replay(lite, target, last=3)
    assert (done.status_code, done.json()["turns"]) == (200, [])
    assert [note["code"] for note in done.json()["notes"]] == ["LIST_CUT"]
    assert states(lite) == ["open", "answered"]
    assert version(lite) == 5


def test_what_is_new_behind_a_window_is_stored_even_if_it_was_said_before(lite: Api) -> None:
    """From the beginning it would all be known, but for a result: the ids tell."""
    opened_and_repeated(lite)
    assert outcome(sync_replay(lite, "openai", user("continue"), last=3)) == (201, 3, ["human"])
    assert states(lite) == ["open", "answered"]
    whole = [user("go"), same("c"), answering("c", "-"), user("go"), same("d"), answering("d", "-")]
    assert lite.post(*whole, cid="c2").status_code == 201
    body = {"provider": "openai", "messages": [*whole[3:], user("go")]}
    done = lite.http.post("/v1/conversations/c2/turns?mode=sync", json=body)
    assert outcome(done) == (201, 3, ["human"])


def test_an_old_list_brings_a_result_to_the_call_that_it_names(lite: Api) -> None:
    opened_and_repeated(lite)
    told = [user("continue"), same("a"), answering("a", "file")]
    assert outcome(sync(lite, *told)) == (201, 2, ["tool"])
    assert states(lite) == ["answered", "answered"]


def test_a_whole_list_brings_a_result_to_an_old_call(lite: Api) -> None:
    for first, second in (("a", "b"), ("call_0", "call_0")):
        lite.http.delete("/v1/conversations/c1")
        opened_and_repeated(lite, first, second)
        told = [user("continue"), same(first), answering(first, "file")]
        told += [user("continue"), same(second), answering(second, "file")]
        assert outcome(sync(lite, *told, user("new"))) == (201, 5, ["tool", "human"])
        assert states(lite) == ["answered", "answered"]


def test_where_ids_do_not_tell_the_place_where_more_is_known_is_taken(lite: Api) -> None:
    opened_and_repeated(lite, "call_0", "call_0")
    told = [user("continue"), same("call_0"), answering("call_0", "file")]
    assert outcome(sync(lite, *told)) == (200, 3, [])
    assert outcome(sync(lite, user("continue"), same("x"), answering("x", "file"))) == (200, 3, [])
    # As much is known from the beginning, where it brings a result, as at the end.
    refused = sync(lite, *told, user("continue"))
    assert difference(refused) == (409, "/messages/2", "result", 2)
    assert version(lite) == 5


def test_a_history_too_much_alike_to_be_searched_gets_no_doubtful_result(lite: Api) -> None:
    again = [user("go"), same("call_0"), answering("call_0", "-")]
    sync(lite, *again[:2], *again * 150)
    assert difference(sync(lite, *again * 60))[:3] == (409, "/messages/2", "result")
    assert version(lite) == 452


def test_a_window_is_found_by_its_ids_however_often_the_same_is_said(lite: Api) -> None:
    whole = [
        one
        for number in range(200)
        for one in (user("go"), same(f"c{number}"), answering(f"c{number}", "-"))
    ]
    sync(lite, *whole)
    assert outcome(sync(lite, *whole[300:], user("go"))) == (201, 300, ["human"])


def test_an_interrupted_turn_is_not_completed_by_a_window_that_says_the_same(lite: Api) -> None:
    lite.post(user("continue"))
    broken_off(lite, {"type": "text", "text": "Hel"})
    lite.post(user("continue"), said("Hello"))
    assert outcome(sync_replay(lite, "openai", last=2)) == (200, 2, [])
    assert lite.get("turns").json()["data"][1]["status"] == "interrupted"


def test_a_call_is_not_taken_for_another_that_a_replay_shows_under_its_id(lite: Api) -> None:
    """The list lacks a message in its middle, and would fit if ids did not count."""
    lite.post(user("go"), same("a"), same("b"), answering("b", "file"))
    shown = lite.replay("openai")["request"]["messages"]
    assert [one["role"] for one in shown] == ["user", *["assistant", "tool"] * 2]
    refused = sync(lite, shown[0], *shown[3:])
    assert difference(refused) == (409, "/messages/1", "call", 2)
    assert states(lite) == ["open", "answered"]


@pytest.mark.parametrize("target", ["openai", "kimi"])
def test_a_window_with_a_hole_brings_nothing_to_the_call_that_it_lacks(
    lite: Api, target: str
) -> None:
    """It shows the older call, whose result came last, and not the same one behind that."""
    lite.post(user("go"), same("a"), same("b"), answering("a", "file"))
    assert sync_replay(lite, target, user("new"), last=1).status_code == 409
    assert states(lite) == ["answered", "open"]
    assert version(lite) == 4


def test_a_result_under_the_id_of_another_call_is_refused(lite: Api) -> None:
    lite.post(user("go"), same("a"), same("b"), answering("b", "file"))
    refused = sync(lite, user("go"), same("b"), answering("b", "file"))
    assert difference(refused) == (409, "/messages/2", "result", 2)
    assert states(lite) == ["open", "answered"]


def test_a_cut_list_may_begin_as_the_history_does(lite: Api) -> None:
    sync(lite, user("continue"), said("step 1"), user("continue"), said("step 2"))
    cut = sync_replay(lite, "openai", last=2)
    assert outcome(cut) == (200, 2, [])
    assert [note["code"] for note in cut.json()["notes"]] == ["LIST_CUT"]
    for status, known, new in ((201, 2, ["human"]), (200, 3, [])):
        cut = sync(lite, user("continue"), said("step 2"), user("thanks"))
        assert outcome(cut) == (status, known, new)
    assert version(lite) == 5


def test_a_list_that_differs_is_no_cut_list_if_no_more_of_it_is_known_further_on(lite: Api) -> None:
    """It may be the whole one with an answer that was made anew."""
    sync(lite, user("continue"), said("step 1"), user("continue"))
    anew = [user("continue"), said("another step 1"), user("and on")]
    assert difference(sync(lite, *anew)) == (409, "/messages/1", "text", 2)
    assert version(lite) == 3


def test_a_list_that_fits_in_several_places_is_taken_where_its_ids_say(lite: Api) -> None:
    turns = [turn for one in "abc" for turn in (user("go"), same(one), answering(one, "file"))]
    sync(lite, user("start"), *turns)
    done = sync_replay(lite, "kimi", {"role": "user", "content": "go"}, last=3)
    assert outcome(done) == (201, 3, ["human"])
    assert difference(sync(lite, user("go"), same("x"), answering("x", "file")))[0] == 409


def tools(name: str) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {}}
    return [
        {"type": "function", "function": {"name": name, "description": "d", "parameters": schema}}
    ]


def in_force(api: Api) -> str:
    offered = api.get("tools", provider="openai").json()["request"]["tools"]
    return "".join(one["function"]["name"] for one in offered)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_an_old_list_does_not_change_the_tools(lite: Api, length: int) -> None:
    whole = [user("a"), calling(READ, GREP), answering("call_1", "alpha")]
    whole += [answering("call_2", "beta"), said("b")]
    sync(lite, *whole[:length], tools=tools("A"))
    sync(lite, *whole[: length + 1], tools=tools("B"))
    for headers in (None, {"If-Match": f'"{length}"'}):
        late = sync(lite, *whole[:length], tools=tools("A"), headers=headers)
        assert outcome(late) == (200, length, [])
        assert [note["code"] for note in late.json()["notes"]] == [
            "LIST_ENDS_EARLIER",
            "TOOLS_NOT_KEPT",
        ]
        assert in_force(lite) == "B"
    again = sync(lite, *whole[:length], tools=tools("B"))
    assert [note["code"] for note in again.json()["notes"]] == ["LIST_ENDS_EARLIER"]


def test_a_list_that_ends_earlier_is_told_how_many_turns_it_lacks(lite: Api) -> None:
    whole = [user("a"), calling(READ, GREP), answering("call_1", "alpha")]
    whole += [answering("call_2", "beta"), said("b"), user("c"), said("d")]
    sync(lite, *whole)
    lite.post({"speaker": "note", "text": "approved"}, provider="neutral")
    broken_off(lite, {"type": "text", "text": "Hel"})
    turns = lite.get("turns").json()["data"]
    for length in range(1, 7):
        short = sync(lite, *whole[:length])
        assert outcome(short) == (200, length, [])
        (note,) = short.json()["notes"]
        assert (note["code"], note["turn_id"]) == ("LIST_ENDS_EARLIER", turns[length]["turn_id"])
        lacked = f"{7 - length} stored turns" if length < 6 else "1 stored turn"
        assert note["detail"].endswith(f" it lacks {lacked}, from turn {length + 1} on")
    assert sync(lite, *whole).json()["notes"] == []
    assert version(lite) == 9


def test_a_cut_list_that_ends_earlier_says_both(lite: Api) -> None:
    whole = [user("a"), said("b"), user("yes"), said("c"), user("e"), said("f")]
    sync(lite, *whole)
    first, second = sync(lite, *whole[1:4]).json()["notes"]
    assert (first["code"], second["code"]) == ("LIST_CUT", "LIST_ENDS_EARLIER")
    assert "it lacks 2 stored turns, from turn 5 on" in second["detail"]


def test_a_list_that_ends_earlier_and_brings_a_result_says_so(lite: Api) -> None:
    whole = [user("a"), calling(READ), user("b")]
    sync(lite, *whole)
    late = sync(lite, *whole[:2], answering("call_1", "alpha"))
    assert outcome(late) == (201, 2, ["tool"])
    assert "it lacks 1 stored turn, from turn 3 on" in late.json()["notes"][0]["detail"]
    again = sync(lite, *whole[:2], answering("call_1", "alpha"))
    assert [note["detail"] for note in again.json()["notes"]] == [
        "the list ends earlier than the history: it lacks 1 stored turn, from turn 3 on"
    ]


def test_an_old_list_that_brings_a_result_does_not_change_the_tools(lite: Api) -> None:
    whole = [user("a"), calling(READ), user("b")]
    sync(lite, *whole, tools=tools("B"))
    late = sync(lite, *whole[:2], answering("call_1", "alpha"), tools=tools("A"))
    assert outcome(late) == (201, 2, ["tool"])
    assert in_force(lite) == "B"


def test_a_list_that_holds_the_newest_turn_changes_the_tools(lite: Api) -> None:
    whole = [user("a"), calling(READ), answering("call_1", "alpha")]
    for number, length in enumerate((1, 2, 3, 3)):
        sync(lite, *whole[:length])
        assert outcome(sync(lite, *whole[:length], tools=tools(f"t{number}")))[0] == 200
        assert in_force(lite) == f"t{number}"
    lite.post({"speaker": "note", "text": "approved"}, provider="neutral")
    broken_off(lite, {"type": "text", "text": "Hel"})
    sync(lite, *whole, tools=tools("last"))
    assert in_force(lite) == "last"


def test_a_placeholder_does_not_make_an_old_list_a_new_one(lite: Api) -> None:
    lite.post(user("a"), calling(READ))
    shown = lite.replay("openai")["request"]["messages"]
    sync(lite, *shown[:2], answering("call_1", "alpha"), tools=tools("B"))
    sync(lite, *shown, tools=tools("A"))
    assert in_force(lite) == "B"


def test_a_stale_condition_stops_tools_that_would_be_kept(api: Api) -> None:
    sync(api, user("a"), said("b"), tools=tools("A"))
    stale = {"If-Match": '"1"'}
    refused = sync(api, user("a"), said("b"), tools=tools("B"), headers=stale)
    assert (refused.status_code, refused.json()["code"]) == (412, "stale_version")
    assert in_force(api) == "A"
    assert outcome(sync(api, user("a"), said("b"), tools=tools("A"), headers=stale))[0] == 200
    fresh = {"If-Match": '"2"'}
    assert outcome(sync(api, user("a"), said("b"), tools=tools("B"), headers=fresh))[0] == 200
    assert in_force(api) == "B"


def test_a_stale_condition_stops_only_what_would_be_stored(api: Api) -> None:
    stale = {"If-Match": '"1"'}
    sync(api, user("a"), said("b"))
    assert outcome(sync(api, user("a"), headers=stale)) == (200, 1, [])
    refused = sync(api, user("a"), said("b"), user("c"), headers=stale)
    assert (refused.status_code, refused.json()["code"]) == (412, "stale_version")
    assert (
        outcome(sync(api, user("a"), said("b"), user("c"), headers={"If-Match": '"2"'}))[0] == 201
    )


def test_of_racing_syncs_one_appends(api: Api) -> None:
    sync(api, user("a"))
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: outcome(sync(api, user("a"), said("b"))), range(8)))
    assert sorted(done) == [(200, 2, [])] * 7 + [(201, 1, ["ai"])]
    assert version(api) == 2


def test_a_key_gives_the_first_receipt_again(api: Api) -> None:
    key = {"Idempotency-Key": "k"}
    first = sync(api, user("a"), headers=key)
    again = sync(api, user("a"), headers=key)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    other = sync(api, user("b"), headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_the_receipt_has_texts_when_asked(lite: Api) -> None:
    sync(lite, user("a"))
    body = {"provider": "openai", "messages": [user("a"), said("b")]}
    url = "/v1/conversations/c1/turns?mode=sync&return=turns"
    assert lite.http.post(url, json=body).json()["turns"][0]["text"] == "b"


def test_new_turns_get_the_ids_that_stand_beside_the_list(lite: Api) -> None:
    whole = [user("a"), calling(READ), answering("call_1", "alpha"), said("b")]
    names = ["t1", "t2", None, "t4"]
    sync(lite, *whole[:2], turn_ids=names[:2])
    done = sync(lite, *whole, turn_ids=names)
    assert outcome(done) == (201, 2, ["tool", "ai"])
    assert done.json()["turns"][1]["turn_id"] == "t4"
    assert outcome(sync(lite, *whole, turn_ids=names)) == (200, 4, [])
    taken = sync(lite, *whole, user("c"), turn_ids=[*names[:3], None, "t4"])
    assert (taken.status_code, taken.json()["code"]) == (409, "turn_id_taken")


def test_a_new_message_under_the_id_of_a_stored_one_is_no_retry(lite: Api) -> None:
    whole = [user("a"), user("b")]
    sync(lite, *whole, turn_ids=["t1", "t2"])
    taken = sync(lite, *whole, user("a"), turn_ids=[None, None, "t1"])
    assert (taken.status_code, taken.json()["code"]) == (409, "turn_id_taken")
    assert taken.json()["turn_ids"] == ["t1"]
    assert version(lite) == 2


def test_a_key_of_a_post_is_not_that_of_a_sync(lite: Api) -> None:
    key = {"Idempotency-Key": "k"}
    body = {"provider": "openai", "messages": [user("a")]}
    url = "/v1/conversations/c1/turns"
    lite.http.post(url, json=body, headers=key)
    reused = lite.http.post(f"{url}?mode=sync", json=body, headers=key)
    assert (reused.status_code, reused.json()["code"]) == (422, "idempotency_key_reused")


def test_a_response_that_is_null_says_nothing(lite: Api) -> None:
    assert outcome(sync(lite, user("a"), response=None)) == (201, 0, ["human"])


def test_a_response_cannot_be_synced(lite: Api) -> None:
    body = {"provider": "openai", "response": {"choices": []}}
    refused = lite.http.post("/v1/conversations/c1/turns?mode=sync", json=body)
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/response")


def test_tools_beside_a_known_list_are_kept(lite: Api) -> None:
    sync(lite, user("a"))
    function = {"name": "read", "description": "Reads", "parameters": {"type": "object"}}
    tools = [{"type": "function", "function": function}]
    assert outcome(sync(lite, user("a"), tools=tools)) == (200, 1, [])
    assert lite.get("tools", provider="anthropic").json()["request"]["tools"][0]["name"] == "read"


def test_a_list_may_be_longer_than_a_post(lite: Api) -> None:
    lines = [user(str(number)) for number in range(1500)]
    sync(lite, *lines[:1000])
    assert outcome(sync(lite, *lines[:1400]))[:2] == (201, 1000)
    fresh = lite.http.post(
        "/v1/conversations/new/turns?mode=sync", json={"provider": "openai", "messages": lines}
    )
    assert (fresh.status_code, fresh.json()["limit"]) == (422, "turns")
