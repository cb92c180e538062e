"""A history for one wire: pairing, window, showing and arranging in one call."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.core.conversation import ToolResult, Turn
from app.core.json.text import Json, JsonObject
from app.core.neutral.blocks import block_json, result_json
from app.core.render import messages as arranging
from app.core.render import window as windows
from app.core.render.flatten import flattened
from app.core.render.notes import spoken, with_notes
from app.core.render.options import ReplayOptions
from app.core.render.pairing import Links, steps
from app.core.render.pending import pending
from app.core.render.profile import Profile
from app.core.render.repairs import Repair
from app.core.render.view import View


def view_of(
    turns: Sequence[Turn],
    links: Links,
    profile: Profile,
    options: ReplayOptions,
    provider_ids: Mapping[str, str],
    *,
    has_tools: bool,
) -> View:
    """`provider_ids`: what each call is named on the wire, by its canonical id."""
    said = spoken(turns)
    kept = steps(said, links)
    if options.last is not None:
        kept = windows.last_turns(kept, [turn.seq for turn in said], options.last)
    if options.max_tokens is not None:
        kept = windows.within_tokens(kept, options.max_tokens)
    waiting = pending(kept, profile, provider_ids, flat=options.is_flat)
    if not profile.verbatim:
        plain = flattened(kept) if options.is_flat else kept
        view = arranging.view(plain, profile, options, provider_ids, has_tools=has_tools)
        return replace(view, pending=waiting)
    seqs = with_notes(turns, set().union(*(step.seqs for step in kept)))
    unreadable = [
        Repair("TURN_QUARANTINED", "the stored turn cannot be read", turn.turn_id)
        for turn in turns
        if turn.blocks is None and turn.seq in seqs
    ]
    shown = (
        turn_json(turn, links) for turn in turns if turn.seq in seqs and turn.blocks is not None
    )
    return View(turns=tuple(shown), repairs=tuple(unreadable), pending=waiting)


def turn_json(turn: Turn, links: Links) -> JsonObject:
    """A stored turn in the neutral form; results name the canonical id of their call."""
    shown: JsonObject = {"turn_id": turn.turn_id, "speaker": turn.speaker}
    shown["provider"] = turn.provider
    if turn.model is not None:
        shown["model"] = turn.model
    blocks: list[Json] = []
    for place, block in enumerate(turn.blocks or ()):
        if isinstance(block, ToolResult):
            link = links.get((turn.seq, place))
            call_id = link.call_id if link else block.call_id
            blocks.append(result_json(block, call_id, exported=True))
        else:
            blocks.append(block_json(block))
    shown["blocks"] = blocks
    if turn.status != "complete":
        shown["status"] = turn.status
    if turn.metadata:
        shown["metadata"] = turn.metadata
    return shown
