"""Law 7: appending turns does not change earlier messages, unless a repair says why."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.formats.registry import CODECS
from app.model.repairs import Repair
from tests.histories import History, Render, posted
from tests.laws.evidence import seen_in, units
from tests.laws.running import JUDGED, all_ids, messages, tried
from tests.laws.strategies import Bodies, healthy_histories, histories

# A message that was the last one may grow or lose what only the last one has.
AT_THE_END = frozenset({"ROLES_MERGED", "ENDS_WITH_ASSISTANT", "TRAILING_TRIMMED"})
# The first message is ours as long as nobody has said anything.
AT_THE_BEGINNING = frozenset({"BRIDGE_USER", "EMPTY_HISTORY"})
# A result that came later is shown at its call, and no longer where it was an orphan.
AT_THE_CALL = frozenset(
    {
        "SYNTH_RESULT",
        "LATE_RESULT_APPLIED",
        "RESULTS_MOVED_TO_CALL",
        "RESULTS_REORDERED",
        "DUP_RESULT_SUPERSEDED",
        "ORPHAN_RESULT",
    }
)
# A replay for another model leaves out reasoning, or has other signatures.
AT_REASONING = "MODEL_CHANGED"


@tried(80)
@given(histories(), st.integers(0, 14), st.integers(0, 14))
def test_earlier_messages_change_only_where_a_repair_says_so(
    bodies: Bodies, one: int, other: int
) -> None:
    history = posted(*bodies)
    earlier, later = sorted((one, other))
    for target in JUDGED:
        before = history.render(target, until=earlier)
        after = history.render(target, until=later)
        old, new = messages(before, target), messages(after, target)
        if new[: len(old)] != old:
            first = next(at for at, each in enumerate(old) if new[at : at + 1] != [each])
            excused = min(_excuses(history, target, before, after), default=len(old))
            assert excused <= first, f"{target}: message {first} changed, excused from {excused}"


def _excuses(history: History, target: str, before: Render, after: Render) -> list[int]:
    """The first message that each difference between the reported repairs allows to change."""
    old = messages(before, target)
    changed = [one for one in before.repairs if one not in after.repairs]
    changed += [one for one in after.repairs if one not in before.repairs]
    places = [0 for one in before.repairs if one.code in AT_THE_BEGINNING]
    for repair in changed:
        if repair.code in AT_THE_END:
            places.append(len(old) - 1)
        elif repair.code in AT_THE_BEGINNING:
            places.append(0)
        elif repair.code in AT_THE_CALL:
            places.append(_place(history, target, repair, old))
        elif repair.code == AT_REASONING and repair in after.repairs:
            places.append(_reasoning(old))
    return places


def _reasoning(old: Sequence[Any]) -> int:
    """The first message of the model: it may hold reasoning, or lack the signature of a call."""
    own = (at for at, one in enumerate(old) if one.get("role") in ("assistant", "model", None))
    return next(own, len(old))


def _place(history: History, target: str, repair: Repair, old: Sequence[Any]) -> int:
    """The first message that shows the call of a repair, or a block of its turn.

    An orphan may show nothing that can be found again (`[image left out]`): then any message.
    """
    turns = [turn for turn in history.remembered.turns if turn.turn_id == repair.turn_id]
    evidence = {one for unit in units(turns) for one in unit.evidence}
    if repair.call_id:
        evidence.add(all_ids(history)[repair.call_id][target])
    seen = [seen_in(message) for message in old]
    places = (at for at, text in enumerate(seen) if any(one in text for one in evidence))
    return next(places, 0)


@tried(60)
@given(healthy_histories())
def test_a_healthy_history_only_ever_grows(bodies: Bodies) -> None:
    history = posted(*bodies)
    for target in JUDGED:
        whole = history.render(target)
        assert not whole.codes & (AT_THE_CALL | {"ROLES_MERGED", "BRIDGE_USER"})
        for seq in _answered(history):
            part = history.render(target, until=seq)
            old, new = messages(part, target), messages(whole, target)
            assert _beside(part, target) == _beside(whole, target)
            assert old == new[: len(old)], target


def _answered(history: History) -> list[int]:
    """The places where a provider would be asked: somebody spoke, and no call is open."""
    places, still_open = [], 0
    for turn in history.remembered.turns:
        still_open += len(list(turn.calls())) - len(list(turn.results()))
        if not still_open and turn.speaker not in ("system", "note"):
            places.append(turn.seq)
    return places


def _beside(render: Render, target: str) -> dict[str, Any]:
    """What a provider reads before the messages; tools are declared as they come into use."""
    own = {CODECS[target].messages, "tools", "toolConfig"}
    return {key: member for key, member in render.request.items() if key not in own}
