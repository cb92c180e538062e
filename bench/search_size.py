"""What the search costs: the size of an SQLite file and the time of an append, with and without."""

import json
import random
import tempfile
import time
from pathlib import Path

from app.cli.reindex import catch_up
from app.database.database import Database
from app.database.migrations import upgrade
from app.jsontext.reading import loads_object
from app.model.limits import Limits
from app.turns.commands import Append
from app.turns.posting import read_post
from app.turns.turnform import made_ready

CONVERSATIONS, TURNS = 100, 30


def main() -> None:
    for search in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "turnkeep.db"
            upgrade(f"sqlite:///{file}")
            begun = time.process_time()
            posted = _fill(f"sqlite:///{file}", search=search)
            spent = (time.process_time() - begun) / (CONVERSATIONS * TURNS) * 1000
            size = file.stat().st_size / 1e6
            print(
                f"search {'on ' if search else 'off'}: {posted / 1e6:.1f} MB posted,"
                f" {size:.1f} MB on disk, {spent:.2f} ms of processor time a turn"
            )


def _fill(url: str, *, search: bool) -> int:
    chance = random.Random(1)
    words = [_word(chance) for _ in range(20_000)]
    # A few words are very common, as in any language.
    weights = [1 / (place + 1) for place in range(len(words))]
    posted = 0
    with Database(url, search=search) as database:
        for number in range(CONVERSATIONS * TURNS):
            text = " ".join(chance.choices(words, weights, k=600))
            body = json.dumps(
                {"provider": "openai", "messages": [{"role": "user", "content": text}]}
            )
            posted += len(body)
            post = read_post(*loads_object(body, Limits()), Limits())
            database.write_now(Append(f"c{number % CONVERSATIONS}", made_ready(post.drafts)))
        if search:
            catch_up(database)
    return posted


def _word(chance: random.Random) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10)))


if __name__ == "__main__":
    main()
