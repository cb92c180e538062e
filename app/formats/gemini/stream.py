"""Gemini's chunks put together: each is a response of its own with the next parts."""

import re
from collections.abc import Sequence
from typing import cast

from ...jsontext.fields import objects, text_in
from ...jsontext.writing import dumps
from ...model.json_values import Json, JsonObject, JsonText
from ...model.limits import Limits
from ..shared.gathering import Pieces, an_error, number
from ..shared.responses import Gathering
from .spelling import CANDIDATE, member, snake

_STEP = re.compile(r"\.([^.\[\]]+)|\[([0-9]{1,6})\]|\['([^']*)'\]")
_DEEPEST = Limits().depth - 8
_VALUES = ("string_value", "number_value", "bool_value")


class GeminiGathering(Gathering):
    def __init__(self) -> None:
        super().__init__()
        self._parts: list[JsonObject] = []
        self._text: Pieces | None = None
        self._call: JsonObject | None = None
        self._path: str | None = None
        self._growing = Pieces()
        self._in_text = False
        self._finish: Json = None
        self._others: set[int] = set()

    def take(self, event: JsonObject) -> bool:
        if isinstance(inner := event.get("response"), dict) and "candidates" not in event:
            event = inner
        if event.get("error") is not None:
            self._top["error"] = an_error(event["error"])
            return True
        candidates = event.get("candidates")
        says = candidates or member(event, "prompt_feedback")
        if says and not self._goes_on(member(event, "response_id")):
            return True
        names = ("response_id", "model_version", "usage_metadata", "prompt_feedback")
        known = False
        for name in names:
            if (value := member(event, name)) is not None:
                self._top[name] = value
                known = True
        if isinstance(feedback := self._top.get("prompt_feedback"), dict):
            self.whole = self.whole or member(feedback, "block_reason") is not None
        for candidate in objects(candidates):
            self._candidate(candidate)
        known = known or isinstance(candidates, list)
        self.begun = self.begun or known
        return known

    def _candidate(self, candidate: JsonObject) -> None:
        index = number(candidate.get("index")) or 0
        if index:
            self._others.add(index)
            return
        self._left_over({snake(name): one for name, one in candidate.items()}, CANDIDATE)
        if isinstance(content := candidate.get("content"), dict):
            self._left_over(content, ("parts", "role"))
            for part in objects(content.get("parts")):
                self._part({key: value for key, value in part.items() if value is not None})
        if (finish := member(candidate, "finish_reason")) is not None:
            self._finish = finish
            self.whole = "error" not in self._top

    def _part(self, part: JsonObject) -> None:
        call = member(part, "function_call")
        if isinstance(call, dict) and self._call is not None and _is_another(call, self._call):
            self._odd["a call began before the one in front of it had ended"] += 1
            self._call["args"] = self._args_so_far(self._call["args"])
            self._call = None
        if isinstance(call, dict) and (self._call is not None or _goes_on(call)):
            self._piece_of_call(part, call)
            return
        text = part.get("text")
        thought = bool(part.get("thought"))
        signed = member(part, "thought_signature") is not None
        plain = isinstance(text, str) and not signed
        last = self._parts[-1] if self._parts else None
        if plain and self._text and last is not None and bool(last.get("thought")) == thought:
            self._text.add(text)
            return
        self._close()
        self._parts.append(part)
        self._text = Pieces(str(text)) if plain else None

    def _close(self) -> None:
        if self._text is not None:
            self._parts[-1] = self._parts[-1] | {"text": self._text.text()}
            self._text = None

    def _piece_of_call(self, part: JsonObject, call: JsonObject) -> None:
        """A call whose arguments come in pieces, each with the path where it belongs."""
        if self._call is None:
            self._close()
            self._call = {"args": {}}
            rest = {key: value for key, value in part.items() if not key.startswith("function")}
            self._parts.append(rest | {"function_call": self._call})
        for name in ("id", "name"):
            if given := text_in(call, name):
                self._call[name] = given
        for piece in objects(member(call, "partial_args")):
            self._argument(piece)
            self._in_text = _goes_on(piece)
        if not _goes_on(call):
            self._settle()
            self._call = None

    def _argument(self, piece: JsonObject) -> None:
        """A piece of an argument. A text that grows is put into its place when it has grown."""
        path, text = member(piece, "json_path"), member(piece, "string_value")
        if isinstance(text, str) and path == self._path:
            self._growing.add(text)
            return
        self._settle()
        assert self._call is not None
        if isinstance(text, str) and isinstance(path, str):
            self._path, self._growing = path, Pieces(text)
        else:
            values = [value for name in _VALUES if (value := member(piece, name)) is not None]
            _put(self._call["args"], path, values[-1] if values else None)

    def _settle(self) -> None:
        if self._path is not None and self._call is not None:
            _put(self._call["args"], self._path, self._growing.text())
        self._path = None

    def response(self) -> JsonObject:
        self._close()
        if self._call is not None:
            self._call["args"] = self._args_so_far(self._call["args"])
        parts: list[Json] = list(self._parts)
        candidate: JsonObject = {"content": {"role": "model", "parts": parts}}
        candidate["finish_reason"] = self._finish
        others: list[Json] = [{"index": index} for index in sorted(self._others)]
        return self._top | {"candidates": [candidate, *others]}

    def _args_so_far(self, args: Json) -> Json:
        """The text of the arguments without the ends that have not come."""
        self._settle()
        text = dumps(args).rstrip("]}")
        return cast(Json, JsonText(text.removesuffix('"') if self._in_text else text))


def is_generated(response: JsonObject) -> bool:
    """Whether this has the shape of a `GenerateContentResponse`."""
    candidates = response.get("candidates")
    return isinstance(candidates, list) or member(response, "prompt_feedback") is not None


def _goes_on(call: JsonObject) -> bool:
    return member(call, "will_continue") is True


def _is_another(call: JsonObject, begun: JsonObject) -> bool:
    """Whether a piece begins a call of its own: it is whole, or says another name or id."""
    if call.get("args") is not None:
        return True
    return any(call.get(key) and begun.get(key, call[key]) != call[key] for key in ("id", "name"))


def _put(arguments: Json, path: Json, value: Json) -> None:
    if not isinstance(path, str):
        return
    steps: list[str | int] = [
        int(place) if place else name or quoted
        for name, place, quoted in _STEP.findall(path.removeprefix("$"))
    ]
    if 0 < len(steps) <= _DEEPEST:
        _set(arguments, steps, value)


def _set(holder: Json, steps: Sequence[str | int], value: Json) -> None:
    step, *rest = steps
    if isinstance(holder, list) and isinstance(step, int):
        if step > len(holder):
            return
        if step == len(holder):
            holder.append(None)
        holder[step] = _grown(holder[step], rest, value)
    elif isinstance(holder, dict) and isinstance(step, str):
        holder[step] = _grown(holder.get(step), rest, value)


def _grown(before: Json, rest: Sequence[str | int], value: Json) -> Json:
    if not rest:
        both_text = isinstance(before, str) and isinstance(value, str)
        return before + value if both_text else value  # type: ignore[operator]
    if before is None:
        before = [] if isinstance(rest[0], int) else {}
    _set(before, rest, value)
    return before
