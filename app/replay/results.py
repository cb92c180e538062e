"""Answers: the one result of a call in the words of a wire.

A state that the wire cannot say is put in words; nothing is shown that was not recorded, and what
we write ourselves is marked.
"""

from dataclasses import dataclass, replace

from ..formats.shared import placeholders as wording
from ..formats.shared.profile import Profile
from ..formats.shared.tool_names import shown_name
from ..formats.shared.view import ResultShown, Shown
from ..jsontext.numbers import is_beyond_double
from ..jsontext.unicode import mended_value
from ..ledger.pairing import Answer
from ..model.conversation import Image, Opaque, Part, Text
from ..model.json_values import Json
from ..model.telling import cut
from .blocks import Showing

# Repairs that a posted result does not need: its provider takes it in its own form.
_AS_POSTED = frozenset({"IMAGE_RELOCATED", "BLOCK_OMITTED", "RESULT_WRAPPED", "SYNTH_RESULT"})
# Anthropic: "all content must be type 'text' if 'is_error' is true".
_FAILED_AS_POSTED = frozenset({"RESULT_WRAPPED", "SYNTH_RESULT"})


@dataclass(slots=True)
class Answering:
    """Shows one answer. `beside`: the media that stand behind the results."""

    answer: Answer
    showing: Showing
    beside: list[Shown]
    cut: bool = False

    def shown(self) -> Shown:
        result, showing = self.answer.result, self.showing
        failed = result is None or result.status != "ok"
        before, media = len(showing.repairs), len(self.beside)
        pieces, value = self._pieces(), self._value()
        repairs = showing.repairs[before:]
        posted = showing.posted(self.answer, result, ()) if result else None
        if posted and posted.value is not None:
            # It goes back as it was posted, unless the provider would refuse that.
            needless = _FAILED_AS_POSTED if result and result.status == "error" else _AS_POSTED
            if not self._has_blanks() and all(repair.code in needless for repair in repairs):
                del showing.repairs[before : before + len(repairs)], self.beside[media:]
            else:
                posted = replace(posted, value=None)
        if (posted is None or posted.value is None) and result and result.parts:
            # Only the target's own results come home with the names of their files.
            showing.name_files(self.answer.turn, *pieces, *(one.content for one in self.beside))
        call = self.answer.call
        name = shown_name(call.name, showing.profile.names)
        provider_id = showing.provider_ids[call.id]
        content = ResultShown(provider_id, name, tuple(pieces), failed, value)
        turn_id = self.answer.turn.turn_id if result else None
        return Shown(content, turn_id, self.answer.place, posted)

    def _pieces(self) -> list[Part]:
        result = self.answer.result
        if not result or not result.parts:
            return [Text(self._words())]
        if self.showing.profile.result_media and self._is_bare():
            return self._inside() or [Text(self._silent(wording.NO_OUTPUT))]
        # The wire, or a failed result, takes text only: words first, media behind the group.
        held = [piece.text for part in result.parts if (piece := self._set_apart(part))]
        words = self._words(has_more=bool(held))
        return [Text("\n".join([words, *held] if words.strip() or not held else held))]

    def _inside(self) -> list[Part]:
        assert self.answer.result
        pieces: list[Part] = []
        for part in self.answer.result.parts or ():
            if isinstance(part, Text):
                if part.text.strip():
                    pieces.append(Text(self._elided(part.text)))
            elif isinstance(part, Opaque) and self.showing.stands_in_result(part, self.answer):
                pieces.append(part)
            elif isinstance(part, Opaque):
                self._report("BLOCK_OMITTED", f"a {cut(part.kind)} block stands in no result here")
            else:
                pieces.append(self.showing.media(part, self.answer))
        return pieces

    def _set_apart(self, part: Part) -> Text | None:
        if isinstance(part, Text):
            return None
        if isinstance(part, Opaque):
            self._report("BLOCK_OMITTED", f"a {cut(part.kind)} block stands in no result here")
            return None
        piece = self.showing.media(part, self.answer)
        if isinstance(piece, Text):
            return piece
        kind = "image" if isinstance(piece, Image) else "file"
        self.beside.append(Shown(piece, self.answer.turn.turn_id))
        self._report("IMAGE_RELOCATED", f"the {kind} stands behind the results")
        return Text(wording.moved(kind))

    def _words(self, *, has_more: bool = False) -> str:
        result = self.answer.result
        if result is None:
            self._report("SYNTH_RESULT", "no result is recorded")
            return unrecorded(self.answer, self.showing.profile)
        said = self._elided(wording.result_text(result))
        if state := wording.of_status(result.status):
            self._report("SYNTH_RESULT", f"the state {result.status} is put in words")
            return _flagged(f"{state}\n{said}" if said.strip() else state, self.showing.profile)
        if result.status == "error":
            if not said.strip():
                said = self._silent(wording.NO_MESSAGE)
            return _flagged(said, self.showing.profile)
        if not said.strip() and not has_more and not self.showing.profile.blank_results:
            return self._silent(wording.NO_OUTPUT)
        return said

    def _silent(self, text: str) -> str:
        """For a result that shows no word: this text, unless it has what is shown in no words."""
        result = self.answer.result
        if result and any(isinstance(part, Opaque) for part in result.parts or ()):
            return wording.OUTPUT_LEFT_OUT
        return self._placeholder(text)

    def _placeholder(self, text: str) -> str:
        self._report("EMPTY_RESULT_PLACEHOLDER", "the result is empty")
        return text

    def _elided(self, text: str) -> str:
        """The text, mended, as long as the wire takes it."""
        most = self.showing.profile.result_text
        text = self.showing.mended(text, self.answer, self.answer.call.id)
        if len(text) <= most:
            return text
        self.cut = True
        self._report("RESULT_ELIDED", f"{len(text)} characters, this wire takes {most}")
        return wording.elided(text, most)

    def _value(self) -> Json:
        """The result as a value, where it was one and stays whole."""
        result = self.answer.result
        if not self.showing.profile.value_results or self.cut or not result or not self._is_bare():
            return None
        if isinstance(result.result, str) or result.result is None:
            return None
        if is_beyond_double(result.result):
            self._report("RESULT_AS_TEXT", "a number is larger than any double")
            return None
        if self.showing.profile.object_results and not isinstance(result.result, dict):
            self._report("RESULT_WRAPPED", "the result is shown inside an object")
        value = mended_value(result.result)
        if value != result.result:
            self._report("UNICODE_REPLACED", "lone surrogates are shown as U+FFFD")
        return value

    def _is_bare(self) -> bool:
        """Whether the result is all there is to show: no failure, no words about one."""
        result = self.answer.result
        return result is not None and result.status == "ok" and not result.error

    def _has_blanks(self) -> bool:
        """True if a part is a blank text, which providers refuse inside a list."""
        result = self.answer.result
        parts = result.parts or () if result else ()
        return any(isinstance(part, Text) and not part.text.strip() for part in parts)

    def _report(self, code: str, detail: str) -> None:
        self.showing.report(code, detail, self.answer, self.answer.call.id)


def unrecorded(answer: Answer, profile: Profile) -> str:
    """What is shown for a call that has no result."""
    return _flagged(wording.unrecorded(answer.turn.status), profile)


def _flagged(text: str, profile: Profile) -> str:
    if profile.error_flag or text.startswith(wording.ERROR_PREFIX):
        return text
    return wording.ERROR_PREFIX + text
