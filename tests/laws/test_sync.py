"""Syncing: a list that tells the stored history again is recognised, whatever the replay did to it.

The last tests go through the real application; the others hold the same values against each other
without a database.
"""

import json
from collections.abc import Iterator
from itertools import count, takewhile
from typing import Any

from fastapi.testclient import TestClient
from hypothesis import assume, given
from hypothesis import strategies as st

from app.formats.registry import CODECS, TARGETS
from app.jsontext.reading import loads_object
from app.main import create_app
from app.model.limits import Limits
from app.settings import Settings
from app.sync.messagelist import MessageList, read_list
from app.sync.recognising import Recognised, Recognising, Told
from app.sync.retelling import Difference
from app.sync.seeing import named_call, shown_calls, shown_results
from tests.histories import History, Render, posted
from tests.laws.running import messages, tried
from tests.laws.said import MARKER, Said, Words, written
from tests.laws.strategies import Bodies, healthy_histories, histories
from tests.laws.wires import WRITERS

PROVIDERS = tuple(target for target in TARGETS if target in WRITERS)
OPTIONS = st.fixed_dictionaries(
    {
        "reasoning": st.sampled_from(("auto", "auto", "text", "drop")),
        "model": st.sampled_from((None, None, "claude-a", "gemini-3-pro")),
        "ready": st.booleans(),
    }
)


def body_of(render: Render, target: str) -> str:
    return (b'{"provider":"%s",' % target.encode() + render.raw[1:]).decode()


def held_against(history: History, body: str) -> tuple[MessageList, Recognised | Difference]:
    members, texts = loads_object(body, Limits())
    told = read_list(members, texts, Limits())
    stored, target = history.remembered, told.format
    found = Recognising(
        Told(stored.turns, stored.links()),
        told.told,
        CODECS[target].profile.names,
        lambda: shown_results(stored.loaded(target), target),
        shown_calls(stored.loaded(target), target),
        lambda result: named_call(stored.ledger, result),
        lambda seq, turn: False,
    ).outcome()
    return told, found


def assert_all_known(found: Recognised | Difference) -> None:
    assert isinstance(found, Recognised), found
    assert not found.bare
    assert not any(found.new.values())


@tried(100)
@given(histories(), OPTIONS)
def test_a_replay_for_any_target_is_known(bodies: Bodies, options: dict[str, Any]) -> None:
    history = posted(*bodies)
    for target in TARGETS:
        ready = options["ready"] and target != "neutral"
        render = history.render(target, **{**options, "ready": ready})
        if history.remembered.turns and messages(render, target):
            assert_all_known(held_against(history, body_of(render, target))[1])


@tried(60)
@given(healthy_histories(), st.integers(1, 6))
def test_a_window_of_a_healthy_history_is_known(bodies: Bodies, last: int) -> None:
    history = posted(*bodies)
    for target in TARGETS:
        render = history.render(target, last=last)
        if messages(render, target):
            assert_all_known(held_against(history, body_of(render, target))[1])


@tried(60)
@given(healthy_histories())
def test_the_messages_as_they_were_posted_are_known(bodies: Bodies) -> None:
    first = json.loads(bodies[0])["provider"]
    own = list(takewhile(lambda body: json.loads(body)["provider"] == first, bodies))
    whole = json.loads(own[0])
    key = "messages" if "messages" in whole else CODECS[first].messages
    whole[key] = [message for body in own for message in json.loads(body)[key]]
    assert_all_known(held_against(posted(*bodies), json.dumps(whole))[1])


@tried(60)
@given(healthy_histories(), st.integers(0, 30))
def test_a_changed_message_is_the_one_that_is_named(bodies: Bodies, chosen: int) -> None:
    history = posted(*bodies)
    for target in TARGETS:
        request = history.render(target).request
        told = request[CODECS[target].messages]
        place = chosen % len(told)
        text = json.dumps(told[place])
        # Notes may be left out of a list, and blocks that only their issuer reads are not compared.
        assume(MARKER.search(text) and told[place].get("speaker") != "note")
        told[place] = json.loads(MARKER.sub("~changed~", text, count=1))
        listed, found = held_against(history, json.dumps({"provider": target, **request}))
        assert isinstance(found, Difference), target
        assert listed.messages[found.seq - 1].place == place, target


@tried(60)
@given(histories(), st.integers(0, 30))
def test_what_is_left_out_in_the_middle_is_never_appended(bodies: Bodies, chosen: int) -> None:
    history = posted(*bodies)
    for target in TARGETS:
        request = history.render(target).request
        told = request[CODECS[target].messages]
        if len(told) > 1:
            del told[chosen % len(told)]
            found = held_against(history, json.dumps({"provider": target, **request}))[1]
            if isinstance(found, Recognised):
                assert not any(found.new.values()), target


