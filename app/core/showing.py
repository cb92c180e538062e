"""Showing: each block as one wire can take it, or the reason why it cannot.

Works on one step at a time and knows no order of messages. Whatever is not shown as it was stored
is named in the repairs with its turn and place.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from app.core import wording
from app.core.arguments import object_text, object_value
from app.core.conversation import File, Image, Opaque, Text, Thinking, ToolCall, ToolResult
from app.core.jsontext import Json, dumps_utf8
from app.core.media import refusal
from app.core.names import shown_name
from app.core.pairing import Answer, Placed, Step
from app.core.profile import Profile
from app.core.repairs import Repair
from app.core.unicode import is_broken, mended, mended_value
from app.core.view import AnswerShown, CallShown, Content, Options, Shown


@dataclass(slots=True)
class ShownStep:
    """A step in the words of the wire. `beside`: media of results that stand behind them."""

    role: str
    parts: list[Shown] = field(default_factory=list)
    answers: list[Shown] = field(default_factory=list)
    beside: list[Shown] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)


class Showing:
    """Shows steps for one wire; knows which raw ids the history uses more than once."""

    def __init__(self, steps: Sequence[Step], profile: Profile, options: Options) -> None:
        self.profile = profile
        self.options = options
        self.raw_ids = Counter(
            item.block.raw_id
            for step in steps
            for item in step.items
            if isinstance(item.block, ToolCall)
        )

    def show(self, step: Step) -> ShownStep:
        shown = ShownStep(step.role, repairs=list(step.repairs))
        kept = self._kept_opaque(step.items)
        for item in step.items:
            shown.parts.extend(self._item(item, step, kept, shown.repairs))
        _no_thinking_at_the_end(shown)
        for answer in step.answers:
            self._answer(answer, shown)
        return shown

    def _kept_opaque(self, items: Iterable[Placed]) -> set[int]:
        """The ids of the opaque items that may go back to their issuer."""
        own = [item for item in items if self._is_issuer(item)]
        blocks = [item.block for item in own if isinstance(item.block, Opaque)]
        places = self.profile.keeps_opaque(blocks)
        return {id(block) for place, block in enumerate(blocks) if place in places}

    def _is_issuer(self, item: Placed) -> bool:
        block = item.block
        if not isinstance(block, Thinking | Opaque) or self.options.reasoning == "drop":
            return False
        provider = block.provider or item.turn.provider
        model = block.model or item.turn.model
        wanted = self.options.model
        return provider in self.profile.issuers and (not wanted or not model or wanted == model)

    def _item(
        self, item: Placed, step: Step, kept: set[int], repairs: list[Repair]
    ) -> Iterator[Shown]:
        block = item.block
        match block:
            case Text():
                content: Content | None = self._text(block.text, item, repairs)
            case Image() | File():
                content = self._media(block, item, repairs, allowed=step.role == "human")
            case Thinking():
                content = self._thinking(block, item, repairs)
            case Opaque():
                content = block if id(block) in kept else None
                if content is None:
                    repairs.append(_left_out(block, item))
            case ToolCall():
                content = self._call(block, item, repairs)
            case ToolResult():
                raise AssertionError("pairing keeps results apart")
            case _:
                assert_never(block)
        if content is not None:
            yield Shown(content, item.turn.turn_id)

    def _text(self, text: str, item: Placed, repairs: list[Repair]) -> Text | None:
        if not text.strip():
            repairs.append(_repair("EMPTY_TEXT_OMITTED", "the text is blank", item))
            return None
        return Text(self._unicode(text, item, repairs))

    def _unicode(self, text: str, item: Placed, repairs: list[Repair]) -> str:
        if not is_broken(text):
            return text
        repairs.append(_repair("UNICODE_REPLACED", "lone surrogates are shown as U+FFFD", item))
        return mended(text)

    def _media(
        self, block: Image | File, item: Placed, repairs: list[Repair], *, allowed: bool
    ) -> Image | File | Text:
        kind, taken = ("Image", self.profile.images)
        if isinstance(block, File):
            kind, taken = ("File", self.profile.files)
        why = refusal(block.url, taken) if allowed else "this provider takes none here"
        if why is None:
            return block
        repairs.append(_repair(f"{kind.upper()}_OMITTED", why, item))
        return Text(wording.left_out(kind, why))

    def _thinking(
        self, block: Thinking, item: Placed, repairs: list[Repair]
    ) -> Thinking | Text | None:
        if block.native is not None and self._is_issuer(item):
            return block
        if self.options.reasoning == "text" and block.text.strip():
            repairs.append(_repair("THINKING_AS_TEXT", "reasoning is shown as text", item))
            return Text(wording.reasoning(self._unicode(block.text, item, repairs)))
        repairs.append(_repair("THINKING_DROPPED", "this reader did not issue it", item))
        return None

    def _call(self, call: ToolCall, item: Placed, repairs: list[Repair]) -> CallShown:
        self._report_id(call, item, repairs)
        arguments, code = object_text(call.arguments)
        if code:
            repairs.append(_repair(code, "arguments are shown as a JSON object", item, call.id))
        value = object_value(arguments)
        mended_object = mended_value(value)
        if mended_object != value:
            assert isinstance(mended_object, dict)
            value = mended_object
            arguments = dumps_utf8(value).decode()
            repairs.append(_repair("UNICODE_REPLACED", "in the arguments", item, call.id))
        name = shown_name(call.name, self.profile.names)
        if name != call.name:
            repairs.append(_repair("NAME_SANITIZED", f"shown as {name}", item, call.id))
        shown_id = self.options.shown_ids[call.id]
        return CallShown(shown_id, name, arguments, value, call.signature)

    def _report_id(self, call: ToolCall, item: Placed, repairs: list[Repair]) -> None:
        if not call.raw_id:
            repairs.append(_repair("ID_SYNTHESIZED", "the call came without an id", item, call.id))
        elif self.raw_ids[call.raw_id] > 1:
            repairs.append(_repair("ID_REMAPPED", "the raw id is not unique", item, call.id))
        elif not self.profile.ids.fullmatch(call.raw_id):
            repairs.append(_repair("ID_REMAPPED", "this wire refuses the raw id", item, call.id))

    def _answer(self, answer: Answer, shown: ShownStep) -> None:
        item = Placed(answer.result or Text(""), answer.turn, answer.place)
        words = self._words(answer, item, shown.repairs)
        parts: list[Text | Image | File] = []
        if words or not (answer.result and answer.result.parts):
            parts.append(Text(words))
        failed = answer.result is None or answer.result.status != "ok"
        if answer.result and answer.result.parts:
            parts = self._with_media(answer, item, parts, shown)
        shown.answers.append(
            Shown(
                AnswerShown(
                    self.options.shown_ids[answer.call.id],
                    shown_name(answer.call.name, self.profile.names),
                    tuple(parts),
                    failed,
                    _value(answer.result),
                ),
                answer.turn.turn_id if answer.result else None,
            )
        )

    def _words(self, answer: Answer, item: Placed, repairs: list[Repair]) -> str:
        result = answer.result
        if result is None:
            repairs.append(_repair("SYNTH_RESULT", "no result is recorded", item, answer.call.id))
            return self._flagged(wording.unrecorded())
        said = self._unicode(wording.result_text(result), item, repairs)
        if state := wording.of_status(result.status):
            why = f"the state {result.status} is put in words"
            repairs.append(_repair("SYNTH_RESULT", why, item, answer.call.id))
            return self._flagged(f"{state}\n{said}" if said.strip() else state)
        if said.strip() or result.parts:
            return self._flagged(said) if result.status == "error" else said
        if result.status == "error":
            said = self._flagged(wording.NO_MESSAGE)
        elif self.profile.blank_results:
            return said
        else:
            said = wording.NO_OUTPUT
        repairs.append(
            _repair("EMPTY_RESULT_PLACEHOLDER", "the result is empty", item, answer.call.id)
        )
        return said

    def _flagged(self, text: str) -> str:
        if self.profile.error_flag or text.startswith(wording.ERROR_PREFIX):
            return text
        return wording.ERROR_PREFIX + text

    def _with_media(
        self, answer: Answer, item: Placed, words: list[Text | Image | File], shown: ShownStep
    ) -> list[Text | Image | File]:
        """The words of a result and what else it holds, in order where the wire takes it inside."""
        assert answer.result
        assert answer.result.parts
        inside = self.profile.result_media and answer.result.status == "ok"
        parts: list[Text | Image | File] = []
        for part in answer.result.parts:
            if isinstance(part, Text):
                if inside and part.text.strip():
                    parts.append(Text(self._unicode(part.text, item, [])))
                continue
            if isinstance(part, Opaque):
                shown.repairs.append(_left_out(part, item))
                continue
            block = self._media(part, item, shown.repairs, allowed=True)
            if inside or isinstance(block, Text):
                parts.append(block)
            else:
                kind = "image" if isinstance(block, Image) else "file"
                parts.append(Text(f"{wording.MARK} The {kind} is in the next user message."))
                shown.beside.append(Shown(block, item.turn.turn_id))
                shown.repairs.append(
                    _repair("IMAGE_RELOCATED", f"the {kind} stands behind the results", item)
                )
        if inside:
            return parts or [Text(wording.NO_OUTPUT)]
        said = [part for part in words if isinstance(part, Text) and part.text.strip()]
        return [*said, *parts] or [Text(wording.NO_OUTPUT)]


def _value(result: ToolResult | None) -> Json:
    if result is None or result.parts is not None or isinstance(result.result, str):
        return None
    return mended_value(result.result)


def _no_thinking_at_the_end(shown: ShownStep) -> None:
    """A message may not end with thinking, and of a turn's thinking all is shown or none."""
    if not shown.parts or not isinstance(shown.parts[-1].content, Thinking):
        return
    for part in shown.parts:
        if isinstance(part.content, Thinking):
            shown.repairs.append(
                Repair("THINKING_DROPPED", "nothing follows it in its turn", part.turn_id)
            )
    shown.parts = [part for part in shown.parts if not isinstance(part.content, Thinking)]


def _left_out(block: Opaque, item: Placed) -> Repair:
    if block.kind.startswith("server_tool"):
        return _repair("SERVER_TOOL_DROPPED", "half a pair, or another provider's tool", item)
    return _repair("BLOCK_OMITTED", f"a {block.kind} block goes back to its issuer only", item)


def _repair(code: str, detail: str, item: Placed, call_id: str | None = None) -> Repair:
    return Repair(code, detail, item.turn.turn_id, call_id, item.place)
