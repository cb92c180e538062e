"""The same codecs without storage: messages, tools, tool ids."""

from typing import Literal, TypeAlias, get_args

from ..formats.registry import CODECS
from ..formats.shared.members import check_members, ignored_settings, member, route_of
from ..jsontext.reading import loads
from ..model import ids, telling
from ..model.definitions import Note
from ..model.errors import RuleBroken
from ..model.json_values import Json, JsonObject, Texts
from ..model.limits import UNLIMITED, Limits
from ..replay.options import REASONINGS, ReplayOptions
from ..replay.rendering import demand_request, render, with_model
from ..replay.unstored import remember
from ..tools.commands import NO_OFFER, offer, only_described, refuse_dropped, riding_order
from ..tools.fit import Required
from ..tools.toolreading import demand_tools, read_tool_set
from ..turns.posting import read_post
from ..turns.receipts import post_notes

IdForm: TypeAlias = Literal["openai", "history", "anthropic"]
_TOOLS = ("from", "to", "tools", "tool_choice", "parallel_tool_calls")
_TOOL_OPTIONS = ("required", "description", "strict")


def convert_messages(members: JsonObject, texts: Texts, limits: Limits) -> JsonObject:
    """`/convert/messages`: a request of one wire as a request of another."""
    source, target = route_of(members)
    given = dict(members)
    # Requests have an object under the name of our option: `{"effort": "high"}`.
    is_setting = isinstance(given.get("reasoning"), dict)
    reasoning = "auto" if is_setting else given.pop("reasoning", "auto")
    if reasoning not in REASONINGS:
        wrong = telling.one_of("reasoning", reasoning, REASONINGS)
        raise RuleBroken(wrong, pointer="/reasoning")
    ready = given.pop("ready", False)
    if not isinstance(ready, bool):
        raise RuleBroken(telling.wrong_type("ready", "true or false", ready), pointer="/ready")
    del given["from"], given["to"]
    given["provider"] = source
    post = read_post(given, texts, limits)
    told = remember(post.drafts, "convert")
    riding = riding_order(given, limits)
    model = member(members, "model", str)
    options = ReplayOptions(target, model=model, reasoning=reasoning, ready=ready)
    demand_request(options, "/ready")
    offered = offer(riding.offered.tools, target) if riding else NO_OFFER
    done = render(told.loaded(target), with_model(options, told.turns), offered)
    model_of: JsonObject = {"model": done.model} if done.model else {}
    return model_of | {
        "request": loads(b"".join(done.request()).decode(), UNLIMITED),
        "repairs": [repair.json() for repair in done.repairs],
        "notes": list(post_notes(post.notes, post.drafts, told.turns)),
    }


def convert_tools(members: JsonObject, limits: Limits) -> JsonObject:
    """`/convert/tools`: definitions from one wire to another."""
    source, target = route_of(members)
    known = (*_TOOLS, *_TOOL_OPTIONS, *CODECS[source].tools.members)
    check_members(members, known, CODECS[source].settings)
    demand_tools(members, source)
    required = _one_of(members, "required", get_args(Required))
    description = _one_of(members, "description", get_args(Required))
    read = read_tool_set(source, members, limits)
    given = read if description == "keep" else only_described(read)
    offered = offer(given, target, required)  # type: ignore[arg-type]
    refuse_dropped(offered, members)
    tools, choice = CODECS[target].tools.apart(offered.request)
    settings = ignored_settings(members, source, known)
    ignored = (Note(one.code, one.detail).json() for one in settings)
    return {
        "tools": tools,
        "tool_choice": choice,
        "request": offered.request,
        "dropped": offered.dropped_json(),
        "notes": [*offered.notes_json(), *ignored],
    }


def _one_of(members: JsonObject, name: str, allowed: tuple[str, ...]) -> Json:
    """A member that is one of a few words, or left out."""
    value = members.get(name)
    if value is not None and value not in allowed:
        raise RuleBroken(telling.one_of(name, value, allowed), pointer=f"/{name}")
    return value


def convert_tool_id(members: JsonObject) -> JsonObject:
    """`/convert/tool-id`: the prefix functions, which need no history."""
    check_members(members, ("id", "to"))
    given, target = member(members, "id", str), members.get("to")
    if given is None:
        raise RuleBroken(telling.missing("id", "a string"), pointer="/id")
    known = list(ids.SWAPPED)
    if target is None:
        wrong = telling.missing("to", telling.either(known))
        raise RuleBroken(wrong, pointer="/to", known=known)
    if not isinstance(target, str) or target not in ids.SWAPPED:
        raise RuleBroken(telling.one_of("to", target, known), pointer="/to", known=known)
    return {"id": ids.swapped(given, ids.SWAPPED[target])}
