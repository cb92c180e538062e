"""Arranging: shown steps become messages in an order that one wire accepts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from app.core.conversation import Text, Thinking
from app.core.render import placeholders as wording
from app.core.render.blocks import Showing, ShownStep
from app.core.render.ending import ended, is_prefix
from app.core.render.options import ReplayOptions
from app.core.render.pairing import Step
from app.core.render.profile import Profile
from app.core.render.repairs import Repair
from app.core.render.view import AnswerShown, CallShown, Message, Role, Shown, View, bridge


def view(
    steps: Sequence[Step],
    profile: Profile,
    options: ReplayOptions,
    provider_ids: Mapping[str, str],
    *,
    has_tools: bool,
) -> View:
    """The steps as a view that obeys every demand of the wire.

    `has_tools`: definitions come from elsewhere.
    """
    showing = Showing(steps, profile, options, provider_ids)
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
    messages = _merged(messages, profile, repairs)
    messages = _merged(_without_loose_thinking(messages, repairs), profile, repairs)
    if not steps:
        repairs.append(Repair("EMPTY_HISTORY", "there is nothing to show yet"))
    if steps or options.ready:
        messages = _bridged(messages, profile, repairs)
    messages = _signed(messages, profile, options, repairs)
    messages = ended(messages, profile, options, repairs)
    if profile.demands_reasoning and options.reasoning != "drop":
        messages = [_with_reasoning(message) for message in messages]
    _warn_of_foreign_loop(steps, messages, profile, repairs)
    tools = () if has_tools else _declared(messages, profile, repairs)
    prefix = is_prefix(messages, profile, options)
    return View(system, tuple(messages), tuple(repairs), tools=tools, is_prefix=prefix)


def _leading_system(shown: Sequence[ShownStep]) -> int:
    for place, step in enumerate(shown):
        # A turn of which nothing is shown stands nowhere.
        if step.role != "system" and (step.parts or step.answers):
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
            parts = _calls_last(parts, profile, repairs)
        answers = list(step.answers)
        for spoken in _rounds(parts) if profile.splits_rounds else [parts]:
            calls = sum(isinstance(part.content, CallShown) for part in spoken)
            yield from _message("assistant", spoken)
            yield from _answers(answers[:calls], profile)
            answers = answers[calls:]
        yield from _message("user", step.beside)


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


def _message(role: Role, parts: Sequence[Shown]) -> Iterator[Message]:
    if parts:
        yield Message(role, tuple(parts))


def _demoted(part: Shown, repairs: list[Repair]) -> Shown:
    why = "shown as marked user text"
    repairs.append(Repair("SYSTEM_DEMOTED", why, part.turn_id, block=part.place))
    assert isinstance(part.content, Text)
    return replace(part, content=Text(wording.demoted_system(part.content.text)))


def _answers(answers: Sequence[Shown], profile: Profile) -> Iterator[Message]:
    if profile.results == "each":
        for answer in answers:
            yield Message("tool", (answer,))
    else:
        yield from _message("user" if profile.results == "user" else "tool", answers)


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


def _merged(messages: Iterable[Message], profile: Profile, repairs: list[Repair]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role and message.role in profile.alternate:
            before = set(merged[-1].turn_ids())
            added = [turn for turn in message.turn_ids() if turn not in before]
            if added:
                why = "shown in one message with the turn before"
                repairs.append(Repair("ROLES_MERGED", why, added[0]))
            merged[-1] = replace(merged[-1], parts=merged[-1].parts + message.parts)
        else:
            merged.append(message)
    return merged


def _without_loose_thinking(
    messages: Iterable[Message], repairs: list[Repair]
) -> Iterator[Message]:
    """No message may end with thinking, and of its thinking all is shown or none."""
    for message in messages:
        if not isinstance(message.parts[-1].content, Thinking):
            yield message
            continue
        for part in message.parts:
            if isinstance(part.content, Thinking):
                why = "nothing follows it in its message"
                repairs.append(Repair("THINKING_DROPPED", why, part.turn_id, block=part.place))
        kept = [part for part in message.parts if not isinstance(part.content, Thinking)]
        yield from _message(message.role, kept)


def _bridged(messages: list[Message], profile: Profile, repairs: list[Repair]) -> list[Message]:
    spoken = [message for message in messages if message.role != "system"]
    if not spoken or (profile.first_user and spoken[0].role != "user"):
        first = messages.index(spoken[0]) if spoken else len(messages)
        text = wording.BRIDGE_USER if spoken else wording.EMPTY
        repairs.append(Repair("BRIDGE_USER", "the wire wants the user to speak first"))
        messages = [*messages[:first], bridge("user", text), *messages[first:]]
    if profile.user_after_results:
        return messages
    bridged: list[Message] = []
    for message in messages:
        if message.role == "user" and bridged and bridged[-1].role == "tool":
            why = "the wire takes no user directly behind results"
            repairs.append(Repair("BRIDGE_ASSISTANT", why, next(iter(message.turn_ids()), None)))
            bridged.append(bridge("assistant", wording.BRIDGE_ASSISTANT))
        bridged.append(message)
    return bridged


def _with_reasoning(message: Message) -> Message:
    """Thinking modes want the field on every assistant message; an empty one says nothing."""
    if message.role != "assistant" or any(isinstance(c, Thinking) for c in message.contents()):
        return message
    return replace(message, parts=(Shown(Thinking(""), None), *message.parts))


def _signed(
    messages: list[Message], profile: Profile, options: ReplayOptions, repairs: list[Repair]
) -> list[Message]:
    """The first call of each message carries a signature, where the wire's models ask for one."""
    if profile.signature is None or not profile.signed_models.fullmatch(options.model or ""):
        return messages
    return [_with_signature(message, profile.signature, repairs) for message in messages]


def _with_signature(message: Message, signature: str, repairs: list[Repair]) -> Message:
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


def _warn_of_foreign_loop(
    steps: Sequence[Step], messages: list[Message], profile: Profile, repairs: list[Repair]
) -> None:
    """With thinking enabled, an open tool round must begin with thinking of this provider."""
    if profile.foreign_loops or len(messages) < 2:
        return
    before, last = messages[-2], messages[-1]
    rounds = [step for step in steps if step.answers]
    if not rounds or not isinstance(last.parts[-1].content, AnswerShown):
        return
    caller = rounds[-1].items[0].turn
    thinks = any(isinstance(part.content, Thinking) for part in before.parts)
    if not thinks and caller.provider not in profile.issuers:
        why = "send this with thinking disabled: others began the open tool round"
        repairs.append(Repair("THINKING_UNAVAILABLE", why, caller.turn_id))


def _declared(
    messages: Sequence[Message], profile: Profile, repairs: list[Repair]
) -> tuple[str, ...]:
    """The names of the tools that the history calls, where the wire wants them declared."""
    if not profile.tools_declared:
        return ()
    names = dict.fromkeys(
        part.content.name
        for message in messages
        for part in message.parts
        if isinstance(part.content, CallShown)
    )
    if names:
        repairs.append(Repair("TOOLS_STUBBED", "tools are declared by name only"))
    return tuple(names)
