"""A whole list of messages as a runtime holds it, each message read alone.

Codecs join neighbours into turns; a list is recognised message by message, and only what is new of
it is read again as turns.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.codecs import CODECS
from app.core.conversation import Draft, Remark
from app.core.errors import RuleBroken
from app.core.json.text import Json, JsonObject
from app.core.limits import Limits
from app.core.sync.recognising import Told
from app.core.wire.codec import Posted
from app.service.members import wire_of
from app.service.memory import remember
from app.service.posting import Post, read_post

# The limit is for what is stored; a list may be as long as its conversation.
_ANY_NUMBER = 2**31


@dataclass(frozen=True, slots=True)
class Message:
    """What one message of the list says. `place` is None for what stands beside the list."""

    draft: Draft
    place: int | None


@dataclass(frozen=True, slots=True)
class MessageList:
    """A list that was read without complaint. `key`: the member of the body that holds it.

    `starts`: the pointers to messages with which a turn begins, and the ids that those turns are
    given; other messages go on in the turn before. `told`: the list as a history, in which turn
    `seq` is message `seq - 1`. `notes`: remarks on the body as a whole.
    """

    members: JsonObject
    texts: Mapping[str, list[str]]
    limits: Limits
    format: str
    key: str
    messages: tuple[Message, ...]
    starts: Mapping[str, str | None]
    told: Told
    notes: tuple[Remark, ...]

    def is_turn(self, at: int) -> bool:
        """Whether a message is a turn by itself."""
        behind = self.messages[at + 1 : at + 2]
        return all(one.draft.pointer in self.starts for one in (self.messages[at], *behind))

    def post(self, chosen: Collection[int]) -> Post:
        """The chosen messages (places in `messages`) as turns to be appended."""
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
        post = read_post(members, texts, self.limits)
        stood = {f"/{self.key}/{now}": f"/{self.key}/{place}" for now, place in enumerate(places)}
        drafts = (
            replace(draft, turn_id=self.starts.get(stood.get(draft.pointer, draft.pointer)))
            for draft in post.drafts
        )
        return replace(post, drafts=tuple(drafts))


def read_list(members: JsonObject, texts: Mapping[str, list[str]], limits: Limits) -> MessageList:
    """Raises `RuleBroken` with a pointer for whatever does not hold."""
    if members.get("response") is not None:
        raise RuleBroken(
            "`response` is one turn; mode=sync takes the whole list of messages.",
            pointer="/response",
        )
    _, wire = wire_of(members)
    post = read_post(members, texts, replace(limits, turns=_ANY_NUMBER, calls=_ANY_NUMBER))
    key = CODECS[wire].messages if CODECS[wire].messages in members else "messages"
    beside = [Message(one, None) for one in post.drafts if not one.pointer.startswith(f"/{key}")]
    messages = (*beside, *_alone(wire, key, members[key], texts[key]))
    starts = {one.pointer: one.turn_id for one in post.drafts}
    remembered = remember((one.draft for one in messages), "list")
    told = Told(remembered.turns, remembered.links())
    return MessageList(members, texts, limits, wire, key, messages, starts, told, post.notes)


def _alone(wire: str, key: str, values: Json, texts: Sequence[str]) -> Iterator[Message]:
    codec = CODECS[wire]
    if not isinstance(values, list):
        for draft in codec.parse(Posted({key: values}, {key: list(texts)})):
            yield Message(draft, 0)
        return
    for place, (value, text) in enumerate(zip(values, texts, strict=True)):
        for draft in codec.parse(Posted({key: [value]}, {key: [text]})):
            yield Message(replace(draft, pointer=f"/{key}/{place}"), place)
