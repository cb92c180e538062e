"""Law 5: a render says what is stored; what we add is marked, and arguments are never guessed."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given

from app.formats.shared.placeholders import ERROR_PREFIX, MARK, NO_MESSAGE, NO_OUTPUT
from app.model.conversation import Text, Thinking, ToolCall, ToolResult, Turn
from tests import judges
from tests.histories import posted
from tests.laws import oracle
from tests.laws.running import JUDGED, Window, all_ids, tried, windows
from tests.laws.said import MARKER
from tests.laws.strategies import Bodies, histories

_PLACEHOLDERS = (NO_OUTPUT, NO_MESSAGE)
_LEFT_OUT = re.compile(r"\[[\w-]+ left out\]")


@tried(80)
@given(histories(), windows())
def test_every_text_is_stored_or_marked(bodies: Bodies, window: Window) -> None:
    history = posted(*bodies)
    stored = sorted(set(_stored(window.turns(history))), key=len, reverse=True)
    for target in JUDGED:
        render = window.of(history, target)
        for text in judges.texts(target, render.request):
            assert not _invented(text, stored), f"{target}: {text!r}"


def _invented(text: str, stored: Sequence[str]) -> list[str]:
    """The lines of a text that are neither stored, nor marked, nor a documented placeholder."""
    rest = text
    for one in stored:
        # What has no marker and is short would be found in any text.
        if MARKER.search(one) or len(one) > 8:
            rest = rest.replace(one, "")
    known = {*stored, *_PLACEHOLDERS, ""}
    is_ours = MARK in rest
    return [
        line
        for line in map(str.strip, rest.split("\n"))
        if line.removeprefix(ERROR_PREFIX.strip()).strip() not in known
        and MARK not in line
        and not (is_ours and _LEFT_OUT.fullmatch(line))
    ]


def _stored(turns: Sequence[Turn]) -> Iterator[str]:
    """Every stored text as it may be shown: whole, without blanks at its ends, mended."""
    for turn in turns:
        for block in turn.blocks or ():
            match block:
                case Text() | Thinking():
                    said = [block.text]
                case ToolResult():
                    parts = [part.text for part in block.parts or () if isinstance(part, Text)]
                    said = [block.error or "", *parts, *_leaves(block.result)]
                case ToolCall():
                    said = [block.name, block.arguments]
                case _:
                    said = []
            for text in map(oracle.mended, said):
                yield from (text, text.strip(), text.rstrip())


def _leaves(value: Any) -> Iterator[str]:
    """A value as JSON text, and each text or scalar inside it."""
    match value:
        case str():
            yield value
        case dict() | list():
            # The JSON text of a value that is no Unicode text keeps its escapes.
            yield from (_compact(value), json.dumps(value, separators=(",", ":")))
            inner = value.values() if isinstance(value, dict) else value
            yield from (leaf for one in inner for leaf in _leaves(one))
        case _:
            # The judge reads scalars with Python's eyes: 1e2 is 100.0 to it.
            yield from (_compact(value), json.dumps(json.loads(_compact(value))))


def _compact(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_compact(k)}:{_compact(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_compact, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


@tried(80)
@given(histories())
def test_arguments_are_those_that_were_sent(bodies: Bodies) -> None:
    history = posted(*bodies)
    sent = {call.id: call for turn in history.remembered.turns for call in turn.calls()}
    for target in JUDGED:
        render = history.render(target)
        ids = {shown[target]: call for call, shown in all_ids(history).items()}
        pairs = judges.calls_and_results(target, oracle.exactly(render.raw))
        for call_id, _, arguments, _ in pairs:
            expected = oracle.shown_arguments(sent[ids[str(call_id)]].arguments)
            assert arguments in (expected, _plain(expected)), target


@tried(40)
@given(histories())
def test_arguments_that_are_text_keep_every_byte(bodies: Bodies) -> None:
    history = posted(*bodies)
    for turn in history.remembered.turns:
        for call in turn.calls():
            if isinstance(_object(call.arguments), dict) and "\\ud83d" not in call.arguments:
                wire = json.dumps(call.arguments, ensure_ascii=False).encode()
                assert wire in history.render("openai").raw


def _object(text: str) -> Any:
    return oracle.exactly(text) if oracle.shown_arguments(text) and text[:1] == "{" else None


def _plain(value: Any) -> Any:
    """The same value as a reader sees it who turns numbers into numbers."""
    match value:
        case oracle.NumberWord():
            return json.loads(value)
        case list():
            return [_plain(one) for one in value]
        case dict():
            return {key: _plain(one) for key, one in value.items()}
        case _:
            return value
