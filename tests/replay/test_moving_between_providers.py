"""An agent moves between any two providers at any turn; a third one reads the whole history."""

from itertools import product

from app.formats.registry import TARGETS
from tests import judges
from tests.every import every
from tests.histories import History, posted
from tests.laws.said import Answer, Said, Use, Words
from tests.laws.strategies import Voice, body

JUDGED = [target for target in TARGETS if target != "neutral"]
CALLS = ("red", "green", "blue")


def asked(maker: str) -> str:
    """Three parallel calls, under ids of the maker's own kind where it has ids."""
    forms = {"kimi": "functions.paint:{}", "mistral": "paint{:04d}", "gemini": ""}
    form = forms.get(maker, "call_{:024d}")
    uses = tuple(
        Use(form.format(number) or None, "paint", f'{{"colour": "{colour}"}}')
        for number, colour in enumerate(CALLS)
    )
    return body(Voice(maker), [Said("human", (Words("three, please"),)), Said("ai", uses)])


def answered(reader: str, ids: list[str]) -> str:
    """The results in another order, under the ids that the reader was shown."""
    pairs = list(zip(ids, CALLS, strict=True))
    pieces = tuple(
        Answer(shown, value=f'"{colour} is done"', name="paint")
        for shown, colour in (pairs[2], pairs[0], pairs[1])
    )
    said = [Said("tool", (piece,)) for piece in pieces]
    return body(Voice(reader), said)


def provider_ids(history: History, reader: str) -> list[str]:
    if reader == "neutral":
        return list(history.remembered.ledger.calls)
    request = history.render(reader).request
    return [str(call_id) for call_id, *_ in judges.calls_and_results(reader, request)]


@every(("maker", "reader"), list(product(TARGETS, TARGETS)), by=lambda pair: str(pair[0]))
def test_calls_of_one_are_answered_through_another_and_read_by_all(maker: str, reader: str) -> None:
    first = asked(maker)
    ids = provider_ids(posted(first), reader)
    last = body(Voice(reader), [Said("ai", (Words("all done"),)), Said("human", (Words("ok"),))])
    history = posted(first, answered(reader, ids), last)
    for third in JUDGED:
        render = history.render(third)
        assert judges.history_complaints(third, render.request) == []
        results = [result for *_, result in judges.calls_and_results(third, render.request)]
        assert len(results) == len(CALLS)
        for colour, result in zip(CALLS, results, strict=True):
            assert f"{colour} is done" in str(result)
