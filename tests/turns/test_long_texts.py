"""A long text is read and written in parts: nobody else is served while one call holds the lock."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from app.jsontext import reading
from app.model.large import PIECE, Chunks, whole
from app.model.limits import Limits
from app.turns.posting import read_post
from app.turns.turnform import made_ready, read_turn

SIZE = 3 * 1024 * 1024
SAID: dict[str, Any] = {
    "plain": "x" * SIZE,
    "escapes": "\n" * SIZE,
    "parts": [{"type": "text", "text": "\n" * (SIZE // 10)}] * 10,
}


@pytest.mark.parametrize("name", SAID)
def test_no_call_of_the_decoder_or_the_encoder_sees_all_of_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    written: list[int] = []
    decode = reading._decoder(Limits().integer_digits).raw_decode
    encode = orjson.dumps

    def decoded(given: str, position: int) -> Any:
        read.append(len(given) - position)
        return decode(given, position)

    def encoded(value: Any, *more: Any) -> bytes:
        done = encode(value, *more)
        written.append(len(done))
        return done

    body = json.dumps({"provider": "openai", "messages": [{"role": "user", "content": SAID[name]}]})
    whole = made_ready(read_post(*reading.loads_object(body, Limits()), Limits()).drafts)
    monkeypatch.setattr(reading, "_decoder", lambda *_: SimpleNamespace(raw_decode=decoded))
    monkeypatch.setattr(orjson, "dumps", encoded)
    members, texts = reading.loads_object(body, Limits())
    turns = made_ready(read_post(members, texts, Limits()).drafts)
    assert max(read) <= reading._WINDOW
    assert max(written) <= reading._WINDOW
    assert turns == whole


@pytest.mark.parametrize("name", SAID)
def test_a_stored_turn_is_read_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps({"provider": "openai", "messages": [{"role": "user", "content": SAID[name]}]})
    (new,) = made_ready(read_post(*reading.loads_object(body, Limits()), Limits()).drafts)
    turn = new.draft.placed(1, "t1", new.draft.blocks)
    record = new.record(turn, datetime.now(UTC))
    assert all(isinstance(one, Chunks) for one in (record.payload, record.blocks))
    assert max(map(len, (*record.payload, *record.blocks))) <= PIECE
    assert whole(record.payload) == new.draft.payload.encode()
    seen: list[int] = []
    decode = reading._decoder(Limits().integer_digits).raw_decode

    def decoded(given: str, position: int) -> Any:
        seen.append(len(given) - position)
        return decode(given, position)

    monkeypatch.setattr(reading, "_decoder", lambda *_: SimpleNamespace(raw_decode=decoded))
    assert read_turn(record) == turn
    assert max(seen) <= reading._WINDOW
