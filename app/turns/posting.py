"""From the members of a posted body to drafts: which codec reads it, and whether the rules hold."""

from collections.abc import Sequence
from dataclasses import replace

from ..formats.registry import CODECS
from ..formats.shared.codec import Codec
from ..formats.shared.members import (
    check_members,
    check_provider,
    ignored_settings,
    member,
    wire_of,
)
from ..formats.shared.responses import Reply
from ..jsontext.twice import check_once
from ..jsontext.writing import dumps
from ..model import telling
from ..model.conversation import Draft, Remark, Thinking, ToolCall, ToolResult
from ..model.errors import LimitExceeded, RuleBroken
from ..model.forms import TURN_ID
from ..model.json_values import Json, JsonObject, Texts
from ..model.large import Bytes
from ..model.limits import Limits
from ..model.value import dataclass
from .originals import original_of
from .responses import read_response, whole_response_at

_ENVELOPE = ("provider", "format", "model", "turn_id", "turn_ids", "metadata", "response")


@dataclass(frozen=True, slots=True)
class Post:
    """What is to be appended: every draft has its provider, format, model and metadata.

    `notes` are on the body as a whole, those on a turn stand in its draft.
    """

    drafts: tuple[Draft, ...]
    notes: tuple[Remark, ...] = ()


def read_post(members: JsonObject, texts: Texts, limits: Limits, *, synced: bool = False) -> Post:
    """Raises `RuleBroken` with a pointer for whatever does not hold.

    `synced`: the turns are a whole list, of which a part will be stored.
    """
    provider, wire = wire_of(members)
    codec = CODECS[wire]
    known = (*_ENVELOPE, *codec.keys, *codec.tools.members)
    check_members(members, known, codec.settings)
    # What is not kept as it was posted.
    check_once(members, texts, ("metadata", *codec.tools.members))
    _check_one_of(members, codec)
    if members.get("response") is not None:
        drafts = [read_response(wire, members["response"], texts["response"])]
    else:
        try:
            drafts = codec.parse(members, texts)
        except RuleBroken as error:
            raise (_misplaced(members, error.pointer or "") or error) from None
    check_numbers(drafts, limits, f"/{codec.messages}", synced=synced)
    completed = _completed(drafts, provider, wire, members, limits)
    return Post(tuple(completed), ignored_settings(members, wire, known))


def check_numbers(
    drafts: Sequence[Draft], limits: Limits, pointer: str, *, synced: bool = False
) -> None:
    """Of turns, calls and results. Those of a synced list have bounds of their own: it may be as
    long as its conversation."""
    if not synced and len(drafts) > limits.turns:
        raise LimitExceeded("turns", limits.turns, len(drafts), pointer=pointer)
    calls = sum(map(calls_in, drafts))
    limit, most = ("synced_calls", limits.synced_calls) if synced else ("calls", limits.calls)
    if calls > most:
        raise LimitExceeded(limit, most, calls, pointer=pointer)


def calls_in(draft: Draft) -> int:
    """Tool calls and results together."""
    return sum(isinstance(one, ToolCall | ToolResult) for one in draft.blocks)


def read_stream(
    query: JsonObject, reply: Reply, payload: Bytes, *, whole: bool, limits: Limits
) -> Draft:
    """A turn that arrived as a stream. `query` holds what stands beside messages otherwise."""
    provider, wire = wire_of(query)
    draft = replace(reply.draft(), stream=payload, status="complete" if whole else "interrupted")
    (completed,) = _completed([draft], provider, wire, query, limits)
    return completed


def _check_one_of(members: JsonObject, codec: Codec) -> None:
    """A response that is null says nothing; SDKs write it so."""
    given = ["response"] if members.get("response") is not None else []
    given += [key for key in dict.fromkeys(("messages", codec.messages)) if key in members]
    if not given:
        what = "`messages` or `response`" if codec.replies else "`messages`"
        where = "/response" if "response" in members else "/messages"
        raise RuleBroken(f"{what} is required.", pointer=where)
    if len(given) > 1:
        names = " and ".join(f"`{key}`" for key in given)
        told = f"{names} must not stand in one request; give one of them."
        raise RuleBroken(told, pointer=f"/{given[-1]}")


