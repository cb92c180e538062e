"""Law 1: what was posted is what is kept, byte for byte."""

from hypothesis import example, given

from app.formats.neutral.blocks import block, block_json
from app.jsontext.reading import loads
from app.jsontext.writing import dumps, dumps_pieces
from app.model.json_values import Json
from app.model.limits import UNLIMITED
from tests.histories import posted
from tests.laws import found, oracle
from tests.laws.running import tried
from tests.laws.strategies import Bodies, histories


@tried(60)
@given(histories())
@example(found.ERROR_THAT_IS_OK)
def test_blocks_come_back_from_their_stored_bytes(bodies: Bodies) -> None:
    for turn in posted(*bodies).remembered.turns:
        shown: Json = [block_json(one) for one in turn.blocks or ()]
        stored = dumps(shown).encode()
        assert b"".join(dumps_pieces(shown)) == stored
        values = loads(stored.decode(), UNLIMITED)
        assert isinstance(values, list)
        assert repr(tuple(block(one, "") for one in values)) == repr(turn.blocks)
        assert stored.isascii()


@tried(60)
@given(histories())
def test_a_call_is_named_by_the_hash_that_the_design_says(bodies: Bodies) -> None:
    turns = posted(*bodies).remembered.turns
    ids = [pair for turn in turns for pair in oracle.canonical_ids(turn)]
    kept = {call.raw_id for turn in turns for call in turn.calls()}
    assert len({given_id for given_id, _ in ids}) == len(ids)
    assert all(given_id == hashed or given_id in kept for given_id, hashed in ids)
