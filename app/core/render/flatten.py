"""Flattening: calls and results as marked text, for models that are given no tools."""

from collections.abc import Iterator

from app.core.conversation import Text, ToolCall
from app.core.render import placeholders as wording
from app.core.render.pairing import Answer, Placed, Step
from app.core.render.repairs import Repair


def flattened(step: Step) -> list[Step]:
    """The step without a single call; results stand behind the turn that called."""
    if not step.answers:
        return [step]
    items = [_called(item) for item in step.items]
    repairs = [
        Repair("FLATTENED_TO_TEXT", "shown as text", item.turn.turn_id, block=item.place)
        for item in step.items
        if isinstance(item.block, ToolCall)
    ]
    results = [shown for answer in step.answers for shown in _result_parts(answer)]
    return [
        Step("ai", step.seq, items, seqs=step.seqs, repairs=[*step.repairs, *repairs]),
        Step("human", step.seq, results, seqs=step.seqs),
    ]


def _called(item: Placed) -> Placed:
    if not isinstance(item.block, ToolCall):
        return item
    text = f"{wording.MARK} Called the tool {item.block.name} with: {item.block.arguments}"
    return Placed(Text(text), item.turn, item.place)


def _result_parts(answer: Answer) -> Iterator[Placed]:
    """The words of a result, then what else it holds."""
    yield Placed(Text(result_line(answer)), answer.turn, answer.place)
    for part in (answer.result.parts if answer.result else None) or ():
        if not isinstance(part, Text):
            yield Placed(part, answer.turn, answer.place)


def result_line(answer: Answer) -> str:
    result = answer.result
    said = wording.unrecorded() if result is None else wording.result_text(result)
    if result is not None and (state := wording.of_status(result.status)):
        said = f"{state}\n{said}" if said else state
    return f"{wording.MARK} Result of the tool {answer.call.name}: {said or wording.NO_OUTPUT}"