def calling(**raw_ids: str) -> dict[str, Any]:
    """A message that makes calls of one tool: by what each asks, the raw id of the call."""
    made = [
        {
            "id": raw_id,
            "type": "function",
            "function": {"name": "read", "arguments": f'{{"q":"{q}"}}'},
        }
        for q, raw_id in raw_ids.items()
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def giving(**results: str) -> list[dict[str, Any]]:
    return [{"role": "tool", "tool_call_id": one, "content": said} for said, one in results.items()]


SAYINGS = st.sampled_from(
    ("go", "go", "ok", "ok", "open", "answered", "answered", "late", "interrupted")
)


def repeating(sayings: list[str], raw_id: str) -> History:
    """A history that says the same again and again, but for the ids of its calls."""
    told: list[tuple[str, dict[str, Any]]] = []
    waiting: list[str] = []
    for number, saying in enumerate(sayings):
        one = raw_id.format(number)
        match saying:
            case "go":
                told.append(("openai", {"role": "user", "content": "go"}))
            case "ok":
                told.append(("openai", {"role": "assistant", "content": "ok"}))
            case "open" | "answered":
                told.append(("openai", calling(same=one)))
                waiting.append(one)
                if saying == "answered":
                    told += [("openai", result) for result in giving(file=waiting.pop())]
            case "late" if waiting:
                told += [("openai", result) for result in giving(file=waiting.pop(0))]
            case "interrupted":
                half = {"type": "text", "text": "o"}
                turn = {"speaker": "ai", "status": "interrupted", "blocks": [half]}
                told.append(("neutral", turn))
    bodies = (json.dumps({"provider": one, "messages": [message]}) for one, message in told)
    return posted(*bodies)


HISTORIES = st.builds(
    repeating, st.lists(SAYINGS, max_size=12), st.sampled_from(("call_{}", "call_0", "call_7{}"))
)


@tried(200)
@given(HISTORIES, st.integers(1, 6))
def test_a_window_of_a_history_that_repeats_itself_brings_nothing(
    history: History, last: int
) -> None:
    for target in TARGETS:
        render = history.render(target, last=last)
        if messages(render, target):
            found = held_against(history, body_of(render, target))[1]
            assert isinstance(found, Difference) or not found.completed, target
            assert isinstance(found, Difference) or not found.bare, target
            assert isinstance(found, Difference) or not any(found.new.values()), target


@tried(200)
@given(HISTORIES, st.integers(1, 12), st.sampled_from(("go", "new")))
def test_of_a_history_that_repeats_itself_exactly_what_is_new_is_appended(
    history: History, last: int, words: str
) -> None:
    """Of a window, if it is not refused: then its own words stand behind it."""
    turns = history.remembered.turns
    assume(turns)
    for target in PROVIDERS:
        request = history.render(target, **({"last": last} if words == "new" else {})).request
        told = request[CODECS[target].messages]
        said = WRITERS[target].write(Said("human", (Words(words),)))
        told += [json.loads(written(one)) for one in said]
        found = held_against(history, json.dumps({"provider": target, **request}))[1]
        if isinstance(found, Difference):
            assert last < len(turns), target
        else:
            assert [seq for seq in found.new if found.new[seq]] == [len(told)], target


def test_a_result_without_its_call_is_not_given_to_another_call_of_the_same_name() -> None:
    # Kimi is shown the first call under the name of the last one, and that as `functions.read:2`.
    told = [calling(a="call_0", b="call_1"), *giving(one="call_0", two="call_1")]
    told.append(calling(c="functions.read:0"))
    history = posted(json.dumps({"provider": "openai", "messages": told}))
    request = history.render("kimi").request
    assert request["messages"][1]["tool_call_id"] == "functions.read:0"
    del request["messages"][0]
    assert_all_known(held_against(history, json.dumps({"provider": "kimi", **request}))[1])


def test_an_interrupted_turn_behind_a_file_of_a_result_is_known() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    held = {"filename": "notes", "file_data": "data:application/pdf;base64,JVBERi0xLjQ="}
    result = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "file", "file": held}]}
    calling = {"role": "assistant", "content": "", "tool_calls": [call]}
    said = {"speaker": "ai", "status": "interrupted", "blocks": [{"type": "text", "text": "I see"}]}
    history = posted(
        json.dumps({"provider": "openai", "messages": [calling, result]}),
        json.dumps({"provider": "neutral", "messages": [said]}),
    )
    for target in ("openai", "gemini", "vercel"):
        body = body_of(history.render(target), target)
        assert "JVBERi0xLjQ=" in body
        assert_all_known(held_against(history, body)[1])


