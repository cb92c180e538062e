"""The ids that a caller gives to turns: `turn_id` for one, `turn_ids` for each, or in the turn."""

from dataclasses import replace

from app.core import telling
from app.core.conversation import Draft
from app.core.errors import RuleBroken
from app.core.identity.forms import TURN_ID
from app.core.json.text import Json, JsonObject


def with_turn_ids(drafts: list[Draft], members: JsonObject) -> list[Draft]:
    """The drafts under the ids they are given, each well-formed and used once; None: not given."""
    one, each = members.get("turn_id"), members.get("turn_ids")
    if one is not None and each is not None:
        raise RuleBroken(
            "`turn_id` and `turn_ids` are two ways to say it; give one.", pointer="/turn_ids"
        )
    if one is not None:
        return [_for_one(drafts, one)]
    given = [None] * len(drafts) if each is None else _for_each(drafts, each)
    seen: set[str] = set()
    named = []
    for place, (draft, listed) in enumerate(zip(drafts, given, strict=True)):
        turn_id = draft.turn_id if listed is None else listed
        at = f"{draft.pointer}/turn_id" if listed is None else f"/turn_ids/{place}"
        if turn_id is not None:
            _check_form(turn_id, at)
            if turn_id in seen:
                raise RuleBroken(
                    "A turn id must stand on one turn; this one stands on two.", pointer=at
                )
            seen.add(turn_id)
        named.append(replace(draft, turn_id=turn_id))
    return named


def _for_one(drafts: list[Draft], turn_id: Json) -> Draft:
    if not isinstance(turn_id, str):
        raise RuleBroken(telling.wrong_type("turn_id", "a string", turn_id), pointer="/turn_id")
    if len(drafts) != 1:
        raise RuleBroken(
            f"`turn_id` must come with one turn, not with {len(drafts)}; `turn_ids` names each.",
            pointer="/turn_id",
            turns=len(drafts),
        )
    _check_form(turn_id, "/turn_id")
    return replace(drafts[0], turn_id=turn_id)


def _for_each(drafts: list[Draft], listed: Json) -> list[str | None]:
    """`turn_ids` as given. It counts turns: a format may join messages, or add a system turn."""
    if not isinstance(listed, list):
        raise RuleBroken(telling.wrong_type("turn_ids", "a list", listed), pointer="/turn_ids")
    ids: list[str | None] = []
    for place, value in enumerate(listed):
        if value is not None and not isinstance(value, str):
            said = f"An entry of `turn_ids` must be a string or null, not {telling.kind(value)}."
            raise RuleBroken(said, pointer=f"/turn_ids/{place}")
        ids.append(value)
    if len(ids) != len(drafts):
        raise RuleBroken(
            "`turn_ids` must have one entry for each turn, an id or null."
            f" Turns of this body: {len(drafts)}; entries: {len(ids)}.",
            pointer="/turn_ids",
            turns=len(drafts),
        )
    for place, (draft, turn_id) in enumerate(zip(drafts, ids, strict=True)):
        if turn_id is not None and draft.turn_id not in (None, turn_id):
            raise RuleBroken("The turn itself has another `turn_id`.", pointer=f"/turn_ids/{place}")
    return ids


def _check_form(turn_id: str, at: str) -> None:
    if not TURN_ID.fits(turn_id):
        raise RuleBroken(TURN_ID.complaint(turn_id), pointer=at)
