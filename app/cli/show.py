"""`turnkeep show`: one conversation, its head and its turns; or one turn in full."""

import argparse
from collections.abc import Iterator

from .asking import Told, add_asking, all_turns, asking, conversation_id, number, one_turn
from .json_io import json_line, json_lines
from .looks import Look, add_looks, moment, value_text
from .text import printable
from .turn_text import INDENT, Timeline, calls_of, result_text, told_briefly


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "show",
        description="Shows a conversation: its head, then who said what, calls with their state and"
        " their results, wherever these came.",
        epilog="Exit status: 0 done; 1 there is no such conversation or turn; 2 a wrong flag or"
        " setting, or nobody to ask. With --json a line for the conversation, and one for each"
        " turn.",
    )
    parser.add_argument("conversation", metavar="CONVERSATION", type=conversation_id)
    parser.add_argument("--last", type=number(1), metavar="N", help="only the newest N turns")
    parser.add_argument("--turn", metavar="ID", help="one turn in full, by its id or its number")
    parser.add_argument("--raw", action="store_true", help="what was posted")
    add_looks(parser)
    add_asking(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    cid, look = args.conversation, Look(args)
    with asking(args) as ask:
        if args.turn is not None:
            for line in _one(one_turn(ask, cid, args.turn), look, args):
                print(line)
            return 0
        head = ask.conversation(cid)
        after = max(0, head["version"] - args.last) if args.last else 0
        if args.json:
            print(json_line(head))
            for turn in all_turns(ask, cid, after, raw=args.raw):
                print(json_line(turn))
            return 0
        for line in _head(head, look):
            print(line)
        timeline = Timeline(look, {} if args.raw else calls_of(ask, cid))
        for turn in all_turns(ask, cid, after, raw=args.raw):
            print()
            for line in _posted_below(turn, timeline) if args.raw else timeline.lines(turn):
                print(line)
    return 0


def _posted_below(turn: Told, timeline: Timeline) -> Iterator[str]:
    yield timeline.heading(turn)
    yield from (f"{INDENT}{line}" for line in _posted(turn))


def _posted(turn: Told) -> Iterator[str]:
    """What was posted: JSON, the lines of a stream, or bytes that are neither."""
    for name, value in turn.items():
        if name == "payload_text":
            yield from map(printable, value.split("\n"))
        elif name.startswith("payload"):
            yield from json_lines(value)


def _head(head: Told, look: Look) -> Iterator[str]:
    title = f"  {printable(head['title'])}" if head["title"] else ""
    yield f"{look.paint(head['id'], 'cyan')}{title}"
    usage = head["usage"]
    facts = [
        f"{head['version']} turns",
        f"created {moment(head['created_at'])}",
        f"updated {moment(head['updated_at'])} UTC",
        f"{usage['input_tokens']} tokens in, {usage['output_tokens']} out",
    ]
    if "expires_at" in head:
        facts.append(f"expires {moment(head['expires_at'])}")
    yield look.paint(" · ".join(facts), "dim")
    if head["metadata"]:
        yield look.paint(json_line(head["metadata"]), "dim")


def _one(turn: Told, look: Look, args: argparse.Namespace) -> Iterator[str]:
    """A turn in full. Each line of a text is harmless, and stands further in than ours."""
    if not args.raw:
        turn = {name: turn[name] for name in turn if not name.startswith("payload")}
    if args.json:
        yield json_line(turn)
        return
    if args.raw:
        yield from _posted(turn)
        return
    facts = ("seq", "turn_id", "speaker", "provider", "model", "status", "created_at", "hash")
    for name in (*facts, "usage", "metadata"):
        if name in turn:
            yield f"{look.paint(f'{name:<11}', 'bold')} {printable(value_text(turn[name]))}"
    for block in turn["blocks"]:
        yield ""
        yield look.paint(_named(block), "bold")
        yield from (f"  {printable(line)}" for line in _said(block).split("\n"))


def _named(block: Told) -> str:
    match block["type"]:
        case "tool_call":
            return f"tool_call {block['name']}  {block['id']}  raw id {value_text(block['raw_id'])}"
        case "tool_result":
            status = block.get("status", "ok")
            return f"tool_result {status}  of {value_text(block['call_id'])}"
        case "text":
            return "text"
        case kind:
            return told_briefly(kind, block)


def _said(block: Told) -> str:
    match block["type"]:
        case "text" | "thinking":
            return str(block["text"])
        case "tool_call":
            value = block["parameters"] if "parameters" in block else block.get("arguments")
            return value if isinstance(value, str) else "\n".join(json_lines(value))
        case "tool_result":
            return result_text(block)
        case "image" | "file":
            return str(block["data"])[:200]
        case _:
            return "\n".join(json_lines(block.get("native")))
