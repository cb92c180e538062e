"""Arranging: shown steps become messages in an order that one wire accepts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from app.core import wording
from app.core.conversation import Text, Thinking
from app.core.pairing import Step
from app.core.profile import Profile
from app.core.repairs import Repair
from app.core.showing import Showing, ShownStep
from app.core.view import CallShown, Message, Options, Role, Shown, View


def view(steps: Sequence[Step], profile: Profile, options: Options) -> View:
    """The steps as a view that obeys every demand of the wire."""
    showing = Showing(steps, profile, options)
    shown = [showing.show(step) for step in steps]
    repairs = [repair for step in shown for repair in step.repairs]
    leading = _leading_system(shown)
    system: tuple[Text, ...] = ()
    if profile.system == "beside":
        system = tuple(
            part.content
            for step in shown[:leading]
            for part in step.parts
            if isinstance(part.content, Text)
        )
        shown = shown[leading:]
        leading = 0
    messages = [
        message
        for place, step in enumerate(shown)
        for message in _messages(step, profile, repairs, inner=place >= leading)
    ]
    if profile.alternate:
        messages = _merged(messages, repairs)
    messages = _bridged(messages, profile, repairs, is_empty=not steps)
    messages = _ended(messages, profile, repairs)
    return View(system, tuple(messages), tuple(repairs))


def _leading_system(shown: Sequence[ShownStep]) -> int:
    for place, step in enumerate(shown):
        if step.role != "system":
            return place
    return len(shown)


def _messages(
    step: ShownStep, profile: Profile, repairs: list[Repair], *, inner: bool
) -> Iterator[Message]:
    parts = step.parts
    if step.role == "system" and inner and profile.inner_system == "user":
        parts = [_demoted(part, repairs) for part in parts]
        yield from _message("user", parts)
    elif step.role == "system":
        yield from _message("system", parts)
    elif step.role == "human":
        yield from _message("user", parts)
    else:
        if profile.calls_last:
            parts = _calls_last(parts, repairs)
        yield from _message("assistant", parts)
        yield from _answers(step.answers, profile)
        yield from _message("user", step.beside)


def _message(role: Role, parts: Sequence[Shown]) -> Iterator[Message]:
    if parts:
        yield Message(role, tuple(parts))


def _demoted(part: Shown, repairs: list[Repair]) -> Shown:
    repairs.append(Repair("SYSTEM_DEMOTED", "shown as marked user text", part.turn_id))
    assert isinstance(part.content, Text)
    return Shown(Text(wording.demoted_system(part.content.text)), part.turn_id)


def _answers(answers: Sequence[Shown], profile: Profile) -> Iterator[Message]:
    if profile.results == "each":
        for answer in answers:
            yield Message("tool", (answer,))
    else:
        yield from _message("user" if profile.results == "user" else "tool", answers)


def _calls_last(parts: list[Shown], repairs: list[Repair]) -> list[Shown]:
    """Text moves before the calls, unless signed thinking pins every block to its place."""
    if any(isinstance(part.content, Thinking) for part in parts):
        return parts
    calls = [part for part in parts if isinstance(part.content, CallShown)]
    others = [part for part in parts if not isinstance(part.content, CallShown)]
    if calls and others and [*others, *calls] != parts:
        repairs.append(
            Repair("TOOLUSE_MOVED_LAST", "text is shown before the calls", calls[0].turn_id)
        )
        return [*others, *calls]
    return parts


def _merged(messages: Iterable[Message], repairs: list[Repair]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role in ("user", "assistant"):
            before = set(merged[-1].turn_ids())
            added = [turn for turn in message.turn_ids() if turn not in before]
            if added:
                repairs.append(
                    Repair("ROLES_MERGED", "shown in one message with the turn before", added[0])
                )
            merged[-1] = replace(merged[-1], parts=merged[-1].parts + message.parts)
        else:
            merged.append(message)
    return merged


def _bridged(
    messages: list[Message], profile: Profile, repairs: list[Repair], *, is_empty: bool
) -> list[Message]:
    if is_empty:
        repairs.append(Repair("EMPTY_HISTORY", "there is nothing to show yet"))
        return messages
    spoken = [message for message in messages if message.role != "system"]
    if not spoken or (profile.first_user and spoken[0].role != "user"):
        first = messages.index(spoken[0]) if spoken else len(messages)
        text = wording.BRIDGE_USER if spoken else wording.EMPTY
        repairs.append(Repair("BRIDGE_USER", "the wire wants the user to speak first"))
        messages = [*messages[:first], _bridge("user", text), *messages[first:]]
    if profile.user_after_results:
        return messages
    bridged: list[Message] = []
    for message in messages:
        if message.role == "user" and bridged and bridged[-1].role == "tool":
            why = "the wire takes no user directly behind results"
            repairs.append(Repair("BRIDGE_ASSISTANT", why, next(iter(message.turn_ids()), None)))
            bridged.append(_bridge("assistant", wording.BRIDGE_ASSISTANT))
        bridged.append(message)
    return bridged


def _bridge(role: Role, text: str) -> Message:
    return Message(role, (Shown(Text(text), None),))


def _ended(messages: list[Message], profile: Profile, repairs: list[Repair]) -> list[Message]:
    if profile.last_assistant or not messages or messages[-1].role != "assistant":
        return messages
    last = messages[-1].parts[-1]
    why = "some models take no history that ends with the assistant"
    repairs.append(Repair("ENDS_WITH_ASSISTANT", why, last.turn_id))
    if isinstance(last.content, Text) and last.content.text != last.content.text.rstrip():
        repairs.append(Repair("TRAILING_TRIMMED", "blanks at its end are left out", last.turn_id))
        trimmed = Shown(Text(last.content.text.rstrip()), last.turn_id)
        parts = (*messages[-1].parts[:-1], trimmed)
        return [*messages[:-1], replace(messages[-1], parts=parts)]
    return messages
