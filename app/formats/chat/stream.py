"""Chat Completions chunks put together.

Deltas of calls are kept apart by index, else by id, else they go on with the last call; a new id or
name behind arguments that are whole begins a new call. Nothing is split by guessing: arguments that
run together without one of these signs stay together, and are not JSON then.
"""

from dataclasses import dataclass, field
from typing import cast

from ...jsontext.fields import objects, text_in
from ...jsontext.writing import dumps
from ...model.json_values import Json, JsonObject
from ..shared.gathering import Pieces, an_error, number, text_so_far, value_of
from ..shared.reading import names
from ..shared.responses import Gathering
from .reasoning_details import DetailsGathering, words

# How often the arguments of one call are taken apart to see whether they are whole.
_LOOKS = 64
_TEXTS = ("refusal", "reasoning_content", "reasoning")

# What is read of a choice, of its delta, of a call in it; and what servers say beside it.
_CHOICE = names(
    "index delta message finish_reason native_finish_reason stop_reason logprobs usage token_ids"
    " content_filter_results content_filter_offsets"
)
_DELTA = frozenset(("role", "content", "tool_calls", "function_call", "reasoning_details", *_TEXTS))
_CALL = ("index", "id", "type", "function", "custom", "extra_content")
_FUNCTION = ("name", "arguments", "input")

# openai.lib.streaming.chat: the types of its events.
_HELPING = ("chunk", "content.", "refusal.", "logprobs.", "tool_calls.function.arguments.")


@dataclass
class _Call:
    index: int | None
    id: str | None = None
    kind: str = "function"
    name: str = ""
    arguments: Pieces = field(default_factory=Pieces)
    more: JsonObject = field(default_factory=dict)
    looked: int = 0

    def is_whole(self) -> bool:
        """Whether the arguments are a whole object. A stream that makes us look often is odd."""
        if self.looked >= _LOOKS or not self.arguments.may_be_object():
            return False
        self.looked += 1
        return isinstance(value_of(self.arguments.text().strip()), dict)

    def json(self, whole: bool) -> JsonObject:
        inner: JsonObject = {"name": self.name}
        if self.kind == "custom":
            inner["input"] = text_so_far(self.arguments.text(), whole)
        else:
            inner["arguments"] = self.arguments.text()
        shown: JsonObject = {"id": self.id, "type": self.kind, self.kind: inner}
        return shown | self.more


