"""The view: a history that obeys every demand of one wire, ready to be written down.

These are the values between the middle and the codecs. Steps (pairing) are cut to the window, each
block is shown as the wire can take it (blocks), messages are put in an order it accepts (messages),
segment by segment (writing). Codecs write a view down; they repair nothing.
"""

from typing import Literal, TypeAlias

from ...jsontext.arguments import as_given
from ...jsontext.unicode import mended_value
from ...model.conversation import File, Image, Opaque, Part, Posted, Text, Thinking, ToolCall
from ...model.json_values import Json, JsonObject
from ...model.value import dataclass

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class CallShown:
    """A call under the id and name of the wire; arguments as text and as an object.

    `raw_id`: what its issuer called it, where what stands beside it names it so.
    """

    id: str
    name: str
    arguments: str
    value: JsonObject
    signature: str | None = None
    raw_id: str | None = None


@dataclass(frozen=True, slots=True)
class ResultShown:
    """The result of a call. `value` is what it gave, where that was a JSON value and no text."""

    id: str
    name: str
    parts: tuple[Part, ...]
    failed: bool
    value: Json = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


Content: TypeAlias = Text | Image | File | Thinking | Opaque | CallShown | ResultShown


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of a message, the turn it came from (None for text of ours), its place there.

    `posted`: it is shown as it was posted there.
    """

    content: Content
    turn_id: str | None
    place: int | None = None
    posted: Posted | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """`is_prefix`: the assistant's last one, for the model to go on with."""

    role: Role
    parts: tuple[Shown, ...]
    is_prefix: bool = False

    def contents(self) -> list[Content]:
        return [part.content for part in self.parts]

    def turn_ids(self) -> list[str]:
        return list(dict.fromkeys(part.turn_id for part in self.parts if part.turn_id))


def bridge(role: Role, text: str) -> Message:
    """A message of ours, where the wire demands one."""
    return Message(role, (Shown(Text(text), None),))


@dataclass(frozen=True, slots=True)
class Pending:
    """A call without a result. `placeholder` is the text that is shown in its place, if any is."""

    call: ToolCall
    provider_id: str
    turn_id: str
    placeholder: str | None

    def json(self) -> JsonObject:
        shown: JsonObject = {
            "call_id": self.call.id,
            "provider_id": self.provider_id,
            "name": self.call.name,
            "turn_id": self.turn_id,
            **as_given(self.call.arguments),
            "placeholder": self.placeholder,
        }
        return {name: mended_value(value) for name, value in shown.items()}
