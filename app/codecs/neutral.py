"""The neutral form: turns as they are stored, for export, import and everything without a provider.

Nothing is repaired here: what was recorded is shown, with canonical ids, so that an export that is
posted again gives the same history.
"""

from dataclasses import replace

from app.codecs._reading import a_list, a_text, an_object, elements, maybe_text
from app.core import neutral
from app.core.conversation import (
    SPEAKERS,
    Block,
    Draft,
    File,
    Image,
    Text,
    ToolResult,
)
from app.core.errors import RuleBroken
from app.core.jsontext import JsonObject
from app.core.profile import Profile
from app.core.view import View
from app.core.wire import Posted, Prefixed
from app.core.wording import value_text

IDS = Prefixed("hist_tool_")
KEYS = ("messages", "turns")
LIST = "turns"
PROFILE = Profile(verbatim=True)


def parse(posted: Posted) -> list[Draft]:
    key = "turns" if "turns" in posted.members else "messages"
    return [_draft(members, text, at) for at, members, text in elements(posted, key)]


def render(view: View) -> JsonObject:
    return {"turns": list(view.turns)}


def _draft(members: JsonObject, text: str, at: str) -> Draft:
    speaker = a_text(members, "speaker", at)
    if speaker not in SPEAKERS:
        raise RuleBroken(
            f"The speaker {speaker!r} is unknown; known: {', '.join(SPEAKERS)}.",
            pointer=f"{at}/speaker",
        )
    if not isinstance(members.get("blocks"), list):
        raise RuleBroken("blocks is a list and has to be given.", pointer=f"{at}/blocks")
    blocks = [
        neutral.block(value, f"{at}/blocks/{place}")
        for place, value in enumerate(a_list(members, "blocks", at))
    ]
    metadata = members.get("metadata")
    return Draft(
        speaker,  # type: ignore[arg-type]
        tuple(_with_media(blocks) if speaker == "tool" else blocks),
        payload=text,
        turn_id=maybe_text(members, "turn_id", at),
        provider=maybe_text(members, "provider", at),
        model=maybe_text(members, "model", at),
        metadata={} if metadata is None else an_object(metadata, f"{at}/metadata"),
    )


def _with_media(blocks: list[Block]) -> list[Block]:
    """In a tool's turn an image or file right behind a result belongs to that result."""
    joined: list[Block] = []
    for block in blocks:
        if isinstance(block, Image | File) and joined and isinstance(joined[-1], ToolResult):
            before = joined[-1]
            parts = before.parts
            if parts is None:
                parts = (Text(value_text(before.result)),)
            joined[-1] = replace(before, result=None, parts=(*parts, block))
        else:
            joined.append(block)
    return joined
