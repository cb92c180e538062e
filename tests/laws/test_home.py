"""Law 10: replayed for the provider that issued it, in its format, a turn is what was posted.

A turn may differ only if a repair names it, or a repair that moves or joins it with a neighbour.
Further exceptions: a leading system turn moves out of the messages where the provider wants it
there, and members that the provider's input type does not accept are left out.
"""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.formats.inputs import input_types
from app.formats.registry import CODECS
from app.formats.shared.inputs import accepted
from app.jsontext.reading import loads_object
from app.model.conversation import Draft
from app.model.limits import Limits
from app.turns.posting import read_post
from tests.histories import History, Render, posted
from tests.home.test_home import differences
from tests.laws.running import tried
from tests.laws.strategies import Bodies, one_voice

HOMES = sorted(target for target, codec in CODECS.items() if codec.profile.home)
# Both turns are in one message then; the repair names the later one.
_JOINS = {"ROLES_MERGED"}
# The results of the named turn are in others.
_MOVES = {"RESULTS_REORDERED", "RESULTS_MOVED_TO_CALL", "TOOLUSE_MOVED_LAST"}


def drafts_of(bodies: Bodies) -> list[Draft]:
    return [
        draft
        for body in bodies
        for draft in read_post(*loads_object(body, Limits()), Limits()).drafts
    ]


def with_members(target: str, bodies: Bodies) -> Bodies:
    """The same with members that no block has a place for, in every other message of a user."""
    written = []
    for number, body in enumerate(map(json.loads, bodies)):
        name = "messages" if "messages" in body else CODECS[target].messages
        for message in body.get(name, ()) if number % 2 else ():
            content = message.get("content")
            if not content:
                continue
            if message.get("role") == "user" and target in ("openai", "openrouter", "kimi"):
                message["name"] = f"user{number}"
            elif target == "anthropic" and isinstance(content, list) and content:
                content[-1]["cache_control"] = {"type": "ephemeral"}
        written.append(json.dumps(body))
    return tuple(written)


def touched(history: History, render: Render, target: str) -> set[str]:
    """The ids of the turns that may differ."""
    turns = [turn for turn in history.remembered.turns if turn.speaker != "note"]
    named = {repair.turn_id for repair in render.repairs if repair.turn_id}
    for repair in render.repairs:
        places = [n for n, turn in enumerate(turns) if turn.turn_id == repair.turn_id]
        for place in places:
            if repair.code in _JOINS and place:
                # Turns between that say nothing are named themselves.
                before = place - 1
                while before and turns[before].turn_id in named:
                    before -= 1
                named.add(turns[before].turn_id)
                named.add(turns[place - 1].turn_id)
            if repair.code in _MOVES:
                named |= {turn.turn_id for turn in turns[place:] if turn.speaker == "tool"}
    if CODECS[target].profile.system == "beside":
        for turn in turns:
            if turn.speaker != "system":
                break
            named.add(turn.turn_id)
    return named


def missing(shown: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
    """The messages that are not shown, in their order; ids of calls may differ."""
    place, lost, renamed = 0, [], dict[str, str]()
    for message in wanted:
        for at in range(place, len(shown)):
            trial = dict(renamed)
            if not list(differences(message, shown[at], trial)):
                place, renamed = at + 1, trial
                break
        else:
            lost.append(message)
    return lost


@tried(300)
@given(st.sampled_from(HOMES).flatmap(lambda home: st.tuples(st.just(home), one_voice(home))))
def test_a_turn_that_no_repair_names_comes_home_as_it_was_posted(
    story: tuple[str, Bodies],
) -> None:
    target, bodies = story[0], with_members(*story)
    history = posted(*bodies)
    render = history.render(target)
    may_differ, types = touched(history, render, target), input_types(target)
    wanted = []
    for turn, draft in zip(history.remembered.turns, drafts_of(bodies), strict=True):
        if turn.turn_id in may_differ or turn.speaker == "note":
            continue
        for _, message in draft.messages:
            value = accepted(types, "message", message) if types else message
            wanted.append(json.loads(json.dumps(value)))
    assert missing(render.request[CODECS[target].messages], wanted) == []