def _misplaced(members: JsonObject, pointer: str) -> RuleBroken | None:
    """For a message that could not be read: whether it is something that belongs elsewhere."""
    _, key, place, *_ = [*pointer.split("/"), "", ""]
    messages = members.get(key)
    if not isinstance(messages, list) or not place.isdecimal() or int(place) >= len(messages):
        return None
    return whole_response_at(f"/{key}/{place}", messages[int(place)])


def _completed(
    drafts: list[Draft], provider: str, wire: str, members: JsonObject, limits: Limits
) -> list[Draft]:
    metadata: JsonObject = member(members, "metadata", dict) or {}
    model = member(members, "model", str)
    _check_bytes("metadata_bytes", dumps(metadata), "/metadata", limits)
    _check_bytes("model_bytes", model, "/model", limits)
    if "response" in metadata and any(draft.facts is not None for draft in drafts):
        raise RuleBroken(
            "`metadata.response` must not be given: it is filled from the response itself.",
            pointer="/metadata/response",
        )
    completed = []
    for draft, turn_id in zip(drafts, _turn_ids(drafts, members), strict=True):
        at = draft.pointer
        _check(draft, at, limits)
        if draft.provider:
            check_provider(draft.provider, f"{at}/provider")
        # Of a response, the name under which it was asked for.
        asked = model if draft.model is None or draft.facts is not None else None
        completed.append(
            replace(
                draft,
                turn_id=turn_id,
                provider=draft.provider or provider,
                model=draft.model if asked is None else asked,
                metadata={**metadata, **draft.metadata},
                format=wire,
            )
        )
    originals = [one.original or original_of(one) for one in completed]
    return [
        replace(one, messages=(), original=original)
        for one, original in zip(completed, originals, strict=True)
    ]


def _check(draft: Draft, at: str, limits: Limits) -> None:
    _check_bytes("model_bytes", draft.model, f"{at}/model", limits)
    if len(draft.blocks) > limits.blocks:
        raise LimitExceeded("blocks", limits.blocks, len(draft.blocks), pointer=at)
    for block in draft.blocks:
        if isinstance(block, ToolCall) and draft.speaker != "ai":
            told = f"A tool call must be made by the speaker ai, not by {draft.speaker}."
            raise RuleBroken(told, pointer=at)
        if isinstance(block, ToolResult) and draft.speaker in ("system", "note"):
            told = f"The speaker {draft.speaker} must not give results of tools."
            raise RuleBroken(told, pointer=at)
        if isinstance(block, Thinking) and draft.speaker == "note":
            raise RuleBroken("The speaker note must not have thinking blocks.", pointer=at)
        if isinstance(block, ToolCall | ToolResult):
            _check_bytes("raw_id_bytes", block.raw_id, at, limits)


def _check_bytes(limit: str, text: str | None, pointer: str, limits: Limits) -> None:
    size = len((text or "").encode("utf-8", "surrogatepass"))
    if size > (most := getattr(limits, limit)):
        raise LimitExceeded(limit, most, size, pointer=pointer)


def _turn_ids(drafts: list[Draft], members: JsonObject) -> list[str | None]:
    """The ids that the caller gives to turns: `turn_id` for one, `turn_ids` for each, or in the
    turn. Each is well-formed and used once; None: not given."""
    each = members.get("turn_ids")
    if members.get("turn_id") is not None and each is not None:
        told = "`turn_id` and `turn_ids` are two ways to say it; give one."
        raise RuleBroken(told, pointer="/turn_ids")
    if (one := member(members, "turn_id", str)) is not None:
        _check_for_one(drafts, one)
        return [one]
    given = [None] * len(drafts) if each is None else _for_each(drafts, each)
    seen: set[str] = set()
    ids = []
    for place, (draft, listed) in enumerate(zip(drafts, given, strict=True)):
        turn_id = draft.turn_id if listed is None else listed
        at = f"{draft.pointer}/turn_id" if listed is None else f"/turn_ids/{place}"
        if turn_id is not None:
            _check_form(turn_id, at)
            if turn_id in seen:
                told = "A turn id must stand on one turn; this one stands on two."
                raise RuleBroken(told, pointer=at)
            seen.add(turn_id)
        ids.append(turn_id)
    return ids


def _check_for_one(drafts: list[Draft], turn_id: str) -> None:
    turns = len(drafts)
    if turns != 1:
        told = f"`turn_id` must come with one turn, not with {turns}; `turn_ids` names each."
        raise RuleBroken(told, pointer="/turn_id", turns=turns)
    _check_form(turn_id, "/turn_id")


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
