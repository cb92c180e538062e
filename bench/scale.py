"""What grows with the store: a long conversation and a tenant with many calls, and small ones.

`python -m bench.scale --turns 100000 --calls 1000000`. Each ratio is the median of one operation in
the large store over the same in a small one; 1.0 is flat. On SQLite, in process.

The writer remembers short conversations and asks the database about long ones. So that this is not
taken for growth, appends are measured with a writer that remembers nothing as well.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeAlias

from app.audit import queries as audit
from app.audit.lookup import lookup
from app.conversations import queries as finding
from app.database.database import Database
from app.database.migrations import upgrade
from app.jsontext.reading import loads_object
from app.model.limits import Limits
from app.replay.kept import Renders
from app.replay.options import ReplayOptions
from app.replay.queries import replay
from app.turns import queries as turns
from app.turns.commands import Append
from app.turns.posting import read_post
from app.turns.turnform import made_ready

Work: TypeAlias = Callable[[], object]
_BATCH = 1_000
_TIMES = 41
_SMALL = 10
# Turns of each of the other conversations of the large tenant, half of which make two calls.
_OTHERS = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale")
    parser.add_argument("--turns", type=int, default=20_000, help="of the long conversation")
    parser.add_argument("--calls", type=int, default=100_000, help="of the whole tenant")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        # As many as a list shows.
        small = _filled(stack, Path(folder) / "small.db", _SMALL, [_SMALL] * (_SMALL - 1))
        others = [_OTHERS] * (max(0, args.calls - args.turns) // _OTHERS)
        large = _filled(stack, Path(folder) / "large.db", args.turns, others)
        print(f"a conversation of {args.turns} turns, a tenant of {args.calls} calls")
        for name in large:
            ours, theirs = _medians(small[name], large[name])
            ratio = theirs / ours
            print(f"{name:24} {ours * 1000:7.2f} ms  {theirs * 1000:7.2f} ms  {ratio:5.2f}")


def _filled(stack: ExitStack, file: Path, length: int, others: Sequence[int]) -> Mapping[str, Work]:
    """What can be done in a store of a conversation with so many turns, and of others."""
    url = f"sqlite:///{file}"
    upgrade(url)
    database = stack.enter_context(Database(url, search=False))
    _fill(database, "long", length)
    for number, turns_each in enumerate(others):
        _fill(database, f"other-{number}", turns_each)
        if sys.stderr.isatty():
            print(f"\r{number} of {len(others)}", end="", file=sys.stderr)
    forgetful = stack.enter_context(Database(url, search=False, memory=0))
    return _operations(database, forgetful, length)


def _operations(database: Database, forgetful: Database, length: int) -> Mapping[str, Work]:
    """`forgetful`: the same store through a writer that remembers no conversation."""
    read, numbers = database.read_now, count(length, 2)
    last = f"call_long_{length // 2 * 2 - 2}_0"
    last_turns = ReplayOptions("anthropic", last=4)
    newest = turns.Page(limit=10, newest_first=True)
    return {
        "append": lambda: _append(database, "long", next(numbers), 2),
        "append, not remembered": lambda: _append(forgetful, "long", next(numbers), 2),
        "replay last=4": lambda: read(lambda store: replay(store, "long", last_turns, Renders())),
        "lookup of a raw id": lambda: read(partial(lookup, any_id=last)),
        "list of conversations": lambda: read(
            partial(finding.listed, wish=finding.Asked(order="updated", limit=10))
        ),
        "newest turns": lambda: read(lambda store: turns.listed(store, "long", newest, raw=False)),
        "newest tool calls": lambda: read(
            lambda store: audit.tool_calls(store, "long", audit.Page(10))
        ),
    }


def _fill(database: Database, cid: str, length: int) -> None:
    for first in range(0, length, _BATCH):
        _append(database, cid, first, min(_BATCH, length - first))


def _append(database: Database, cid: str, first: int, count: int) -> None:
    body = {"provider": "openai", "messages": list(_messages(cid, first, count))}
    post = read_post(*loads_object(json.dumps(body), Limits()), Limits())
    database.write_now(Append(cid, made_ready(post.drafts)))


def _messages(cid: str, first: int, count: int) -> list[dict[str, object]]:
    """Turns in pairs: two calls, then what the first of them gave."""
    made: list[dict[str, object]] = []
    for number in range(first, first + count, 2):
        names = [f"call_{cid}_{number}_{index}" for index in range(2)]
        calls = [
            {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}
            for name in names
        ]
        made.append({"role": "assistant", "content": "so", "tool_calls": calls})
        made.append({"role": "tool", "tool_call_id": names[0], "content": "done"})
    return made[:count]


def _medians(*works: Work) -> list[float]:
    """In turns, so that whatever else the machine does hits all alike."""
    spent: list[list[float]] = [[] for _ in works]
    for _ in range(_TIMES):
        for work, seconds in zip(works, spent, strict=True):
            begun = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - begun)
    return [statistics.median(one) for one in spent]


if __name__ == "__main__":
    main()
