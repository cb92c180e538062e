"""`turnkeep audit`: every call under all its names."""

import argparse
import csv
import sys
from functools import partial

from ..ledger.records import CALL_COLUMNS, CALL_STATES
from ..model.telling import cell
from .asking import Told, add_asking, all_of, asking, conversation_id
from .find import by_provider
from .json_io import json_line
from .looks import Cell, Look, add_looks, state_cell, value_text
from .text import complain, printable

_HEADINGS = ("TURN", "CALL", "TOOL", "STATE", "RESULT", "MATCHED BY", "RAW ID", "CANONICAL ID")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "audit",
        description="Lists the tool calls of a conversation: raw id, canonical id, the id that each"
        " provider is shown, turn, place, state, and how the result was matched.",
        epilog="Exit status: 0 done; 1 there is no such conversation; 2 a wrong flag or setting, or"
        " nobody to ask. With --json a line for each call.",
    )
    parser.add_argument("conversation", metavar="CONVERSATION", type=conversation_id)
    parser.add_argument("--state", choices=CALL_STATES, help="only calls in this state")
    parser.add_argument("--csv", action="store_true", help="a table for other programs")
    add_looks(parser)
    add_asking(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    with asking(args) as ask:
        page = partial(ask.tool_calls, args.conversation)
        calls = all_of(page, order="asc", state=args.state)
        if args.json:
            for call in calls:
                print(json_line(call))
            return 0
        found = list(calls)
    if args.csv:
        _write_csv(found)
    elif found:
        _print(found, Look(args))
    else:
        complain("there is no such call")
    return 0


def _write_csv(calls: list[Told]) -> None:
    targets = list(dict.fromkeys(target for call in calls for target in call["ids"]))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([*CALL_COLUMNS, *targets])
    for call in calls:
        result = call["result"] or {}
        known = {
            **call,
            "canonical_id": call["id"],
            "matched_by": result.get("matched_by"),
            "result_turn_id": result.get("turn_id"),
            **call["ids"],
        }
        row = [known.get(name) for name in (*CALL_COLUMNS, *targets)]
        out.writerow([cell(printable(one)) if isinstance(one, str) else one for one in row])


def _print(calls: list[Told], look: Look) -> None:
    heading, *lines = look.table(_HEADINGS, [_row(call) for call in calls])
    print(heading)
    for line, call in zip(lines, calls, strict=True):
        print(line)
        for one, providers in by_provider(call).items():
            print(f"{look.paint(f'      {providers}:', 'dim')} {printable(one)}")


def _row(call: Told) -> list[Cell]:
    result = call["result"]
    return [
        Cell(f"{call['seq']:>4}"),
        Cell(f"{call['call_index']:>4}"),
        Cell(call["name"], "bold"),
        state_cell(call["state"]),
        Cell(f"turn {result['seq']}" if result else "-"),
        Cell(result["matched_by"] if result else "-"),
        Cell(value_text(call["raw_id"])),
        Cell(call["id"], "cyan"),
    ]