class ChatGathering(Gathering):
    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, Pieces] = {}
        # Content in parts, as Mistral streams it: kind and text, or a part of another kind.
        self._parts: list[tuple[str, Pieces] | JsonObject] = []
        self._in_parts = False
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._legacy: _Call | None = None
        self._details = DetailsGathering()
        self._finish: str | None = None
        self._others_seen: set[int] = set()

    def done(self) -> None:
        super().done()
        self.whole = self.whole or (self.begun and "error" not in self._top)

    def take(self, event: JsonObject) -> bool:
        # OpenAI's helper wraps each chunk, and adds events that say the same again.
        if isinstance(kind := event.get("type"), str) and kind.startswith(_HELPING):
            chunk = event.get("chunk")
            return self.take(chunk) if isinstance(chunk, dict) else True
        choices = event.get("choices")
        # mistralai: a `CompletionEvent` holds the chunk.
        if choices is None and isinstance(chunk := event.get("data"), dict):
            return self.take(chunk)
        if (error := event.get("error")) is not None:
            self._top["error"] = an_error(error)
        if not isinstance(choices, list):
            self._left_over({"choices": choices}, ())
            is_chunk = event.get("object") == "chat.completion.chunk"
            self.begun = self.begun or is_chunk
            if event.get("usage") and "type" not in event:
                self._top["usage"] = event["usage"]
                return True
            return error is not None or is_chunk
        # The end may have an id of its own, and what other choices say is not read anyway.
        if any(map(_says, objects(choices))) and not self._goes_on(event.get("id")):
            return True
        self.begun = True
        for key in ("id", "model", "usage"):
            if event.get(key) not in (None, ""):
                self._top[key] = event[key]
        for choice in objects(choices):
            self._choice(choice)
        return True

    def _choice(self, choice: JsonObject) -> None:
        index = number(choice.get("index")) or 0
        if index:
            self._others_seen.add(index)
            return
        self._left_over(choice, _CHOICE)
        delta = _delta_of(choice)
        if isinstance(delta, dict):
            if self._finish and any(delta.get(key) for key in ("content", "tool_calls", *_TEXTS)):
                self._odd["the response went on behind the reason why it ended"] += 1
            self._delta(delta)
        else:
            self._left_over({"delta": delta}, ())
        if finish := text_in(choice, "finish_reason"):
            self._finish = finish
            # Gateways end a response that failed with an error and a reason of its own.
            self.whole = "error" not in self._top
        # Kimi: the last choice carries the usage.
        if isinstance(usage := choice.get("usage"), dict):
            self._top.setdefault("usage", usage)

    def _delta(self, delta: JsonObject) -> None:
        self._left_over(delta, _DELTA)
        for key in _TEXTS:
            if isinstance(text := delta.get(key), str):
                self._texts.setdefault(key, Pieces()).add(text)
            else:
                self._left_over({key: text}, ())
        for detail in objects(delta.get("reasoning_details")):
            self._details.take(detail)
        content = delta.get("content")
        if isinstance(content, list):
            self._in_parts = True
            for part in objects(content):
                self._part(part)
        elif isinstance(content, str):
            self._part({"type": "text", "text": content})
        else:
            self._left_over({"content": content}, ())
        calls = delta.get("tool_calls")
        if not isinstance(calls, list):
            self._left_over({"tool_calls": calls}, ())
        for call in objects(calls):
            self._call(call)
        if isinstance(legacy := delta.get("function_call"), dict):
            self._legacy = self._legacy or _Call(None)
            self._grow(self._legacy, legacy)

    def _part(self, part: JsonObject) -> None:
        kind = str(part.get("type"))
        text = part.get("text") if kind == "text" else _thought(part)
        if text is None:
            self._parts.append(part)
        elif text:
            last = self._parts[-1] if self._parts else None
            if not isinstance(last, tuple) or last[0] != kind:
                last = (kind, Pieces())
                self._parts.append(last)
            last[1].add(text)

    def _call(self, delta: JsonObject) -> None:
        kind = "custom" if isinstance(delta.get("custom"), dict) else "function"
        inner = delta.get(kind)
        given = inner if isinstance(inner, dict) else {}
        self._left_over(delta, _CALL)
        self._left_over(given, _FUNCTION)
        index = number(delta.get("index"))
        raw_id, name = text_in(delta, "id") or None, text_in(given, "name") or ""
        if self._fits_nowhere(index, raw_id, name):
            self._odd["a piece of a call fits none; it stands in the payload only"] += 1
            return
        call = self._known(index, raw_id, name)
        if call is None:
            call = _Call(index, kind=kind)
            self._calls.append(call)
        call.id = call.id or raw_id
        if index is not None:
            self._by_index.setdefault(index, call)
        if call.index is not None:
            self._by_index[call.index] = call
        if call.id is not None:
            self._by_id[call.id] = call
        if isinstance(extra := delta.get("extra_content"), dict):
            call.more["extra_content"] = extra
        self._grow(call, given)

    def _fits_nowhere(self, index: int | None, raw_id: str | None, name: str) -> bool:
        """An index that nobody has, no id, no name, and no call that waits for more."""
        if index is None or index in self._by_index or raw_id is not None or name:
            return False
        return not self._calls or self._calls[-1].is_whole()

    def _known(self, index: int | None, raw_id: str | None, name: str) -> _Call | None:
        """The call that a delta goes on with; None when it begins one."""
        found = None
        if index is not None:
            found = self._by_index.get(index)
        elif raw_id is not None:
            found = self._by_id.get(raw_id)
        if found is None:
            return self._last_open(index, raw_id, name)
        if raw_id is not None and found.id is not None and raw_id != found.id:
            if name or found.is_whole():
                self._odd["calls under one index were told apart by their ids"] += 1
                return None
            self._odd["the id of a call changed between its pieces; the first one is kept"] += 1
        elif name and (raw_id is None or name != found.name) and found.is_whole():
            self._odd["calls under one index were told apart by their names"] += 1
            return None
        return found

    def _last_open(self, index: int | None, raw_id: str | None, name: str) -> _Call | None:
        """A piece without a known place goes on with the last call, unless it begins a new one."""
        if not self._calls or (raw_id is not None and (name or index is not None)):
            return None
        last = self._calls[-1]
        if name and (index is not None or last.arguments):
            return None
        if raw_id is not None and last.is_whole():
            return None
        if index is not None or raw_id is not None:
            self._odd["a piece under an unknown index or id went on with the last call"] += 1
        elif len(self._calls) > 1:
            self._odd["a piece without index and id went on with the last of several calls"] += 1
        return last

    def _grow(self, call: _Call, given: JsonObject) -> None:
        name = text_in(given, "name")
        if name and name != call.name:
            # A name in pieces comes before the arguments; a repeated one is no new piece.
            if call.name:
                self._odd["a tool's name came in pieces"] += 1
            call.name += name
        arguments = given.get("arguments", given.get("input"))
        call.arguments.add(dumps(arguments) if isinstance(arguments, dict | list) else arguments)

    def response(self) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": self._content()}
        for key, pieces in self._texts.items():
            message[key] = pieces.text()
        if details := self._details.json():
            # Their signatures come last: of a stream that broke, only the words are kept.
            whole: JsonObject = {"reasoning_details": details}
            message |= whole if self.whole else {"reasoning": words(details), **message}
        if self._calls:
            message["tool_calls"] = [call.json(self.whole) for call in self._calls]
        if self._legacy:
            message["function_call"] = self._legacy.json(self.whole)["function"]
        choice: JsonObject = {"index": 0, "finish_reason": self._finish, "message": message}
        others: list[Json] = [{"index": index} for index in sorted(self._others_seen)]
        return {**self._top, "choices": [choice, *others]}

    def _content(self) -> Json:
        parts = [_part(part) for part in self._parts]
        if self._in_parts:
            return cast(list[Json], parts)
        # Outside of parts there is one text, or none.
        return parts[0]["text"] if parts else None


def is_completion(response: JsonObject) -> bool:
    """Whether this has the shape of a `ChatCompletion`."""
    match response:
        case {"object": "chat.completion"} | {"choices": [{"message": dict()}, *_]}:
            return True
        case _:
            return False


def _delta_of(choice: JsonObject) -> Json:
    return choice.get("delta") or choice.get("message")


def _says(choice: JsonObject) -> bool:
    """Whether the first choice begins or goes on here."""
    return not number(choice.get("index")) and bool(_delta_of(choice))


def _part(part: tuple[str, Pieces] | JsonObject) -> JsonObject:
    if not isinstance(part, tuple):
        return part
    kind, said = part[0], part[1].text()
    return {"type": kind, kind: [{"type": "text", "text": said}] if kind == "thinking" else said}


def _thought(part: JsonObject) -> str | None:
    """The text of Mistral's thinking chunk; None for any other part."""
    if part.get("type") != "thinking":
        return None
    said = part.get("thinking")
    if isinstance(said, str):
        return said
    return "".join(text_in(one, "text") or "" for one in objects(said))
