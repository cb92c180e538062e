"""`python -m tests.crash.retries`: every post is sent one to five times, by several processes.

A fifth of the copies hang up before they have read the response. At the end, after a restart of the
server, each post is sent once more, and some with another body. Each must be stored once, and every
copy that got a response must have got the same one.
"""

import argparse
import json
import multiprocessing
import random
import secrets
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor

from tests.crash.checker import damages, faults, stored, summary
from tests.crash.copies import PROCESSES, Copy, Got, copies, send
from tests.crash.run import say, served
from tests.crash.victims import Service

POSTS = 10_000
# One in so many is sent with another body at the end.
CHANGED = 10


def differences(got: Iterable[Got]) -> list[str]:
    """What is wrong with the responses: all of a post are one receipt, told as new at most once."""
    said, of_post = [], defaultdict[int, list[Got]](list)
    for one in got:
        if one.copy.changed:
            if one.status != 422 or "idempotency_key_reused" not in one.text:
                said.append(f"{one.copy.number}: another body got {one.status} {one.text}")
        elif one.status not in (None, 200, 201):
            said.append(f"{one.copy.number}: {one.status} {one.text}")
        elif one.status is not None:
            of_post[one.copy.number].append(one)
    for number, all_of_it in of_post.items():
        if len({one.text for one in all_of_it}) > 1:
            said.append(f"{number}: got several receipts")
        if [one.status for one in all_of_it].count(201) > 1:
            said.append(f"{number}: was told twice that it is new")
    return said


def tried(service: Service, count: int, chance: random.Random) -> tuple[list[str], str]:
    """What is wrong, and a line that says what was done."""
    # Not forked: a copy of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        first = _sent(pool, service, copies(count, chance))
        service.restart()
        again = [Copy(number) for number in range(count)]
        last = _sent(pool, service, [again[n::PROCESSES] for n in range(PROCESSES)])
        # Only now: none of these may be the first of its key.
        changed = [Copy(number, changed=True) for number in range(0, count, CHANGED)]
        last += _sent(pool, service, [changed])
    posts = [one.post() for one in again]
    for one in last:
        if one.status in (200, 201):
            posts[one.copy.number].receipt = json.loads(one.text)
    found = faults(posts, stored(service.database_url))
    wrong = [f"{fault.kind}: {fault.text}" for fault in found]
    wrong += [f"{post.key}: no receipt" for post in posts if post.receipt is None]
    wrong += differences([*first, *last]) + damages(service.database_url, service.folder)
    cut = sum(one.status is None for one in first)
    broken = sum(one.broken for one in (*first, *last))
    statuses = Counter(one.status for one in (*first, *last) if one.status)
    told = ", ".join(f"{n} times {status}" for status, n in sorted(statuses.items()))
    return wrong, (
        f"{count} posts, {len(first)} copies and {len(last)} after a restart, {cut} cut off,"
        f" {broken} broken: {told}; {summary(found)}; {len(wrong)} complaints"
    )


def _sent(
    pool: ProcessPoolExecutor, service: Service, shares: Sequence[Sequence[Copy]]
) -> list[Got]:
    return [one for got in pool.map(send, [service.url] * len(shares), shares) for one in got]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.retries")
    parser.add_argument("--posts", type=int, default=POSTS)
    parser.add_argument("--seed", default=secrets.token_hex(4))
    args = parser.parse_args()
    say(f"seed {args.seed}")
    red = False
    for name in ("SQLite, 2 workers", "PostgreSQL, 2 workers"):
        with served(name) as service:
            wrong, line = tried(service, args.posts, random.Random(args.seed))
        say("\n    ".join([f"{name}: {line}", *wrong[:10]]))
        red = red or bool(wrong)
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
