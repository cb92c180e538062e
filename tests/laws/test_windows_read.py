"""A window that reads only what it shows is the window of the whole conversation."""

import json
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.database.database import Database
from app.database.store import ReadStore
from app.formats.registry import TARGETS
from app.jsontext.reading import loads_object
from app.model.limits import Limits
from app.replay import history as loading
from app.replay.options import ReplayOptions
from app.replay.rendering import Loaded, Rendered, render
from app.turns.commands import Append
from app.turns.posting import read_post
from app.turns.turnform import made_ready, read_turn
from tests.laws.running import tried
from tests.laws.strategies import Bodies, histories

windows = st.builds(
    ReplayOptions,
    st.sampled_from(TARGETS),
    last=st.none() | st.integers(1, 5),
    max_tokens=st.none() | st.integers(1, 120),
    tools=st.sampled_from(("include", "flatten")),
).filter(lambda options: options.is_window)


@pytest.fixture(scope="module")
def database(new_database: Callable[[], str]) -> Iterator[Database]:
    with Database(new_database()) as database:
        yield database


def append(database: Database, cid: str, body: str) -> None:
    members, texts = loads_object(body, Limits())
    post = read_post(members, texts, Limits())
    database.write_now(Append(cid, made_ready(post.drafts)))


def of_all(store: ReadStore, cid: str, until: int, options: ReplayOptions) -> Rendered:
    """The window, cut out of the whole conversation."""
    records = store.turns.page(cid, until=until, as_of=until)
    turns = [read_turn(record) for record in records]
    links = store.ledger.links(cid, until=until)
    assigned = store.ledger.provider_ids(cid, options.provider)
    return render(Loaded(turns, links, assigned), options)


def of_window(store: ReadStore, cid: str, until: int, options: ReplayOptions) -> Rendered:
    return render(loading.load(store, cid, until, options, as_of=until), options)


def test_a_window_shows_the_same_as_if_all_were_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small batches, so that histories are longer than what is read at first.
    monkeypatch.setattr(loading, "_BATCH", 1)
    conversations = (f"c{number}" for number in count())

    @tried(60)
    @given(histories(), st.integers(0, 3), st.lists(windows, min_size=12, max_size=12))
    def holds(bodies: Bodies, cut: int, asked: list[ReplayOptions]) -> None:
        cid = next(conversations)
        for body in bodies:
            append(database, cid, body)

        def compare(store: ReadStore) -> None:
            head = store.conversations.head(cid)
            until = max(0, (head.version if head else 0) - cut)
            for options in asked:
                part, whole = (read(store, cid, until, options) for read in (of_window, of_all))
                assert b"".join(part.request()) == b"".join(whole.request()), options
                assert (part.repairs, part.told()) == (whole.repairs, whole.told()), options

        database.read_now(compare)

    holds()


LATE = (
    ("user", None, None),
    ("assistant", "a", None),
    *(("user" if n % 2 else "assistant", None, None) for n in range(30)),
    ("tool", None, "a"),
    ("user", None, None),
)


def spoken(role: str, call: str | None, result: str | None) -> dict[str, object]:
    made = {"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    if result:
        return {"role": role, "tool_call_id": result, "content": "done"}
    return {"role": role, "content": "x", **({"tool_calls": [made]} if call else {})}


@pytest.mark.parametrize("target", TARGETS)
def test_a_result_that_came_late_brings_its_call_from_far_back(
    database: Database, target: str
) -> None:
    messages = [spoken(*one) for one in LATE]
    append(database, f"late-{target}", json.dumps({"provider": "openai", "messages": messages}))
    options = ReplayOptions(target, last=2)

    def read(store: ReadStore) -> tuple[Rendered, Rendered, int]:
        cid = f"late-{target}"
        loaded = loading.load(store, cid, 34, options)
        return (
            of_window(store, cid, 34, options),
            of_all(store, cid, 34, options),
            len(loaded.turns),
        )

    part, whole, count_of_turns = database.read_now(read)
    assert (b"".join(part.request()), part.repairs) == (b"".join(whole.request()), whole.repairs)
    assert target == "neutral" or "LATE_RESULT_APPLIED" in {one.code for one in part.repairs}
    assert count_of_turns < 34
