"""A whole list of messages as a runtime holds it, each message read alone.

Codecs may join neighbours into turns, but a list is recognised message by message: what was joined
is read once more, alone. What is new is taken as it was read; only where it does not stand together
is it read again, because its messages have other neighbours then.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..formats.registry import CODECS
from ..formats.shared.members import wire_of
from ..model.conversation import Draft, Remark
from ..model.errors import LimitExceeded, RuleBroken
from ..model.json_values import Json, JsonObject, Texts
from ..model.limits import Limits
from ..replay.unstored import remember
from ..turns.posting import Post, check_numbers, read_post
from .recognising import Told


@dataclass(frozen=True, slots=True)
class Message:
    """What one message of the list says. `place` is None for what stands beside the list."""

    draft: Draft
    place: int | None


@dataclass(frozen=True, slots=True)
class MessageList:
    """A list that was read without complaint. `key`: the member of the body that holds it.

    `turns`: by the pointers to the messages with which they begin; other messages go on in the turn
    before. `told`: the list as a history, in which turn `seq` is message `seq - 1`. `notes`:
    remarks on the body as a whole.
    """

    members: JsonObject
    texts: Texts
    limits: Limits
    format: str
    key: str
    messages: tuple[Message, ...]
    turns: Mapping[str, Draft]
    told: Told
    notes: tuple[Remark, ...]

    def is_turn(self, at: int) -> bool:
        """Whether a message is a turn by itself."""
        return self._begins(at) and self._begins(at + 1)

    def _begins(self, at: int) -> bool:
        """Whether a turn begins with this message, or the list has ended."""
        return all(one.draft.pointer in self.turns for one in self.messages[at : at + 1])

    def drafts(self, chosen: Collection[int]) -> list[Draft]:
        """The chosen messages (places in `messages`) as turns to be appended."""
        first, end = min(chosen), max(chosen) + 1
        if end - first > len(chosen) or not (self._begins(first) and self._begins(end)):
            return self._read_again(chosen)
        pointers = (one.draft.pointer for one in self.messages[first:end])
        drafts = [self.turns[pointer] for pointer in pointers if pointer in self.turns]
        check_numbers(drafts, self.limits, f"/{self.key}")
        return drafts

    def _read_again(self, chosen: Collection[int]) -> list[Draft]:
        taken = [one for at, one in enumerate(self.messages) if at in chosen]
        others = [one for at, one in enumerate(self.messages) if at not in chosen]
        dropped = {one.draft.pointer.split("/")[1] for one in others if one.place is None}
        dropped |= {"turn_id", "turn_ids"}
        members = {name: value for name, value in self.members.items() if name not in dropped}
        texts = dict(self.texts)
        places = list(dict.fromkeys(one.place for one in taken if one.place is not None))
        if isinstance(held := members[self.key], list):
            members[self.key] = [held[place] for place in places]
            texts[self.key] = [texts[self.key][place] for place in places]
        read = read_post(members, texts, self.limits).drafts
        stood = {f"/{self.key}/{now}": f"/{self.key}/{place}" for now, place in enumerate(places)}
        before = (self.turns.get(stood.get(one.pointer, one.pointer)) for one in read)
        return [
            replace(draft, turn_id=turn.turn_id if turn else None)
            for draft, turn in zip(read, before, strict=True)
        ]


def read_list(members: JsonObject, texts: Texts, limits: Limits) -> MessageList:
    """Raises `RuleBroken` with a pointer for whatever does not hold."""
    if members.get("response") is not None:
        raise RuleBroken(
            "`response` is one turn; mode=sync takes the whole list of messages.",
            pointer="/response",
        )
    _, wire = wire_of(members)
    key = CODECS[wire].messages if CODECS[wire].messages in members else "messages"
    held, most = len(texts.get(key, ())), limits.synced_messages
    if held > most:
        raise LimitExceeded("synced_messages", most, held, pointer=f"/{key}")
    post = read_post(members, texts, limits, synced=True)
    messages = tuple(_alone(post, key, members[key], texts[key]))
    remembered = remember((one.draft for one in messages), "list")
    told = Told(remembered.turns, remembered.links())
    turns = {one.pointer: one for one in post.drafts}
    return MessageList(members, texts, limits, wire, key, messages, turns, told, post.notes)


def _alone(post: Post, key: str, values: Json, texts: Sequence[str]) -> Iterator[Message]:
    places = [_place(draft, key) for draft in post.drafts]
    for draft, place, behind in zip(post.drafts, places, [*places[1:], len(texts)], strict=True):
        if place is None or behind is None or behind - place == 1 or not isinstance(values, list):
            yield Message(draft, place)
            continue
        for at in range(place, behind):
            for one in CODECS[draft.format].parse({key: [values[at]]}, {key: [texts[at]]}):
                yield Message(replace(one, pointer=f"/{key}/{at}"), at)


def _place(draft: Draft, key: str) -> int | None:
    """Of the message with which a turn begins; None beside the list."""
    _, name, *place = draft.pointer.split("/")
    return int(place[0]) if place else 0 if name == key else None
