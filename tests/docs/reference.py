"""docs/http.md, written from the OpenAPI page, the errors and the answers to the examples."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from app.access.commands import made
from app.access.http import Access
from app.edge.problems import status_of
from app.formats.registry import TARGETS
from app.model.api_keys import ApiKey
from app.model.errors import TurnkeepError
from tests.docs.answers import shown

_HEAD = """\
# HTTP reference

Written from the OpenAPI page (`/openapi.json`; `/docs` shows it in a browser) and checked by a
test, which runs every example. Write it anew with
`TURNKEEP_REWRITE_GOLDEN=1 make test ARGS="tests/docs"`. [Concepts](concepts.md) says what the
members mean, [problems](problems.md) what to do about each error code.

Bodies are JSON, and so are answers. `HEAD` is answered wherever `GET` is. *Scope* is what an
[API key](operations.md#api-keys) must allow; with keys, add `-H "Authorization: Bearer $KEY"` to
the examples. Run this block first, on a new service, then the examples in their order. In what is
shown, `…` is what differs from run to run.
"""
_EVERYWHERE = """
Every operation that needs a key may answer with these problems; they are not repeated below.

"""
# What the page leaves unsaid of members that say it by their names.
_UNSAID = {
    "id": "The id that is meant.",
    "limit": "At most so many.",
    "metadata": "An object of yours, kept as it is.",
    "model": "The name of the model.",
    "parallel_tool_calls": "As in requests of `openai`.",
    "required": "Of `required` in schemas; see [tools](concepts.md#tool-definitions).",
    "title": "For people, and for the search.",
    "to": "Whose prefix it gets.",
}


@dataclass(frozen=True)
class Operation:
    """One method of one path, as the OpenAPI page tells of it."""

    method: str
    path: str
    told: Mapping[str, Any]
    scope: str

    @property
    def id(self) -> str:
        return str(self.told["operationId"])

    @property
    def summary(self) -> str:
        return str(self.told["summary"])

    @cached_property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        return {one["name"]: one for one in self.told.get("parameters", ())}

    @cached_property
    def bodies(self) -> dict[str, Mapping[str, Any]]:
        content = self.told.get("requestBody", {}).get("content", {})
        return {kind: one["schema"] for kind, one in content.items()}

    @cached_property
    def members(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.bodies.get("application/json", {}).get("properties", {})
        return found

    @property
    def takes(self) -> set[str]:
        return {*self.parameters, *self.members}

    @property
    def is_stream(self) -> bool:
        return "text/event-stream" in self.bodies


# Where a code can be met. One that is not named here is met wherever its status is declared.
_MET: dict[str, Callable[[Operation], bool]] = {
    "turn_not_found": lambda one: bool({"turn_id", "until"} & {*one.parameters}) and _reads(one),
    "conversation_exists": lambda one: "{cid}" not in one.path,
    "turn_id_taken": lambda one: "turn_id" in one.takes and not _reads(one),
    "history_differs": lambda one: "mode" in one.parameters,
    "idempotency_key_in_flight": lambda one: "Idempotency-Key" in one.parameters,
    "conversation_damaged": lambda one: "{cid}" in one.path,
    "limit_exceeded": lambda one: bool(one.bodies),
    "error_response": lambda one: "response" in one.members or one.is_stream,
    "unknown_provider": lambda one: bool({"format", "from"} & one.takes),
    "unknown_target": lambda one: any(_is_target(one, name) for name in ("to", "provider")),
    "idempotency_key_reused": lambda one: "Idempotency-Key" in one.parameters,
}


def _reads(one: Operation) -> bool:
    return one.method == "GET"


def _is_target(one: Operation, name: str) -> bool:
    schema = one.members.get(name) or one.parameters.get(name, {}).get("schema", {})
    return bool(schema.get("enum") == list(TARGETS))


class _NoScope(Access):
    """Whoever asks has a key that allows nothing."""

    async def key_of(self, request: Request) -> ApiKey | None:
        key, _ = made("default", "", ["read"])
        return replace(key, scopes=())


def operations(app: FastAPI) -> list[Operation]:
    """All operations of the page. What a key needs is asked of the service itself."""
    with TestClient(app) as http:
        shared = app.state.context
        app.state.context = replace(shared, access=_NoScope(shared.database, may_be_open=False))
        return [
            Operation(method.upper(), path, told, _needed(http, method, path))
            for path, methods in app.openapi()["paths"].items()
            for method, told in methods.items()
        ]


def _needed(http: TestClient, method: str, path: str) -> str:
    refused = http.request(method, re.sub(r"{\w+}", "x", path))
    return str(refused.json()["needed"]) if refused.status_code == 403 else ""


def written(
    operations: list[Operation], before: str, examples: Mapping[str, tuple[str, str]]
) -> str:
    """The page. `examples` has the command of each operation, and what it printed."""
    return "".join(_page(operations, before, examples))


def _page(
    operations: list[Operation], before: str, examples: Mapping[str, tuple[str, str]]
) -> Iterator[str]:
    met = {one.id: list(_problems(one)) for one in operations}
    counted = Counter(pair for one in operations if one.scope for pair in met[one.id])
    most = max(counted.values())
    everywhere = [pair for pair, count in counted.items() if count == most]
    yield f"{_HEAD}```sh\n{before.strip()}\n```\n\n## Operations\n\n"
    rows = [
        [
            f"[`{one.method} {one.path}`](#{anchor(one.summary)})",
            one.scope or "no key",
            one.summary,
        ]
        for one in operations
    ]
    yield table(["operation", "scope", "what it does"], rows)
    yield _EVERYWHERE
    yield table(["status", "code"], [[str(status), f"`{code}`"] for status, code in everywhere])
    for one in operations:
        own = [pair for pair in met[one.id] if not one.scope or pair not in everywhere]
        yield from _section(one, own)
        command, printed = examples[one.id]
        yield f"\n```sh\n{command.strip()}\n```\n{shown(printed)}"


def anchor(heading: str) -> str:
    """As code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _section(one: Operation, problems: list[tuple[int, str]]) -> Iterator[str]:
    scope = f"Scope `{one.scope}`." if one.scope else "Needs no key."
    yield f"\n## {one.summary}\n\n`{one.method} {one.path}`\n\n"
    yield "\n\n".join([scope, *_paragraphs(one.told.get("description", ""))]) + "\n"
    if one.parameters:
        rows = [
            [f"`{name}`", str(told["in"]), _kind(told["schema"]), _meaning(told, name)]
            for name, told in one.parameters.items()
        ]
        yield "\n" + table(["parameter", "in", "value", "meaning"], rows)
    for kind, schema in one.bodies.items():
        yield from _body(kind, schema)
    yield "\n" + table(["status", ""], list(_statuses(one, problems)))


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _body(kind: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"\nBody, `{kind}`" + ("." if "properties" in schema else f": {schema['description']}\n")
    if "properties" not in schema:
        return
    yield " ".join(["", *_paragraphs(schema.get("description", ""))]) + "\n\n"
    required = schema.get("required", ())
    rows = [
        [
            f"`{name}`" + (", required" if name in required else ""),
            _kind(told, schema),
            _meaning(told, name),
        ]
        for name, told in schema["properties"].items()
    ]
    if isinstance(others := schema.get("additionalProperties"), dict):
        rows.append(["any other", "", _meaning(others)])
    yield table(["member", "value", "meaning"], rows)


def _kind(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> str:
    """What a value is, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _kind((root or {}).get("$defs", {}).get(name, {}), root)
    if "enum" in schema or "const" in schema:
        values = [one for one in schema.get("enum", [schema.get("const")]) if one is not None]
        if values == list(TARGETS):
            return "a [target](providers.md)"
        return ", ".join(f"`{value}`" for value in values)
    if "anyOf" in schema:
        kinds = [_kind(one, root) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(filter(None, kinds)))
    said = str(schema.get("type", "any")).replace("array", "list")
    if "minimum" in schema and "maximum" in schema and schema["maximum"] < 2**32:
        said += f", {schema['minimum']:,} to {schema['maximum']:,}"
    if schema.get("default") not in (None, [], {}):
        said += f", by default {json.dumps(schema['default'])}"
    return said


def _meaning(told: Mapping[str, Any], name: str = "") -> str:
    said = " ".join(str(told.get("description", _UNSAID.get(name, ""))).split())
    schema = told.get("schema", told)
    needed = "Required. " if told.get("required") and told.get("in") != "path" else ""
    by_default = f" By default `{schema['default']}`." if _is_chosen(schema) else ""
    return f"{needed}{said}{by_default}".strip()


def _is_chosen(schema: Mapping[str, Any]) -> bool:
    return "enum" in schema and schema.get("default") is not None


def _statuses(one: Operation, problems: list[tuple[int, str]]) -> Iterator[list[str]]:
    for status, told in sorted(one.told["responses"].items()):
        codes = [f"`{code}`" for number, code in problems if str(number) == status]
        if codes:
            yield [status, ", ".join(codes)]
        elif int(status) < 400:
            said = told["description"]
            shown = "as below" if "content" in told else "done"
            yield [status, shown if said == "Successful Response" else said]


def _problems(one: Operation) -> Iterator[tuple[int, str]]:
    """The statuses that an operation declares, with their codes."""
    for error in leaves(TurnkeepError):
        status = status_of(error)
        if str(status) in one.told["responses"] and _MET.get(error.code, _anywhere)(one):
            yield status, error.code


def _anywhere(one: Operation) -> bool:
    return True


def leaves(error: type[TurnkeepError]) -> Iterator[type[TurnkeepError]]:
    """The errors that are met, in the order in which they are written down."""
    below = error.__subclasses__()
    # Some errors that are met have more special ones below them.
    if error is not TurnkeepError and error.code not in ("not_found", "conflict"):
        yield error
    for one in below:
        yield from leaves(one)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    cells = [[cell.replace("|", r"\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells).replace("|  |", "| |")
