"""Arranging: steps become messages, and messages of one segment stand as one wire accepts them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..formats.shared import placeholders as wording
from ..formats.shared.profile import Profile
from ..formats.shared.view import CallShown, Message, ResultShown, Role, Shown, bridge
from ..ledger.pairing import Step
from ..model.conversation import Text, Thinking
from ..model.repairs import Repair
from .blocks import Showing
from .options import ReplayOptions
from .results import Answering
from .segments import Carry


def messages_of(step: Step, showing: Showing, *, leads: bool) -> list[Message]:
    """What is said in a step, and the results of its calls. `leads`: only the system spoke yet."""
    profile, repairs = showing.profile, showing.repairs
    repairs.extend(step.repairs)
    parts = showing.parts(step)
    if step.role == "system" and stays_in_line(parts, profile):
        return _message("system", parts)
    if step.role == "system" and not leads and profile.inner_system == "user":
        return _message("user", [_demoted(part, repairs) for part in parts])
    if step.role == "system":
        return _message("system", parts)
    if step.role == "human":
        return _message("user", parts)
    if not step.answers:
        return _message("assistant", parts)
    beside: list[Shown] = []
    results = [Answering(one, showing, beside).shown() for one in step.answers]
    if profile.calls_last:
        parts = _calls_last(parts, profile, repairs)
    messages: list[Message] = []
    for spoken in _rounds(parts) if profile.splits_rounds else [parts]:
        calls = sum(isinstance(part.content, CallShown) for part in spoken)
        messages += _message("assistant", spoken)
        messages += _results(results[:calls], profile)
        results = results[calls:]
    return [*messages, *_message("user", beside)]


def stays_in_line(parts: Sequence[Shown], profile: Profile) -> bool:
    """True for a system message that goes home in line."""
    return profile.home_system and all(
        part.posted is not None and part.posted.envelope.in_line for part in parts
    )


def is_solid(message: Message) -> bool:
    """Whether it is there to stay: thinking alone may be left out."""
    ends_thinking = isinstance(message.parts[-1].content, Thinking)
    return not ends_thinking or not all(isinstance(one.content, Thinking) for one in message.parts)


def arranged(
    messages: Iterable[Message],
    profile: Profile,
    options: ReplayOptions,
    carry: Carry,
    repairs: list[Repair],
) -> list[Message]:
    """The messages of one segment in an order and with the additions that the wire demands."""
    # Neighbours are joined first: whether thinking has something behind it is a question to the
    # joined message. Where a message is left out, others become neighbours.
    found = _merged(_reunited(messages, profile), profile, repairs)
    if any(isinstance(message.parts[-1].content, Thinking) for message in found):
        found = _merged(_without_loose_thinking(found, repairs), profile, repairs)
    # Bridges come behind that: they stand between messages, and join none.
    found = _bridged(found, profile, carry, repairs)
    # One signature for each message, hence for the joined ones, where the wire's models ask for it.
    if profile.signature and profile.signed_models.fullmatch(options.model or ""):
        found = [_with_signature(message, profile.signature, repairs) for message in found]
    # Empty reasoning is a form to be filled in, and no thought that something must follow.
    if profile.demands_reasoning and options.reasoning != "drop":
        found = [_with_reasoning(message) for message in found]
    return found


def _rounds(parts: Sequence[Shown]) -> Iterator[list[Shown]]:
    """The parts of a turn, cut where thinking follows a call."""
    spoken: list[Shown] = []
    for part in parts:
        called = any(isinstance(before.content, CallShown) for before in spoken)
        if called and isinstance(part.content, Thinking):
            yield spoken
            spoken = []
        spoken.append(part)
    yield spoken


def _message(role: Role, parts: Sequence[Shown]) -> list[Message]:
    return [Message(role, tuple(parts))] if parts else []


def _demoted(part: Shown, repairs: list[Repair]) -> Shown:
    why = "shown as marked user text"
    repairs.append(Repair("SYSTEM_DEMOTED", why, part.turn_id, block=part.place))
    content = part.content
    if isinstance(content, Text):
        content = Text(wording.demoted_system(content.text))
    return replace(part, content=content, posted=None)


def _results(results: Sequence[Shown], profile: Profile) -> Iterator[Message]:
    if profile.results == "each":
        for result in results:
            yield Message("tool", (result,))
    else:
        yield from _message("user" if profile.results == "user" else "tool", results)


def _calls_last(parts: list[Shown], profile: Profile, repairs: list[Repair]) -> list[Shown]:
    """Text moves before the calls; thinking stays in front of what it led to."""
    # Thinking at the end is left out later, and then it pins nothing.
    ends_thinking = isinstance(parts[-1].content, Thinking) if parts else False
    thinks = any(isinstance(part.content, Thinking) for part in parts) and not ends_thinking
    if thinks and profile.pins_blocks:
        return parts
    calls: list[Shown] = []
    others: list[Shown] = []
    thoughts: list[Shown] = []
    for part in parts:
        thoughts.append(part)
        if not isinstance(part.content, Thinking):
            (calls if isinstance(part.content, CallShown) else others).extend(thoughts)
            thoughts = []
    moved = [*others, *calls, *thoughts]
    if moved != parts:
        repairs.append(
            Repair("TOOLUSE_MOVED_LAST", "text is shown before the calls", calls[0].turn_id)
        )
    return moved


def were_one(before: Message, message: Message) -> bool:
    """True if all parts of two messages were posted in the same message."""
    if before.parts[-1].posted is None or message.parts[0].posted is None:
        return False
    envelopes = {
        id(part.posted.envelope) if part.posted and part.posted.slot else None
        for part in (*before.parts, *message.parts)
    }
    return len(envelopes) == 1 and None not in envelopes


def _fit(before: Message, message: Message, profile: Profile) -> bool:
    """True if the wire takes what is in two messages in one."""
    return before.role == message.role or not profile.results_alone


def _reunited(messages: Iterable[Message], profile: Profile) -> list[Message]:
    """The messages; neighbours that pairing took from one posted message are one again."""
    found: list[Message] = []
    for message in messages:
        if found and _fit(found[-1], message, profile) and were_one(found[-1], message):
            key = _results_first if profile.results == "user" else _place
            parts = sorted((*found[-1].parts, *message.parts), key=key)
            found[-1] = replace(found[-1], parts=tuple(parts))
        else:
            found.append(message)
    return found


def _results_first(part: Shown) -> tuple[bool, int]:
    """Sorts results before the rest; they are in the order of their calls already."""
    is_result = isinstance(part.content, ResultShown)
    return not is_result, 0 if is_result else _place(part)


def _place(part: Shown) -> int:
    return part.place or 0


def _merged(messages: Iterable[Message], profile: Profile, repairs: list[Repair]) -> list[Message]:
    runs: list[list[Message]] = []
    known: set[str] = set()
    for message in messages:
        if not runs or runs[-1][0].role != message.role or message.role not in profile.alternate:
            runs.append([message])
            continue
        if len(runs[-1]) == 1:
            known = set(runs[-1][0].turn_ids())
        turn_ids = message.turn_ids()
        if added := [turn_id for turn_id in turn_ids if turn_id not in known]:
            why = "shown in one message with the turn before"
            repairs.append(Repair("ROLES_MERGED", why, added[0]))
        known.update(turn_ids)
        runs[-1].append(message)
    return [run[0] if len(run) == 1 else _joined(run) for run in runs]


def _joined(run: Sequence[Message]) -> Message:
    return Message(run[0].role, tuple(part for message in run for part in message.parts))


def _without_loose_thinking(
    messages: Iterable[Message], repairs: list[Repair]
) -> Iterator[Message]:
    """No message of the model may end with thinking, and of its thinking all is shown or none."""
    for message in messages:
        if message.role != "assistant" or not isinstance(message.parts[-1].content, Thinking):
            yield message
            continue
        for part in message.parts:
            if isinstance(part.content, Thinking):
                why = "nothing follows it in its message"
                repairs.append(Repair("THINKING_DROPPED", why, part.turn_id, block=part.place))
        kept = [part for part in message.parts if not isinstance(part.content, Thinking)]
        yield from _message(message.role, kept)


def _bridged(
    messages: list[Message], profile: Profile, carry: Carry, repairs: list[Repair]
) -> list[Message]:
    bridged: list[Message] = []
    spoke, before = carry.spoke, carry.last
    for message in messages:
        if message.role not in ("user", "system") and profile.first_user and not spoke:
            repairs.append(Repair("BRIDGE_USER", "the wire wants the user to speak first"))
            bridged.append(bridge("user", wording.BRIDGE_USER))
        elif message.role == "user" and before == "tool" and not profile.user_after_results:
            why = "the wire takes no user directly behind results"
            repairs.append(Repair("BRIDGE_ASSISTANT", why, next(iter(message.turn_ids()), None)))
            bridged.append(bridge("assistant", wording.BRIDGE_ASSISTANT))
        spoke, before = spoke or message.role != "system", message.role
        bridged.append(message)
    return bridged


def _with_reasoning(message: Message) -> Message:
    """Thinking modes want the field on every assistant message; an empty one says nothing."""
    if message.role != "assistant" or any(isinstance(c, Thinking) for c in message.contents()):
        return message
    return replace(message, parts=(Shown(Thinking(""), None), *message.parts))


def _with_signature(message: Message, signature: str, repairs: list[Repair]) -> Message:
    """The first call of a message carries a signature."""
    for place, part in enumerate(message.parts):
        call = part.content
        if isinstance(call, CallShown):
            if call.signature is not None:
                return message
            why = "the call has no thought signature of this provider"
            repairs.append(Repair("SIGNATURE_PLACEHOLDER", why, part.turn_id))
            signed = replace(part, content=replace(call, signature=signature))
            parts = (*message.parts[:place], signed, *message.parts[place + 1 :])
            return replace(message, parts=parts)
    return message


def foreign_loop(
    steps: Sequence[Step], messages: Sequence[Message], profile: Profile
) -> Iterator[Repair]:
    """With thinking enabled, an open tool round must begin with thinking of this provider."""
    if profile.foreign_loops or len(messages) < 2:
        return
    before, last = messages[-2], messages[-1]
    rounds = [step for step in steps if step.answers]
    if not rounds or not isinstance(last.parts[-1].content, ResultShown):
        return
    caller = rounds[-1].items[0].turn
    thinks = any(isinstance(part.content, Thinking) for part in before.parts)
    if not thinks and caller.provider not in profile.issuers:
        why = "send this with thinking disabled: others began the open tool round"
        yield Repair("THINKING_UNAVAILABLE", why, caller.turn_id)
