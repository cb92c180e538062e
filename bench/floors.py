"""The floors: what nobody can be faster than who uses the same FastAPI stack or the same database.

`python -m bench.floors PORT` serves the routes of Turnkeep without any work: a POST is read and
answered with 201 and a receipt that is always the same, a GET with bytes from memory. The bytes
are those of the files that `FLOOR_RECEIPT` and `FLOOR_REPLAY` name.
"""

import os
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import psycopg
import uvicorn
from fastapi import FastAPI, Request, Response

from bench.turns import SIZE

JSON = "application/json"


def application() -> FastAPI:
    receipt = Path(os.environ["FLOOR_RECEIPT"]).read_bytes()
    replay = Path(os.environ["FLOOR_REPLAY"]).read_bytes()
    app = FastAPI()

    @app.get("/readyz")
    async def ready() -> Response:
        return Response(b"{}", media_type=JSON)

    @app.post("/v1/conversations/{cid}/turns", status_code=201)
    async def append(cid: str, request: Request) -> Response:
        await request.body()
        return Response(receipt, 201, media_type=JSON)

    @app.get("/v1/conversations/{cid}/replay")
    async def replayed(cid: str) -> Response:
        return Response(replay, media_type=JSON)

    return app


def commit_ms(url: str, seconds: float) -> float:
    """The median of single commits of a row of 4 KB, one after the other, all synced."""
    times = _sqlite_commits(url, seconds) if url.startswith("sqlite") else _commits(url, seconds)
    return median(times) * 1000


def _sqlite_commits(url: str, seconds: float) -> list[float]:
    file = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    try:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = FULL")
        file.execute("CREATE TABLE IF NOT EXISTS floor (id INTEGER PRIMARY KEY, data BLOB)")

        def once() -> None:
            file.execute("BEGIN IMMEDIATE")
            file.execute("INSERT INTO floor (data) VALUES (?)", [os.urandom(SIZE)])
            file.execute("COMMIT")

        return _times(once, seconds)
    finally:
        file.close()


def _commits(url: str, seconds: float) -> list[float]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS floor (id BIGSERIAL PRIMARY KEY, data BYTEA)"
        )

        def once() -> None:
            connection.execute("INSERT INTO floor (data) VALUES (%s)", [os.urandom(SIZE)])

        return _times(once, seconds)


def _times(once: Callable[[], None], seconds: float) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begun = time.perf_counter()
        once()
        times.append(time.perf_counter() - begun)
    return times


if __name__ == "__main__":
    # As `turnkeep serve` does: the loop and the HTTP parser that uvicorn finds.
    uvicorn.run(application(), port=int(sys.argv[1]), log_level="warning")
