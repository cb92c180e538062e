"""Writes `0.1.0.db.gz` and `0.1.0.json`: a database of the release 0.1.0 (commit c51a085), and what
that release answers about it.

The database has been brought to revision 0014 since, the oldest one that is upgraded, by the
migrations of commit c0fc27d; its turns are as that release wrote them. `0014.db.gz` and `0014.json`
are the same from commit f5a43db, whose schema was 0014: name it after the folder.

Run it with the code of a checkout of that commit, in its folder, and name the folder for the files:

    PYTHONPATH=. .venv/bin/python …/write_0_1_0.py FOLDER [NAME]

It uses nothing but the HTTP interface and the command line of the release, its golden cases and its
recordings. `asked` are the paths of GET with the sha256 of their answers, and for replays that of
the `request` alone; `exported` is what `turnkeep export --all` writes; `later` are requests that go
on from there, in order, with their answers, and `asked_later` what is answered after them.
"""

import base64
import gzip
import hashlib
import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlencode

from fastapi.testclient import TestClient

NAME = "0.1.0"
# The modules of that release, not of the present one.
create_app: Any = import_module("app.main").create_app
Settings: Any = import_module("app.settings").Settings
command: Any = import_module("app.cli").main
TARGETS: tuple[str, ...] = tuple(import_module("app.codecs").TARGETS)
RECORDINGS: Any = import_module("tests.streams.recordings")
STREAMS: Any = import_module("tests.api.test_streams")

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
WHOLE: bytes = STREAMS.WHOLE
CUT: int = STREAMS.CUT
RESPONSE: dict[str, Any] = STREAMS.RESPONSE
LONG = 1_200_000
FORGED = "hist_tool_" + "A" * 24
OPTIONS: tuple[dict[str, Any], ...] = (
    {"last": 3},
    {"max_tokens": 60},
    {"since": 2},
    {"since": 7},
    {"reasoning": "text"},
    {"reasoning": "drop"},
    {"tools": "omit"},
    {"tools": "flatten"},
    {"ready": "true"},
    {"model": "claude-sonnet-4-5"},
)


class Client:
    """Speaks to the service; what is refused ends the program."""

    def __init__(self, http: TestClient) -> None:
        self.http = http
        self.sent: list[dict[str, Any]] = []

    def send(
        self, method: str, path: str, body: bytes, headers: dict[str, str], expected: int
    ) -> Any:
        answer = self.http.request(method, path, content=body, headers=headers)
        assert answer.status_code == expected, (path, answer.text)
        self.sent.append(
            {
                "method": method,
                "path": path,
                "headers": headers,
                "body": base64.b64encode(body).decode(),
                "status": expected,
                "sha256": sha256(answer.content),
            }
        )
        return answer.json()

    def post(
        self, cid: str, body: Any, expected: int = 201, query: str = "", **headers: str
    ) -> Any:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        told = JSON | {name.replace("_", "-"): value for name, value in headers.items()}
        return self.send("POST", f"{path_of(cid)}/turns{query}", text, told, expected)

    def stream(
        self, cid: str, body: bytes, expected: int = 201, kind: str = "", **query: str
    ) -> Any:
        asked = urlencode({"provider": "anthropic", **query})
        headers = {"content-type": kind} if kind else SSE
        return self.send("POST", f"{path_of(cid)}/turns/stream?{asked}", body, headers, expected)

    def put_tools(self, cid: str, body: Any) -> Any:
        text = json.dumps(body).encode()
        return self.send("PUT", f"{path_of(cid)}/tools", text, JSON, 200)

    def get(self, path: str) -> bytes:
        answer = self.http.get(path)
        assert answer.status_code == 200, (path, answer.text)
        return answer.content


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def path_of(cid: str) -> str:
    return f"/v1/conversations/{cid}"


