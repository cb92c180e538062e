"""`turnkeep find`: what an id is, wherever it comes from."""

import argparse
from collections.abc import Iterator

from ..model.forms import CONVERSATION_ID
from .asking import Asking, Refused, Told, add_asking, all_of, asking, number
from .json_io import json_line
from .looks import Look, add_looks, excerpt, moment, value_text
from .text import complain, printable
from .turn_text import MATCHED, given, result_text

_KINDS = {
    "canonical": "the canonical id of a tool call",
    "raw": "the raw id of a tool call, as it was posted",
    "provider_id": "the id of a tool call, as providers are shown it",
    "orphan_result": "the id of a tool result whose call was never recorded",
    "response": "the id of a response",
    "turn": "the id of a turn",
    "conversation": "the id of a conversation",
}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "find",
        description="Says what an id is: of a conversation, a turn, a response, or a tool call"
        " under any of its names; where it stands, and what became of it. The newest first.",
        epilog="Exit status: 0 found; 1 nobody knows it, or some that do cannot be read; 2 a wrong"
        " flag or setting, or nobody to ask. With --json a line for each place.",
    )
    parser.add_argument("id", metavar="ID", type=_any_id, help="any id, as it stands in a log")
    parser.add_argument(
        "--limit", type=number(1), default=10, metavar="N", help="at most so many (default 10)"
    )
    add_looks(parser)
    add_asking(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    look, damaged, count = Look(args), dict[str, None](), 0
    with asking(args) as ask:
        known = list(all_of(ask.lookup, args.limit, damaged=damaged, id=args.id))
        for found in _all(ask, args.id, known):
            lines = [json_line(found)] if args.json else _lines(args.id, found, look)
            print("\n".join([*([""] if count and not args.json else []), *lines]))
            count += 1
    for cid in damaged:
        complain(f"{cid} knows it but cannot be read; `turnkeep verify {cid}` says where")
    if not count and not damaged:
        complain(f"nobody here knows {args.id!r}; `turnkeep list --q WORDS` looks for words")
    return 0 if count and not damaged else 1


def _all(ask: Asking, any_id: str, found: list[Told]) -> Iterator[Told]:
    """A conversation of this name, then what else has it."""
    try:
        if CONVERSATION_ID.fits(any_id):
            head = ask.conversation(any_id)
            yield {"conversation_id": any_id, "kind": "conversation", **head}
    except Refused as refused:
        # A key may be for other conversations alone.
        if refused.status != 1 and refused.code != "forbidden":
            raise
    yield from found


def _lines(any_id: str, found: Told, look: Look) -> Iterator[str]:
    cid, kind = found["conversation_id"], found["kind"]
    yield f"{look.paint(any_id, 'bold')} is {_KINDS[kind]}."
    is_whole = kind == "conversation"
    where = "" if is_whole else f", turn {found['seq']} ({found['turn_id']})"
    yield _fact("conversation", f"{cid}{where}")
    match kind:
        case "conversation":
            yield _fact("turns", found["version"])
            yield _fact("updated", f"{moment(found['updated_at'])} UTC")
            yield _fact("title", " ".join(excerpt(found["title"] or "")))
        case "turn" | "response":
            yield _fact("by", _by(found))
            yield _fact("status", found["status"])
            yield _fact("stored", f"{moment(found['created_at'])} UTC")
        case "orphan_result":
            yield _fact("tool", value_text(found["name"]))
            yield _fact("says", " ".join(excerpt(result_text(found), 72)))
        case _:
            yield from _call(found, look)
    see = f"turnkeep show {cid}" + ("" if is_whole else f" --turn {found['turn_id']}")
    yield look.paint(_fact("see", see), "dim")


def _call(call: Told, look: Look) -> Iterator[str]:
    yield _fact("call", f"{call['name']} {given(call)}")
    yield _fact("made by", f"{_by(call)}, call {call['call_index']} of its turn")
    yield f"{_fact('state', '')}{look.state(call['state'])}"
    yield _fact("raw id", value_text(call["raw_id"]))
    yield _fact("canonical id", call["id"])
    for one, providers in by_provider(call).items():
        yield _fact("shown as", f"{one} to {providers}")
    if result := call["result"]:
        how = MATCHED[result["matched_by"]]
        yield _fact("result", f"in turn {result['seq']}, matched {how}: {result['status']}")
        yield _fact("says", " ".join(excerpt(result_text(result), 72)))
    if call["repeats"]:
        turns = ", ".join(str(one["seq"]) for one in call["repeats"])
        yield _fact("also", f"results in turn {turns}, which replays do not show")


def _fact(name: str, fact: object) -> str:
    return f"  {name:<13} {printable(str(fact))}"


def by_provider(call: Told) -> dict[str, str]:
    """The ids that differ from the canonical one, each with the providers that see it."""
    found: dict[str, list[str]] = {}
    for provider, one in call["ids"].items():
        if one != call["id"]:
            found.setdefault(one, []).append(provider)
    return {one: ", ".join(providers) for one, providers in found.items()}


def _by(told: Told) -> str:
    return f"{told['provider']}/{told['model']}" if told.get("model") else str(told["provider"])


def _any_id(given: str) -> str:
    if not given:
        raise argparse.ArgumentTypeError("must be an id, not an empty word")
    return given
