"""No room to write: what is refused is told, nothing of it is stored, and all goes on afterwards.

The limit on the size of a process's files stands for a full disk: the operating system refuses
whatever would be written beyond it.
"""

import random
import resource
from pathlib import Path

import httpx

from tests.e2e.server import serving
from tests.http_api import user

TURNS = "/v1/conversations/c1/turns"


def body(text: str) -> dict[str, object]:
    return {"provider": "openai", "messages": [user(text)]}


def test_a_full_disk_is_told_and_nothing_of_it_is_stored(tmp_path: Path) -> None:
    # It cannot be packed.
    large = body(random.Random(1).randbytes(2_000_000).hex())
    key = {"Idempotency-Key": "k"}
    with serving(tmp_path) as server, httpx.Client(base_url=server.url, timeout=60) as http:
        for text in "abc":
            assert http.post(TURNS, json=body(text)).status_code == 201
        before = http.get(TURNS).json()
        files = [tmp_path / "turnkeep.db", tmp_path / "turnkeep.db-wal"]
        room = max(file.stat().st_size for file in files) + 100_000
        _, most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (room, most))
        for _ in range(3):
            refused = http.post(TURNS, json=large, headers=key)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert http.get(TURNS).json() == before
        assert http.get("/v1/conversations/c1/verify").json()["ok"]
        # What still fits is stored.
        assert http.post(TURNS, json=body("d")).status_code == 201
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (most, most))
        assert http.post(TURNS, json=large, headers=key).json()["version"] == 5
        assert http.post(TURNS, json=large, headers=key).status_code == 200
        assert http.get("/readyz").status_code == 200
        assert http.get("/v1/conversations/c1/verify").json()["ok"]
