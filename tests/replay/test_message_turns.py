"""`tokens=true`: a replay says of each message from which turns it comes, and about how long it is.

Without it nothing is said, and nothing else changes with it.
"""

from typing import Any

import pytest

from app.formats.registry import CODECS, TARGETS
from tests.http_api import Api, answering, calling, user

LONG = "word " * 400


def fill(api: Api) -> None:
    system = {"role": "system", "content": "Be brief."}
    for number, message in enumerate(
        [
            system,
            user("short"),
            calling(("a", "f", "{}"), ("b", "g", '{"x": 1}')),
            answering("b", LONG),
            answering("a", "1"),
            user("and then?"),
            user(LONG),
            calling(("c", "h", "{}")),
        ],
        1,
    ):
        assert api.post(message, turn_id=f"t{number}").status_code == 201


def messages(told: Any, provider: str) -> list[Any]:
    shown: list[Any] = told["request"][CODECS[provider].messages]
    return shown


@pytest.mark.parametrize("provider", TARGETS)
def test_each_message_says_where_it_comes_from(lite: Api, provider: str) -> None:
    fill(lite)
    plain = lite.get("replay", provider=provider)
    told = lite.get("replay", provider=provider, tokens="true")
    assert plain.headers["ETag"] != told.headers["ETag"]
    replay = told.json()
    tokens, turns = replay.pop("tokens"), replay.pop("turns")
    assert replay == plain.json()
    assert len(tokens) == len(turns) == len(messages(replay, provider))
    first = [int(ids[0].removeprefix("t")) for ids in turns if ids]
    # Results follow the order of their calls, so t5 may come before t4.
    assert [min(one, 4) if one == 5 else one for one in first] == sorted(
        min(one, 4) if one == 5 else one for one in first
    )
    assert {one for ids in turns for one in ids} >= {f"t{seq}" for seq in range(2, 9)}
    for text, ids, estimate in zip(messages(replay, provider), turns, tokens, strict=True):
        assert estimate > 0
        assert (estimate > 400) == (LONG.strip() in str(text)), (ids, estimate)


def test_results_of_one_message_have_turns_of_their_own(api: Api) -> None:
    fill(api)
    turns = api.replay("openai", tokens="true")["turns"]
    assert turns[:5] == [["t1"], ["t2"], ["t3"], ["t5"], ["t4"]]
    assert api.replay("anthropic", tokens="true")["turns"][2] == ["t5", "t4", "t6", "t7"]


def test_only_what_is_new_has_turns_too(api: Api) -> None:
    fill(api)
    told = api.replay("openai", tokens="true", since=5)
    assert told["since"]["unchanged"]
    assert told["turns"][:2] == [["t6"], ["t7"]]
    assert len(told["tokens"]) == len(told["turns"]) == len(told["request"]["messages"])


def test_a_long_history_has_turns_in_order(api: Api) -> None:
    for number in range(5):
        talk = [
            user("x") if one % 2 else {"role": "assistant", "content": "y"} for one in range(20)
        ]
        api.post(*talk, headers={"Idempotency-Key": str(number)})
    told = api.replay("openai", tokens="true")
    ids = [one["turn_id"] for one in api.get("turns", limit=1000).json()["data"]]
    assert [turn for turns in told["turns"] for turn in turns] == ids