def test_a_result_with_an_error_is_known_however_its_numbers_are_spelled() -> None:
    def body(number: float) -> str:
        call = {"type": "tool_call", "id": "c1", "name": "count", "parameters": {}}
        result = {"type": "tool_result", "call_id": "c1", "result": {"n": number}}
        failed = {**result, "status": "interrupted", "error": "cut off"}
        turns = [{"speaker": "ai", "blocks": [call]}, {"speaker": "tool", "blocks": [failed]}]
        return json.dumps({"provider": "neutral", "messages": turns})

    assert_all_known(held_against(posted(body(1.0)), body(1))[1])


def test_a_result_without_its_call_is_not_given_to_one_that_came_under_its_canonical_id() -> None:
    forged = "hist_tool_" + "0" * 24
    told = [calling(a=forged, b="call_1"), *giving(one=forged, two="call_1"), calling(c=forged)]
    history = posted(json.dumps({"provider": "openai", "messages": told}))
    for target in TARGETS:
        request = history.render(target).request
        del request[CODECS[target].messages][0]
        found = held_against(history, json.dumps({"provider": target, **request}))[1]
        assert not isinstance(found, Recognised) or not any(found.new.values()), target


def test_a_picture_of_a_result_that_is_left_out_is_not_appended() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    picture = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    result = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": [{"type": "image", "source": picture}],
    }
    history = posted(
        json.dumps(
            {"provider": "openai", "messages": [{"role": "assistant", "tool_calls": [call]}]}
        ),
        json.dumps({"provider": "anthropic", "messages": [{"role": "user", "content": [result]}]}),
    )
    request = history.render("kimi").request
    # Kimi takes no pictures in results: this one stands in a message of its own behind it.
    _, told, shown = request["messages"]
    assert (told["role"], shown["role"]) == ("tool", "user")
    request["messages"].remove(told)
    assert_all_known(held_against(history, json.dumps({"provider": "kimi", **request}))[1])


class Loop:
    """A runtime that holds its list and syncs it."""

    def __init__(self, http: TestClient, cid: str) -> None:
        self.http = http
        self.url = f"/v1/conversations/{cid}"

    def version(self) -> int:
        number: int = self.http.get(self.url).json()["version"]
        return number

    def sync(self, target: str, request: dict[str, Any]) -> tuple[int, int, int]:
        """Status, known, new turns."""
        body = json.dumps({"provider": target, **request})
        headers = {"Content-Type": "application/json"}
        answer = self.http.post(f"{self.url}/turns?mode=sync", content=body, headers=headers)
        receipt = answer.json()
        assert "known" in receipt, receipt
        return answer.status_code, receipt["known"], len(receipt["turns"])


def spoken(target: str, numbers: Iterator[int]) -> list[Any]:
    """A question and its answer, in the shape of the target."""
    said = (
        Said("human", (Words(f"question {next(numbers)}"),)),
        Said("ai", (Words(f"answer {next(numbers)}"),)),
    )
    return [json.loads(written(one)) for turn in said for one in WRITERS[target].write(turn)]


def test_loops_over_all_targets_append_exactly_what_is_new(database_url: str) -> None:
    numbers = count()
    with TestClient(create_app(Settings(database_url=database_url))) as http:

        @tried(10)
        @given(histories(6), st.lists(st.sampled_from(PROVIDERS), min_size=1, max_size=3))
        def holds(bodies: Bodies, targets: list[str]) -> None:
            loop = Loop(http, f"c{next(numbers)}")
            for body in bodies:
                headers = {"Content-Type": "application/json"}
                http.post(f"{loop.url}/turns", content=body.encode(), headers=headers)
            assume(bodies)
            for target in targets:
                answer = http.get(f"{loop.url}/replay", params={"provider": target})
                request, key = answer.json()["request"], CODECS[target].messages
                for _ in range(2):
                    before, known = loop.version(), len(request[key])
                    if known:
                        assert loop.sync(target, request) == (200, known, 0)
                    assert loop.version() == before
                    request[key] += spoken(target, numbers)
                    assert loop.sync(target, request) == (201, known, 2)
                    assert loop.version() == before + 2
            assert http.get(f"{loop.url}/verify").json()["ok"]

        holds()
