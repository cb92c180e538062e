"""What OpenAI's models say a text is: kept, but no part of what a turn is known by."""

from app.formats.neutral.blocks import block
from app.model.conversation import Draft, Text
from app.turns.turnform import content_hash


def test_a_response_that_is_posted_again_is_known_with_the_phase_of_its_text_and_without() -> None:
    first, again = (
        Draft("ai", (Text("x", phase=phase),), facts={"id": "r"}) for phase in (None, "commentary")
    )
    assert content_hash(first) == content_hash(again)


def test_a_phase_that_nobody_knows_is_not_read() -> None:
    assert block({"type": "text", "text": "x", "phase": "later"}, "") == Text("x")