def said(*messages: Any, provider: str = "openai", **members: Any) -> dict[str, Any]:
    return {"provider": provider, "messages": list(messages), **members}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def calling(*calls: tuple[str | None, str, str]) -> dict[str, Any]:
    made = [
        {"id": raw_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for raw_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def answering(raw_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": raw_id, "content": content}


CHANGED = ("mixed", "broken", "orphans", "ids", "synced", "quarantined")
FIRST = said({"role": "system", "content": "Be brief."}, user("Rain in Bonn?"))
LIST = [user("a"), calling(("call_1", "read", "{}")), answering("call_1", "alpha"), user("b")]


def tell(client: Client) -> None:
    """Everything that a database of this release can hold."""
    tell_golden(client)
    tell_mixed(client)
    tell_streams(client)
    tell_broken(client)
    tell_orphans(client)
    tell_ids(client)
    tell_synced(client)
    tell_strange(client)
    tell_long(client)
    for number in range(1, 4):
        client.post("quarantined", said(user(f"word {number}"), calling((f"q{number}", "f", "{}"))))
    client.post("quarantined", said(answering("q2", "two"), answering("q1", "one")))
    client.post("erased", said(user("gone")))
    assert client.http.delete(path_of("erased")).status_code in (200, 204)


def tell_golden(client: Client) -> None:
    """The golden cases of each format, in a conversation of its own."""
    for place in sorted(Path("tests/codecs").glob("*/*/wire.json")):
        target = place.parent.parent.name
        # Two cases name a turn alike.
        apart = "-short" if place.parent.name == "short_form" else ""
        client.post(f"golden-{target}{apart}", place.read_bytes())


def tell_mixed(client: Client) -> None:
    """Several providers, tool sets, keys, notes, repeats, every status of a result."""
    cid = "mixed"
    about = {"id": cid, "title": "The Weather in Bonn", "metadata": {"user": "ann", "n": 1.50}}
    client.send("POST", "/v1/conversations", json.dumps(about).encode(), JSON, 201)
    weather = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    client.put_tools(
        cid,
        {
            "provider": "anthropic",
            "tools": [{"name": "weather", "description": "Tells it.", "input_schema": weather}],
            "tool_choice": {"type": "auto"},
        },
    )
    client.post(cid, FIRST, Idempotency_Key="key-1")
    client.post(
        cid,
        said(
            calling(("functions.weather:0", "weather", '{"city": "Bonn"}')),
            answering("functions.weather:0", "rain"),
            provider="kimi",
            model="kimi-k2",
        ),
    )
    client.post(cid, {"provider": "anthropic", "turn_id": "said", "response": RESPONSE})
    client.post(cid, said(answering("toolu_weather", "rain"), answering("toolu_weather", "sun")))
    note = {"speaker": "note", "blocks": [{"type": "text", "text": "A person took over."}]}
    client.post(cid, said(note, provider="neutral", metadata={"by": "operator"}))
    results = [
        {"type": "tool_result", "call_id": f"s-{status}", "status": status, "error": "no"}
        for status in ("error", "denied", "interrupted", "unknown")
    ]
    calls = [
        {"type": "tool_call", "id": block["call_id"], "name": "do", "parameters": {"x": 1}}
        for block in results
    ]
    thinking = {"type": "thinking", "text": "Let me think.", "signature": "c2ln"}
    client.post(
        cid,
        said(
            {"speaker": "ai", "blocks": [thinking, *calls], "provider": "anthropic"},
            {"speaker": "tool", "blocks": results},
            provider="neutral",
            turn_ids=["asks", None],
        ),
        Idempotency_Key="key-2",
        If_Match='"8"',
    )
    tool = {"name": "do", "description": "Does it.", "parameters": weather}
    chat_tools = [{"type": "function", "function": tool}]
    client.post(cid, said(user("and now?"), tools=chat_tools, tool_choice="required", model="m"))
    mistral = said(calling(("a1B2c3D4e", "do", "{}"), ("zzz", "do", '{"n": 1}')))
    client.post(cid, mistral | {"provider": "mistral"}, query="?return=turns")
    client.post(cid, said(answering("zzz", [{"type": "text", "text": "two"}])))


def tell_streams(client: Client) -> None:
    """Every recording, whole and broken off, in each form that its provider has."""
    for number, one in enumerate([*RECORDINGS.RECORDINGS, *RECORDINGS.OTHER_FORMS]):
        binary = one.name.endswith("in frames")
        kind = "application/vnd.amazon.eventstream" if binary else ""
        if one.name.endswith("in an array"):
            kind = "application/json"
        client.stream(f"streams-{one.provider}", one.stream, kind=kind, provider=one.provider)
        if number % 5 == 0:
            broken = one.stream[: len(one.stream) * 2 // 3]
            client.stream(f"streams-{one.provider}", broken, kind=kind, provider=one.provider)
        if one.finished is not None and number % 3 == 0:
            whole = {"provider": one.provider, "response": one.finished}
            client.post(f"responses-{one.provider}", whole)


def tell_broken(client: Client) -> None:
    """Turns that broke off: left so, completed, with calls that went and came back."""
    cid = "broken"
    client.post(cid, said(user("Bonn?")))
    client.stream(cid, WHOLE[:CUT], turn_id="left")
    client.post(cid, said(answering("toolu_weather", "rain")))
    client.stream(cid, WHOLE[:CUT], turn_id="completed")
    client.post(cid, said(user("are you there?")))
    client.post(cid, {"provider": "anthropic", "turn_id": "completed", "response": RESPONSE}, 200)
    client.post(cid, said(answering("toolu_time", "12:00")))
    cut = WHOLE.index(b"toolu_time")
    client.stream(cid, WHOLE[:cut], turn_id="changed")
    other = WHOLE[:cut].replace(b"toolu_weather", b"toolu_again")
    client.stream(cid, other, 200, turn_id="changed")
    client.post(cid, said(answering("toolu_again", "of the second")))
    client.stream(cid, WHOLE[: cut - 30], 200, turn_id="changed")
    use = {"type": "tool_use", "id": "toolu_new", "name": "time", "input": {}}
    last = RESPONSE | {"id": "msg_9", "content": [RESPONSE["content"][1], use]}
    client.post(cid, {"provider": "anthropic", "turn_id": "changed", "response": last}, 200)
    client.post(cid, said(answering("toolu_new", "13:00"), user("thanks")))


def tell_orphans(client: Client) -> None:
    """Results that wait for their call, and results whose call came later."""
    cid = "orphans"
    client.post(cid, said(user("go"), answering("early", "it was early"), answering("never", "x")))
    client.post(cid, said(calling(("early", "f", "{}"), ("call_open", "g", "[1"))))
    client.post(cid, said(answering("early", "again"), answering("open", "by another prefix")))
    nameless = {"speaker": "tool", "blocks": [{"type": "tool_result", "name": "h", "result": 0}]}
    client.post(cid, said(calling((None, "h", "{}"), (None, "i", ""))))
    client.post(cid, said(nameless, nameless, provider="neutral"))


def tell_ids(client: Client) -> None:
    """Ids of Kimi and Mistral, ids used twice, canonical ids that a caller brought along."""
    cid = "ids"
    for number in (0, 0, 4, 2):
        raw_id = f"functions.read:{number}"
        client.post(
            cid, said(calling((raw_id, "read", "{}")), answering(raw_id, "x"), provider="kimi")
        )
    client.post(cid, said(calling(("abcdefghi", "read", "{}"), ("abcdefghi", "read", "{}"))))
    client.post(cid, said(answering("abcdefghi", "1"), answering("abcdefghi", "2")))
    client.post(cid, said(calling((FORGED, "f", "{}"), (FORGED, "f", "{}"))))
    client.post(cid, said(calling(("hist_tool_short", "f", "{}"), ("a|b\\c", "f|g", "{}"))))
    client.post(cid, said(answering(FORGED, "of the first")))
    # The id that a later call is due, taken by somebody else before.
    later = said(calling(("x", "f", "{}")), turn_id="due")
    due = client.post("due-there", later)["turns"][0]["tool_calls"][0]["id"]
    client.post("due-here", said(calling((due, "f", "{}"))))
    client.post("due-here", later)


def tell_synced(client: Client) -> None:
    cid = "synced"
    client.post(cid, said(*LIST[:2]), query="?mode=sync")
    client.post(cid, said(*LIST), query="?mode=sync", Idempotency_Key="sync-1")


def tell_strange(client: Client) -> None:
    """Numbers as they were written, half characters, NUL, blocks that nobody knows."""
    client.post(
        "strange",
        rb"""{"provider":"neutral","messages":[
        {"speaker":"human","blocks":[{"type":"text","text":"half \ud83d nul \u0000 \u00fc"}],
         "metadata":{"n":[9007199254740993,1.10,2e3,-0.0,1E-7,18446744073709551616]}},
        {"speaker":"ai","blocks":[{"type":"tool_call","id":"nul \u0000","name":"f \ud83d",
         "parameters":{"zebra":1,"apple":{"b":2,"a":1.0}}}]},
        {"speaker":"tool","blocks":[{"type":"tool_result","call_id":"nul \u0000",
         "result":{"n":1.10,"half":"\udc00"}},{"type":"hologram","rays":[1,{"z":1,"a":null}]}]},
        {"speaker":"human","blocks":[{"type":"text","text":"   "},{"type":"text","text":""}]},
        {"speaker":"ai","blocks":[]}]}""",
    )
    client.post("strange", said(user("weather in par"), provider="my-own", format="openai"))


def tell_long(client: Client) -> None:
    """A stream that is too long for one row: it stands in pieces, once broken off, once whole."""
    delta = json.dumps({"type": "text_delta", "text": "la " * (LONG // 3)}).encode()
    begun = WHOLE.replace(b'{"type": "text_delta", "text": "Let me "}', delta)
    assert len(begun) > LONG
    client.stream("long", begun[: LONG + 700], turn_id="sung")
    client.stream("long", begun, 200, turn_id="sung")


def damage(file: Path) -> None:
    """Makes one turn unreadable, as a defect of a disk would."""
    with closing(sqlite3.connect(file)) as database, database:
        damaged = database.execute(
            "UPDATE turns SET blocks = ? WHERE conversation_id = 'quarantined' AND seq = 3",
            (b"\xff[",),
        )
        assert damaged.rowcount == 1


def questions(client: Client) -> Iterator[str]:
    """The paths that are asked for."""
    listed = "/v1/conversations?limit=1000"
    yield listed
    for query in ("q=bonn", "q=la", "title=wea", "tool=weather", "provider=kimi", "order=updated"):
        yield f"{listed}&{query}"
    yield f"{listed}&metadata.user=ann&metadata.n=1.50"
    for one in json.loads(client.get(listed))["data"]:
        yield from of_conversation(client, one["id"])
    for any_id in (
        *("msg_1", "msg_9", "toolu_weather", "toolu_again", "never", "early", "said", "asks"),
        *(
            "functions.read:0",
            "functions.weather:0",
            "abcdefghi",
            FORGED,
            "call_1",
            "due",
            "a1B2c3D4e",
        ),
    ):
        yield f"/v1/tool-calls/lookup?id={quote(any_id)}"


def of_conversation(client: Client, cid: str) -> Iterator[str]:
    base = path_of(cid)
    yield base
    yield f"{base}/verify"
    yield f"{base}/tool-calls?limit=1000&order=asc"
    yield f"{base}/turns?limit=1000&raw=true"
    yield from replays(client, cid)


def replays(client: Client, cid: str) -> Iterator[str]:
    """Plain for every conversation; with all options for those that have most to tell."""
    base = path_of(cid)
    turns = json.loads(client.get(f"{base}/turns?limit=1000"))["data"]
    options: list[dict[str, Any]] = [{}]
    if cid in ("mixed", "broken"):
        options += [*OPTIONS, {"until": turns[len(turns) // 2]["turn_id"]}]
    if cid == "broken":
        yield f"{base}/turns/changed"
    for target in TARGETS:
        if cid == "mixed":
            yield f"{base}/tools?provider={target}"
        for option in options:
            if target != "neutral" or option not in ({"ready": "true"}, {"tools": "flatten"}):
                yield f"{base}/replay?{urlencode({'provider': target, **option})}"


def is_asked_later(path: str) -> bool:
    """Plain replays of what goes on."""
    cid, _, query = path.removeprefix("/v1/conversations/").partition("/replay?")
    return bool(query) and "&" not in query and cid in CHANGED


def answers(client: Client, paths: Iterator[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in paths:
        content = client.get(path)
        found[path] = [sha256(content)]
        if "/replay?" in path:
            found[path].append(request_sha256(content))
    return found


def request_sha256(answer: bytes) -> str:
    """Of the request alone, with its numbers as they are written."""
    request = json.loads(answer, parse_float=str, parse_int=str)["request"]
    return sha256(json.dumps(request).encode())


def exported(url: str, folder: Path) -> dict[str, str]:
    found = {}
    for target in ("neutral", "kimi"):
        file = folder / f"{target}.jsonl"
        given = ["--all", "--provider", target, "--output", str(file), "--database-url", url]
        assert command(["export", *given]) in (0, 1)
        found[target] = sha256(file.read_bytes())
    return found


def go_on(client: Client) -> None:
    """What a client of the release does next: retries, completes, answers, appends."""
    client.post("mixed", FIRST, 200, Idempotency_Key="key-1")
    client.post("mixed", said(user("another body")), 422, Idempotency_Key="key-1")
    client.post("mixed", {"provider": "anthropic", "turn_id": "said", "response": RESPONSE}, 200)
    client.post("mixed", said(answering("a1B2c3D4e", "one"), user("more")), If_Match='"13"')
    client.post("broken", {"provider": "anthropic", "turn_id": "left", "response": RESPONSE}, 200)
    client.post("broken", said(answering("toolu_time", "14:00")))
    client.post("orphans", said(calling(("never", "f", "{}"))))
    client.post("ids", said(calling(("functions.read:0", "read", "{}")), provider="kimi"))
    client.post("ids", said(answering("functions.read:0", "y"), provider="mistral"))
    client.post("synced", said(*LIST, {"role": "assistant", "content": "c"}), query="?mode=sync")
    client.post("quarantined", said(answering("q3", "three")))
    client.put_tools("mixed", {"provider": "openai", "tools": []})


def written_down(value: dict[str, Any]) -> str:
    """JSON with a line for each answer."""
    text = json.dumps(value)
    return text.replace("], ", "],\n").replace("}, ", "},\n") + "\n"


def served(url: str) -> TestClient:
    # Commit f5a43db refuses the host that the client names by itself.
    return TestClient(create_app(Settings(database_url=url)), base_url="http://127.0.0.1")


def main(target: Path, release: str = NAME) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        file, copy = folder / "written.db", folder / "copy.db"
        url = f"sqlite:///{file}"
        assert command(["migrate", "--database-url", url]) == 0
        with served(url) as http:
            tell(Client(http))
        damage(file)
        with closing(sqlite3.connect(file)) as database:
            database.execute("PRAGMA journal_mode = DELETE")
            database.execute("VACUUM")
        shutil.copyfile(file, copy)
        written: dict[str, Any] = {"release": release}
        with served(f"sqlite:///{copy}") as http:
            client = Client(http)
            written["asked"] = answers(client, questions(client))
        written["exported"] = exported(f"sqlite:///{copy}", folder)
        with served(f"sqlite:///{copy}") as http:
            client = Client(http)
            go_on(client)
            written["later"] = client.sent
            paths = (path for path in written["asked"] if is_asked_later(path))
            written["asked_later"] = answers(client, paths)
        (target / f"{release}.json").write_text(written_down(written))
        # Without the time, so that the same database gives the same file.
        (target / f"{release}.db.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
