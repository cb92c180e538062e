import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from bench import load as loading
from bench.load import LoadFailed, Requests, load
from bench.servers import Server, program
from bench.turns import MARK, SIZE, Texts, body, call_turn, encoded, history, marked_bodies

POSTS = Requests("POST", f"/v1/conversations/c{MARK}/turns", marked_bodies(Texts(), 4))


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("floor")
    (folder / "receipt").write_bytes(b"{}")
    (folder / "replay").write_bytes(b"[" + b"1," * 100_000 + b"1]")
    files = {"FLOOR_RECEIPT": str(folder / "receipt"), "FLOOR_REPLAY": str(folder / "replay")}
    with program("bench.floors", files) as server:
        yield server


@pytest.fixture(params=["wrk", "raw_client.py"])
def generator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "wrk" != loading.GENERATOR:
        pytest.skip("no wrk here")
    monkeypatch.setattr(loading, "GENERATOR", request.param)


@pytest.mark.usefixtures("generator")
def test_both_generators_post_and_get(floor: Server) -> None:
    gets = Requests("GET", "/v1/conversations/h/replay")
    for requests, clients in ((POSTS, 8), (gets, 2)):
        loaded = load(floor.port, requests, clients, 0.2)
        assert loaded.rate > 0
        assert loaded.median_ms > 0


@pytest.mark.usefixtures("generator")
def test_a_failed_request_fails_the_measure(floor: Server) -> None:
    with pytest.raises(LoadFailed):
        load(floor.port, Requests("GET", "/nothing/here"), 1, 0.2)


def test_turns_have_the_size_that_is_said() -> None:
    texts = Texts()
    sizes = [len(encoded(message)) for message in history(texts, 100)]
    assert SIZE <= sum(sizes) / len(sizes) <= 1.2 * SIZE
    assert abs(len(encoded(call_turn(texts, "a"))) - SIZE) < SIZE / 10


def test_a_history_is_valid_and_ends_two_turns_behind_its_last_results() -> None:
    for turns in (10, 1000):
        roles = [str(message["role"]) for message in history(Texts(), turns)]
        assert len(roles) == turns
        assert roles[-4:] == ["tool", "tool", "assistant", "user"]


def test_posted_bodies_differ_only_where_they_are_marked() -> None:
    for one in islice(POSTS.bodies, 2):
        assert b"\n" not in one
        assert json.loads(one.replace(MARK.encode(), b"7"))["messages"]
        assert one.count(MARK.encode()) == 2
    assert body([]) == b'{"provider":"openai","messages":[]}'


def test_peers_are_found_without_their_packages() -> None:
    """The driver names them; it imports one only when it is asked to work."""
    folder = Path(loading.__file__).parents[1]
    code = "import bench.peers.driver as d; print(len(d.PEERS) + len(d.CONVERTERS))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout == "8\n"
