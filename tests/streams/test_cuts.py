"""Every recording, cut at every byte: the same turn in any pieces, and what came when it breaks."""

import itertools
import json
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import chain

from app.formats.shared.events.event import Event
from app.formats.shared.events.reader import EventReader
from app.model.conversation import Block, Draft, Image, Opaque, Text, Thinking, ToolCall
from tests.long import IS_LONG
from tests.streams.posts import LIMITS, from_stream, of_each, sized
from tests.streams.recordings import OTHER_FORMS, RECORDINGS, Recording

each = of_each(RECORDINGS + OTHER_FORMS)
SOME = RECORDINGS if IS_LONG else RECORDINGS[::3]
# How far apart cuts are, those within plain words, and how near to a mark each is tried.
APART, IN_WORDS, NEAR = (31, 5, 12) if IS_LONG else (97, 11, 8)


@of_each(SOME + OTHER_FORMS)
def test_a_stream_cut_in_two_anywhere_gives_the_same_events(one: Recording) -> None:
    """Each cut is told by what is read around it: the event that it hits, and the next one.

    To read all of the stream for each of its bytes would show no more. Events are read in one way
    for all providers, hence not of every recording, unless there is time.
    """
    for reader, event, after in passages(one.stream):
        whole = heard(twin(reader), event + after)
        for cut in telling(event):
            assert heard(twin(reader), event[:cut], event[cut:] + after) == whole, (event, cut)


@each
def test_a_stream_cut_in_two_gives_the_same_turn(one: Recording) -> None:
    """The turn is made of the events, so not every cut is tried again; a prime hits all places."""
    whole = from_stream(one.provider, [one.stream])
    for cut in range(1, len(one.stream), APART):
        assert from_stream(one.provider, [one.stream[:cut], one.stream[cut:]]) == whole, cut


@each
def test_a_stream_in_small_pieces_gives_the_same_turn(one: Recording) -> None:
    whole = from_stream(one.provider, [one.stream])
    for size in (1, 2, 3, 7, 61) if IS_LONG else (1, 3, 61):
        assert from_stream(one.provider, sized(one.stream, size)) == whole, size
    sizes = itertools.cycle((5, 0, 1, 89, 2))
    ends = list(itertools.takewhile(lambda at: at < len(one.stream), itertools.accumulate(sizes)))
    odd = [one.stream[a:b] for a, b in itertools.pairwise([0, *ends, len(one.stream)])]
    assert from_stream(one.provider, odd) == whole


@each
def test_a_stream_that_breaks_anywhere_is_kept_as_far_as_it_came(one: Recording) -> None:
    """A turn is made where the events become others; between two such places, here and there."""
    whole = from_stream(one.provider, [one.stream])
    before: Draft | None = None
    for cut in breaks(one.stream):
        broken = from_stream(one.provider, [one.stream[:cut]], hung_up=True)
        assert broken.raw == one.stream[:cut]
        if before is None or broken.blocks != before.blocks:
            assert is_beginning(broken.blocks, whole.blocks), (cut, broken.blocks)
        if before is not None:
            assert before.blocks == broken.blocks or is_beginning(before.blocks, broken.blocks), cut
            # What has once been whole stays so.
            assert (before.status, broken.status) != ("complete", "interrupted")
        if broken.status == "complete":
            assert broken.blocks == whole.blocks
        else:
            assert "STREAM_INTERRUPTED" in {note.code for note in broken.notes}
        before = broken


@each
def test_the_end_of_an_answer_stands_near_the_end_of_its_stream(one: Recording) -> None:
    """So that the test above does not take everything for complete."""
    half = from_stream(one.provider, [one.stream[: len(one.stream) // 2]], hung_up=True)
    assert half.status == "interrupted" or one.name.startswith("two candidates")


def twin(reader: EventReader) -> EventReader:
    """One that has read the same; `deepcopy` would take longer than to read."""
    one = copy(reader)
    if one._reader:
        one._reader = copy(one._reader)
        members = vars(one._reader)
        members |= {
            name: m.copy() for name, m in members.items() if isinstance(m, bytearray | list)
        }
    return one


def heard(reader: EventReader, *pieces: bytes) -> tuple[list[Event], int, bool]:
    """All that a reader tells of a stream that goes on with these pieces and then ends."""
    events = [*chain.from_iterable(map(reader.feed, pieces)), *reader.finish()]
    return events, reader.strays, reader.cut


def telling(event: bytes) -> Iterator[int]:
    """Every cut near the ends of the event, of its lines and of what is no ASCII; else some.

    In the midst of plain words all cuts are one.
    """
    marks = [0, len(event), *(at for at, byte in enumerate(event) if byte < 32 or byte > 126)]
    near = {at + step for at in marks for step in range(-NEAR, NEAR + 1)}
    return (cut for cut in range(1, len(event) + 1) if cut in near or cut % IN_WORDS == 0)


def passages(stream: bytes) -> Iterator[tuple[EventReader, bytes, bytes]]:
    """The events of a stream: a reader that has come so far, the bytes of one, of the next."""
    reader = EventReader(LIMITS)
    ends = [0, *places(stream), len(stream), len(stream)]
    for start, end, after in zip(ends, ends[1:], ends[2:], strict=False):
        yield twin(reader), stream[start:end], stream[end:after]
        list(reader.feed(stream[start:end]))


def places(stream: bytes) -> list[int]:
    """Where an event has come to its end."""
    reader = EventReader(LIMITS)
    return [at for at in range(1, len(stream)) if list(reader.feed(stream[at - 1 : at]))]


def breaks(stream: bytes) -> list[int]:
    """Where a stream that ends gives other events than one byte before, and some more."""
    found: list[int] = []
    reader = EventReader(LIMITS)
    count, before = 0, None
    for at in range(1, len(stream)):
        count += len(list(reader.feed(stream[at - 1 : at])))
        if not IS_LONG and stream[at - 1 : at].isalnum() and at % APART:
            # Within a word nothing comes to its end.
            continue
        now = (count, heard(twin(reader)))
        if now != before or at % APART == 0:
            found.append(at)
        before = now
    return found


def is_beginning(some: Sequence[Block], whole: Sequence[Block]) -> bool:
    """Whether these blocks can be what had arrived of the whole ones."""
    if len(some) > len(whole):
        return False
    return all(map(_begins, some, whole))


def _begins(part: Block, whole: Block) -> bool:
    match part, whole:
        case Text(), Text():
            signed = part.signature in (None, whole.signature)
            return signed and whole.text.startswith(part.text)
        case Thinking(), Thinking():
            # Where its issuer looks into it, there is the real form or none.
            sealed = part.wire in ("anthropic", "openai-responses")
            real = not sealed or part.native in (None, whole.native)
            return real and whole.text.startswith(part.text)
        case ToolCall(), ToolCall():
            named = part.raw_id in (None, whole.raw_id) and whole.name.startswith(part.name)
            return named and _goes_on(part.arguments, whole.arguments)
        case Opaque(), Opaque() | Image():
            # An item that has begun; only a whole one goes back to OpenAI.
            return part == whole or (part.wire, part.kind) != ("openai-responses", "server_tool")
        case _:
            return part == whole


def _goes_on(part: str, whole: str) -> bool:
    """Some wires carry arguments as values: then blanks and escapes are those of the service."""
    return whole.startswith(part) or _plain(whole).startswith("".join(part.split()))


def _plain(arguments: str) -> str:
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    return "".join(json.dumps(value, ensure_ascii=False).split())
