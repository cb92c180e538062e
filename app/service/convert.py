"""The same codecs without storage: messages, tool ids."""

from collections.abc import Mapping

from app.codecs import CODECS, TARGETS
from app.core import ids
from app.core.errors import RuleBroken, UnknownTarget
from app.core.jsontext import JsonObject
from app.core.limits import Limits
from app.service.memory import remember
from app.service.posting import read_post, unknown_source
from app.service.rendering import Wanted, render
from app.service.tooldefs import riding_order

_IDS = {"openai": ids.to_openai, "history": ids.to_history, "anthropic": ids.to_anthropic}


def convert_messages(
    members: JsonObject, texts: Mapping[str, list[str]], limits: Limits
) -> JsonObject:
    """`/convert/messages`: a request of one wire as a request of another."""
    source, target = members.get("from"), members.get("to")
    if not isinstance(source, str) or source not in CODECS:
        raise unknown_source(source)
    if not isinstance(target, str) or target not in TARGETS:
        raise UnknownTarget(str(target), list(TARGETS))
    post: JsonObject = {
        key: value for key, value in members.items() if key not in ("from", "to", "reasoning")
    }
    reasoning = members.get("reasoning", "auto")
    if reasoning not in ("auto", "text", "drop"):
        raise RuleBroken("reasoning is auto, text or drop.", pointer="/reasoning")
    post["provider"] = source
    told = remember(read_post(post, texts, limits).drafts, "convert")
    riding = riding_order(post, limits)
    model = members.get("model")
    wanted = Wanted(
        "convert",
        target,
        model=model if isinstance(model, str) else None,
        reasoning=reasoning,  # type: ignore[arg-type]
    )
    tools = riding.tools if riding else None
    done = render(told.turns, told.links(), told.assigned(target), wanted, tools)
    return {"request": done.request, "repairs": [repair.json() for repair in done.repairs]}


def convert_tool_id(members: JsonObject) -> JsonObject:
    """`/convert/tool-id`: the prefix functions, which need no history."""
    given, target = members.get("id"), members.get("to")
    if not isinstance(given, str):
        raise RuleBroken("id is a text.", pointer="/id")
    if not isinstance(target, str) or target not in _IDS:
        known = list(_IDS)
        raise RuleBroken(f"to is one of {', '.join(known)}.", pointer="/to", known=known)
    return {"id": _IDS[target](given)}
