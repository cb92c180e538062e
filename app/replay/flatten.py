"""Flattening: calls and results as marked text, for models that are given no tools."""

from collections.abc import Iterator
from dataclasses import replace

from ..formats.shared import placeholders as wording
from ..ledger.pairing import Answer, Placed, Step
from ..model.conversation import Text, ToolCall
from ..model.repairs import Repair


def flattened(step: Step) -> list[Step]:
    """The step without a single call; results stand behind the turn that called."""
    if not step.answers:
        return [step]
    items: list[Placed] = []
    repairs = list(step.repairs)
    for item in step.items:
        call, where = item.block, item.turn.turn_id
        if isinstance(call, ToolCall):
            text = f"{wording.MARK} Called the tool {call.name} with: {call.arguments}"
            items.append(replace(item, block=Text(text)))
            repairs.append(Repair("FLATTENED_TO_TEXT", "shown as text", where, block=item.place))
        else:
            items.append(item)
    results = [shown for answer in step.answers for shown in _result_parts(answer)]
    ours = [repair for answer in step.answers for repair in _words(answer)[1]]
    return [
        Step("ai", step.seq, items, seqs=step.seqs, repairs=repairs),
        Step("human", step.seq, results, seqs=step.seqs, repairs=ours),
    ]


def _result_parts(answer: Answer) -> Iterator[Placed]:
    """The words of a result, then what else it holds."""
    yield Placed(Text(result_line(answer)), answer.turn, answer.place)
    for part in (answer.result.parts if answer.result else None) or ():
        if not isinstance(part, Text):
            yield Placed(part, answer.turn, answer.place)


def result_line(answer: Answer) -> str:
    said, _ = _words(answer)
    return f"{wording.MARK} Result of the tool {answer.call.name}: {said}"


def _words(answer: Answer) -> tuple[str, list[Repair]]:
    """The words of a result, and what names those of them that are ours."""
    result = answer.result
    if result is None:
        return wording.unrecorded(), [_ours(answer, "SYNTH_RESULT", "no result is recorded")]
    said = wording.result_text(result)
    if state := wording.of_status(result.status):
        why = f"the state {result.status} is put in words"
        return f"{state}\n{said}" if said else state, [_ours(answer, "SYNTH_RESULT", why)]
    if not said:
        why = "the result is empty"
        return wording.NO_OUTPUT, [_ours(answer, "EMPTY_RESULT_PLACEHOLDER", why)]
    return said, []


def _ours(answer: Answer, code: str, why: str) -> Repair:
    return Repair(code, why, answer.turn.turn_id, answer.call.id, answer.place)
