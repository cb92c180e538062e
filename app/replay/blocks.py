"""Showing: each block as one wire can take it, or the reason why it cannot.

Works on one step at a time and knows no order of messages. Whatever is not shown as it was stored
is named in the repairs with its turn and place.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import assert_never

from ..formats.shared import placeholders as wording
from ..formats.shared.profile import Profile
from ..formats.shared.tool_names import shown_name
from ..formats.shared.view import CallShown, Content, Shown
from ..jsontext.arguments import custom_object, object_of
from ..jsontext.numbers import is_beyond_double
from ..jsontext.unicode import is_broken, mended, mended_value
from ..jsontext.writing import dumps_utf8
from ..ledger.pairing import Answer, Placed, Role, Step
from ..model.conversation import (
    Block,
    Envelope,
    File,
    Image,
    Opaque,
    Posted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from ..model.json_values import Json
from ..model.media import refusal
from ..model.repairs import Repair
from ..model.telling import cut
from ..model.value import dataclass
from .options import ReplayOptions
from .segments import Uses

_DETAILS = ("auto", "low", "high", "original")
# What goes back to its issuer alone.
_NATIVE = (Thinking, Opaque)
# Repairs that leave a block as it was posted, but for its id.
_OF_IDS = frozenset(
    {
        *("CUSTOM_TOOL_AS_FUNCTION", "ID_REMAPPED", "ID_SYNTHESIZED", "STATE_SPLIT_FROM_ID"),
        "SUSPECT_MARKUP",
    }
)
# What leaks into text when a model's own call syntax is not parsed by its server.
_MARKUP = ("<|tool_call", "<tool_call>", "<|channel|>", "<function_calls>")


@dataclass(frozen=True, slots=True)
class Showing:
    """Shows a step for one wire.

    `uses`: what was used before, and may be used once. `whole`: the ids of the opaque blocks whose
    other half is shown too. `seq`: the turn of the step. `messages`: those of the
    step, by their ids. `repairs`: what is done to the step.
    """

    profile: Profile
    options: ReplayOptions
    provider_ids: Mapping[str, str]
    uses: Uses
    seq: int = 0
    whole: Collection[int] = ()
    messages: dict[str, Envelope] = field(default_factory=dict)
    repairs: list[Repair] = field(default_factory=list)

    def parts(self, step: Step) -> list[Shown]:
        """Returns the blocks of a step as shown, without the results of its calls."""
        native = [item for item in step.items if isinstance(item.block, _NATIVE)]
        kept = self._kept_opaque(step) | self._kept_thinking(step) if native else set()
        stranded = self._stranded(step, kept) if kept and self.profile.leads_on else set()
        shown = []
        for item in step.items:
            if id(item.block) in stranded:
                self.report("THINKING_DROPPED", "what it led to is left out", item)
                continue
            before = len(self.repairs)
            content = self._content(item, step, kept)
            if content is not None:
                posted = None
                if item.turn.original is not None:
                    posted = self.posted(item, item.block, self.repairs[before:])
                if posted and isinstance(content, Text):
                    is_other = isinstance(item.block, Thinking)
                    if is_other or not self._is_first(posted, step):
                        posted = None
                if posted and posted.value is not None:
                    self._forget_needless(before)
                elif isinstance(content, File):
                    self.name_files(item.turn, content)
                shown.append(Shown(content, item.turn.turn_id, item.place, posted))
        return shown

    def at_home(self, turn: Turn) -> bool:
        """True if the turn was posted in this format, and this provider issued it."""
        profile = self.profile
        own = turn.posted_as == self.options.provider and turn.provider in profile.issuers
        return own and profile.home

    def posted(
        self, item: Placed | Answer, block: Block | None, repairs: Sequence[Repair]
    ) -> Posted | None:
        """How the block was posted, if it goes home. A block that was repaired is written anew."""
        turn, place = item.turn, item.place
        if turn.original is None or place is None or turn.blocks is None:
            return None
        if not self.at_home(turn):
            self._name_members(turn)
            return None
        if turn.blocks[place] is not block or len(turn.original.blocks) != len(turn.blocks):
            return None
        posted = turn.original.blocks[place]
        if posted is None or posted.value is None:
            return posted
        signed = isinstance(block, Text | ToolCall) and block.signature
        if signed and not self._is_own(turn.provider, turn.model):
            return replace(posted, value=None)
        if any(one.code not in _OF_IDS for one in repairs) or is_beyond_double(posted.value):
            return replace(posted, value=None)
        value = mended_value(posted.value)
        if value == posted.value:
            return posted
        self.report("UNICODE_REPLACED", "lone surrogates are shown as U+FFFD", item)
        return replace(posted, value=value)

    def _forget_needless(self, before: int) -> None:
        """Takes back the repairs of a block that is shown as it was posted after all."""
        made = self.repairs[before:]
        self.repairs[before:] = [one for one in made if one.code != "CUSTOM_TOOL_AS_FUNCTION"]

    def name_files(self, turn: Turn, *shown: Content) -> None:
        """Reports that files have no name here, in the report of all omitted members."""
        if any(map(self._loses_name, shown)):
            self._name_members(turn)

    def _loses_name(self, one: Content) -> bool:
        if not isinstance(one, File) or not one.name:
            return False
        return ("data" if one.url.startswith("data:") else "url") not in self.profile.named_files

    def _name_members(self, turn: Turn) -> None:
        """Names the posted members that only the issuer is shown, once for each turn."""
        if turn.seq in self.uses.named:
            return
        why = []
        if turn.original and turn.original.members and not self.at_home(turn):
            names = cut(", ".join(turn.original.members))
            why.append(f"only their own provider is shown {names}")
        if any(map(self._loses_name, _files(turn))):
            why.append("files have no name here")
        if why:
            self.uses.named[turn.seq] = self.seq
            self.repairs.append(Repair("MEMBERS_OMITTED", "; ".join(why), turn.turn_id))

    def _kept_opaque(self, step: Step) -> set[int]:
        """The ids of the opaque items that may go back to their issuer: both halves of a pair, and
        whatever it issued or takes from users."""
        return {
            id(item.block)
            for item in step.items
            if isinstance(item.block, Opaque)
            and self.may_return(item.block, item, step.role)
            and (self.profile.half(item.block) is None or id(item.block) in self.whole)
            and self._is_new(item.block.native, step)
        }

    def may_return(self, block: Opaque, item: Placed, role: Role) -> bool:
        """True if the issuer of an opaque block takes it back in a turn of this role."""
        if not self._is_issuer(block, item.turn) or block.kind in self.profile.server_state:
            return False
        # A part of a flattened result has the place of the result, and is no block of the turn.
        blocks, place = item.turn.blocks, item.place
        is_own = blocks is not None and place is not None and blocks[place] is block
        if is_own and self.at_home(item.turn) and role != "system":
            return self._is_accepted(block, item)
        # Tools that a provider ran are in its own turns, everything else in the user's.
        if role != ("ai" if block.kind.startswith("server_tool") else "human"):
            return False
        return self.profile.half(block) is not None or self.profile.keeps_opaque(block)

    def caller(self, item: Placed) -> str | None:
        """The key of the provider's own call that made this one, if one did."""
        turn, place = item.turn, item.place
        posted = turn.original.blocks if turn.original and self.at_home(turn) else ()
        if not isinstance(item.block, ToolCall) or not posted or place is None:
            return None
        found = posted[place]
        return self.profile.caller(found.value) if found else None

    def _is_accepted(self, block: Opaque, item: Placed) -> bool:
        """True if the provider takes the block as it was posted, and it did not break off."""
        if item.turn.status == "interrupted" and isinstance(block.native, dict):
            return block.native.get("status") != "in_progress"
        return self._was_accepted(item)

    def _was_accepted(self, item: Placed) -> bool:
        """True if the provider's input type has a place for the block as it was posted.

        Turns of earlier releases have no original: then the kind of the block decides.
        """
        original, kinds = item.turn.original, self.profile.opaque_kinds
        if original and original.blocks and item.place is not None:
            return original.blocks[item.place] is not None
        return kinds is None or not isinstance(item.block, Opaque) or item.block.kind in kinds

    def _kept_thinking(self, step: Step) -> set[int]:
        """The ids of a turn's thoughts that go back to their issuer: all of them or none."""
        thoughts = [item for item in step.items if isinstance(item.block, Thinking)]
        if step.role != "ai":
            # Mistral's prompts show the model how to think.
            own = (item for item in thoughts if self.at_home(item.turn))
            return {id(item.block) for item in own if self._is_issuer(item.block, item.turn)}
        if not self.profile.thinking:
            return set()
        whole = all(self._is_whole(item, step) for item in thoughts)
        return {id(item.block) for item in thoughts} if whole else set()

    def _stranded(self, step: Step, kept: set[int]) -> set[int]:
        """The ids of the kept thoughts whose very next block, blank text apart, is left out."""
        stranded: set[int] = set()
        led_out = False
        for item in reversed(step.items):
            match item.block:
                case Thinking() as thought:
                    if led_out and id(thought) in kept:
                        stranded.add(id(thought))
                case Text(text=text) if not text.strip():
                    pass
                case block:
                    led_out = isinstance(block, Opaque) and id(block) not in kept
        return stranded

    def _is_whole(self, item: Placed, step: Step) -> bool:
        """Whether a thought can be shown to this reader exactly as it was issued."""
        block = item.block
        assert isinstance(block, Thinking)
        if not self._is_issuer(block, item.turn) or not self._is_new(block.native, step):
            return False
        if self.profile.plain_reasoning:
            return block.wire == self.profile.wire or bool(block.text.strip())
        return block.native is not None and mended_value(block.native) == block.native

    def stands_in_result(self, block: Opaque, answer: Answer) -> bool:
        """Whether a block of a result goes back inside it, as it came."""
        return block.kind in self.profile.result_opaque and self._is_issuer(block, answer.turn)

    def _is_issuer(self, block: Block, turn: Turn) -> bool:
        if not isinstance(block, _NATIVE) or self.options.reasoning == "drop":
            return False
        if block.wire != self.profile.wire and not self.profile.plain_reasoning:
            return False
        provider = block.provider or turn.provider
        if isinstance(block, Opaque):
            return provider in self.profile.issuers
        return self._is_own(provider, block.model or turn.model)

    def bound_to(self, step: Step) -> Iterator[str]:
        """The models that issued the provider's own reasoning and signatures in a step."""
        for item in step.items:
            provider, model = item.turn.provider, item.turn.model
            match item.block:
                case Thinking(native=native) as block if native is not None:
                    if self.options.reasoning == "drop" or block.wire != self.profile.wire:
                        continue
                    provider, model = block.provider or provider, block.model or model
                case Text(signature=str()) | ToolCall(signature=str()):
                    pass
                case _:
                    continue
            if model and provider in self.profile.issuers:
                yield model

    def _is_own(self, provider: str, model: str | None) -> bool:
        wanted = self.options.model
        return provider in self.profile.issuers and (not wanted or not model or wanted == model)

    def _is_new(self, native: Json, step: Step) -> bool:
        """A native item with an id may stand in a request once."""
        if not isinstance(native, dict):
            return True
        for key in ("id", "tool_use_id"):
            if isinstance(native.get(key), str):
                mark = (key, str(native[key]))
                is_new = mark not in self.uses.native_ids
                self.uses.native_ids.setdefault(mark, step.seq)
                return is_new
        return True

    def _is_first(self, posted: Posted, step: Step) -> bool:
        """True if no other message before it has the id of this one."""
        own_id = posted.envelope.members.get("id")
        if not isinstance(own_id, str):
            return True
        first_use = self.uses.native_ids.setdefault(("id", own_id), step.seq)
        first = self.messages.setdefault(own_id, posted.envelope)
        return first_use == step.seq and first is posted.envelope

    def _content(self, item: Placed, step: Step, kept: set[int]) -> Content | None:
        block = item.block
        match block:
            case Text():
                return self._text(block, item, step)
            case Image() | File():
                own = self.at_home(item.turn) and self._was_accepted(item)
                own = own and (step.role != "system" or self.profile.home_system)
                return self.media(block, item, allowed=own or step.role == "human")
            case Thinking():
                return self._thinking(block, item, kept)
            case Opaque():
                if id(block) in kept:
                    return block
                self._left_out(block, item, step)
                return None
            case ToolCall():
                return self._call(block, item, step)
            case ToolResult():
                raise AssertionError("pairing keeps results apart")
            case _:
                assert_never(block)

    def _left_out(self, block: Opaque, item: Placed, step: Step) -> None:
        """Names an opaque block that is left out, and says why."""
        half = self.profile.half(block)
        if half and half.by_client and self.may_return(block, item, step.role):
            if half.is_result:
                why = f"the call that this {cut(block.kind)} answers is not shown"
                self.report("BLOCK_OMITTED", why, item)
            else:
                why = f"the output of this {cut(block.kind)} has not come"
                self.report("CALL_WAITS_FOR_OUTPUT", why, item)
        elif block.kind in self.profile.server_state:
            why = f"a {cut(block.kind)} block refers to what the provider may not have stored"
            self.report("BLOCK_OMITTED", why, item)
        elif block.kind.startswith("server_tool"):
            self.report("SERVER_TOOL_DROPPED", "half a pair, or another provider's tool", item)
        else:
            why = f"a {cut(block.kind)} block goes back to its issuer only"
            self.report("BLOCK_OMITTED", why, item)

    def _text(self, block: Text, item: Placed, step: Step) -> Text | None:
        if not block.text.strip():
            self.report("EMPTY_TEXT_OMITTED", "the text is blank", item)
            return None
        if step.role == "ai" and "<" in block.text and any(one in block.text for one in _MARKUP):
            why = "the text holds the markup of a tool call"
            self.report("SUSPECT_MARKUP", why, item)
        own = block.signature is None or self._is_own(item.turn.provider, item.turn.model)
        if own and not is_broken(block.text):
            return block
        signature = block.signature if own else None
        return replace(block, text=self.mended(block.text, item), signature=signature)

    def media(
        self, block: Image | File, item: Placed | Answer, *, allowed: bool = True
    ) -> Image | File | Text:
        """What the wire takes of it."""
        kind, taken = ("Image", self.profile.images)
        if isinstance(block, File):
            kind, taken = ("File", self.profile.files)
        why: str | None = "this provider takes none here"
        if allowed:
            why = refusal(block.url, taken, self.profile.image_bytes, self.profile.image_pixels)
        if why is None:
            return self._mended_media(block, item)
        self.report(f"{kind.upper()}_OMITTED", why, item)
        # A result reads the same in whatever turn it arrives; only its repair says which.
        where = "" if isinstance(item, Answer) else f" of turn {item.turn.turn_id}"
        return Text(wording.left_out(kind + where, why))

    def _mended_media(self, block: Image | File, item: Placed | Answer) -> Image | File:
        if isinstance(block, Image):
            return block if block.detail in _DETAILS else replace(block, detail=None)
        name = None if block.name is None else self.mended(block.name, item)
        return replace(block, name=name)

    def _thinking(self, block: Thinking, item: Placed, kept: set[int]) -> Thinking | Text | None:
        if id(block) in kept:
            if self.profile.plain_reasoning:
                return replace(block, text=self.mended(block.text, item))
            return block
        if self.options.reasoning == "text" and block.text.strip():
            self.report("THINKING_AS_TEXT", "reasoning is shown as text", item)
            return Text(wording.reasoning(self.mended(block.text, item)))
        self.report("THINKING_DROPPED", "only its issuer may see it, whole", item)
        return None

    def _call(self, call: ToolCall, item: Placed, step: Step) -> CallShown:
        self._report_id(call, item)
        if call.raw_id:
            self.uses.raw_ids.setdefault(call.raw_id, step.seq)
        read = custom_object if call.custom else object_of
        arguments, value, code = read(call.arguments)
        if code:
            self.report(code, "arguments are shown as a JSON object", item, call.id)
        # A lone surrogate stands in the text as it is, or as an escape.
        may_be_broken = "\\u" in arguments or is_broken(arguments)
        if may_be_broken and (mended_object := mended_value(value)) != value:
            assert isinstance(mended_object, dict)
            value = mended_object
            arguments = dumps_utf8(value).decode()
            self.report("UNICODE_REPLACED", "in the arguments", item, call.id)
        name = shown_name(call.name, self.profile.names)
        if name != call.name:
            self.report("NAME_SANITIZED", f"shown as {name}", item, call.id)
        self.uses.tools.setdefault(name, step.seq)
        # Gateways speak for Gemini under other names; Gemini's own models do not share signatures.
        foreign = item.turn.provider not in self.profile.issuers
        asked = bool(self.profile.signature)
        signed = (foreign and asked) or self._is_own(item.turn.provider, item.turn.model)
        signature = call.signature if signed else None
        provider_id = self.provider_ids[call.id]
        return CallShown(provider_id, name, arguments, value, signature, call.raw_id)

    def _report_id(self, call: ToolCall, item: Placed) -> None:
        if call.raw_id and call.raw_id == self.provider_ids[call.id]:
            return
        if not call.raw_id:
            self.report("ID_SYNTHESIZED", "the call came without an id", item, call.id)
        elif "__thought__" in call.raw_id:
            why = "the signature in the raw id is Gemini's alone"
            self.report("STATE_SPLIT_FROM_ID", why, item, call.id)
        elif call.raw_id in self.uses.raw_ids:
            self.report("ID_REMAPPED", "the raw id is not unique", item, call.id)
        elif self.profile.assigns_ids:
            self.report("ID_REMAPPED", "this wire names calls itself", item, call.id)
        elif not self.profile.ids.fullmatch(call.raw_id):
            self.report("ID_REMAPPED", "this wire refuses the raw id", item, call.id)

    def mended(self, text: str, item: Placed | Answer, call_id: str | None = None) -> str:
        if not is_broken(text):
            return text
        self.report("UNICODE_REPLACED", "lone surrogates are shown as U+FFFD", item, call_id)
        return mended(text)

    def report(
        self, code: str, detail: str, item: Placed | Answer, call_id: str | None = None
    ) -> None:
        self.repairs.append(Repair(code, detail, item.turn.turn_id, call_id, item.place))


def _files(turn: Turn) -> Iterator[File]:
    """The files of a turn, those in results too."""
    for block in turn.blocks or ():
        parts = block.parts or () if isinstance(block, ToolResult) else (block,)
        yield from (part for part in parts if isinstance(part, File))
