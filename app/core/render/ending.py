"""How a render ends: as a history that the caller appends to, or ready to be sent as it is.

Whoever speaks last in the history, the user's next message may follow it. A request that is sent
without one must end as the wire demands: some want the user or a tool to speak last, one takes the
assistant where its message is marked as a prefix to go on with.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.core.conversation import Text
from app.core.render import placeholders as wording
from app.core.render.options import ReplayOptions
from app.core.render.profile import Profile
from app.core.render.repairs import Repair
from app.core.render.view import Message, bridge


def ended(
    messages: list[Message], profile: Profile, options: ReplayOptions, repairs: list[Repair]
) -> list[Message]:
    """The messages with the end that the wire demands of what is sent, or of what is history."""
    if not messages or messages[-1].role in ("user", "tool"):
        return messages
    if options.ready and profile.last == "user":
        repairs.append(Repair("BRIDGE_USER", "the wire wants the user to speak last"))
        return [*messages, bridge("user", wording.BRIDGE_USER)]
    if messages[-1].role != "assistant" or not profile.trims_end:
        return messages
    repairs.append(_reported(messages, profile, options))
    return [*messages[:-1], _trimmed(messages[-1], repairs)]


def is_prefix(messages: Sequence[Message], profile: Profile, options: ReplayOptions) -> bool:
    """Whether the last message is sent for the model to go on with."""
    if not options.ready or profile.last != "prefix" or not messages:
        return False
    return messages[-1].role == "assistant"


def _reported(messages: Sequence[Message], profile: Profile, options: ReplayOptions) -> Repair:
    turn_id = messages[-1].parts[-1].turn_id
    if is_prefix(messages, profile, options):
        why = "the wire takes the assistant last only where it is to go on"
        return Repair("MARKED_AS_PREFIX", why, turn_id)
    why = "some models take no history that ends with the assistant"
    return Repair("ENDS_WITH_ASSISTANT", why, turn_id)


def _trimmed(message: Message, repairs: list[Repair]) -> Message:
    """The message without the blanks at its end, which Anthropic refuses in the last one."""
    last = message.parts[-1]
    if not isinstance(last.content, Text) or last.content.text == last.content.text.rstrip():
        return message
    repairs.append(Repair("TRAILING_TRIMMED", "blanks at its end are left out", last.turn_id))
    trimmed = replace(last, content=replace(last.content, text=last.content.text.rstrip()))
    return replace(message, parts=(*message.parts[:-1], trimmed))
