"""The OpenAPI page: what it promises is there, and its examples run."""

import re
from typing import Any

import pytest

from app.edge.requests import STREAMS
from app.formats.registry import TARGETS
from tests.http_api import Api

PATHS = {
    "/v1/conversations": {"get", "post"},
    "/v1/conversations/{cid}": {"get", "patch", "delete"},
    "/v1/conversations/{cid}/turns": {"get", "post"},
    "/v1/conversations/{cid}/turns/{turn_id}": {"get"},
    "/v1/conversations/{cid}/replay": {"get"},
    "/v1/conversations/{cid}/tool-calls": {"get"},
    "/v1/conversations/{cid}/verify": {"get"},
    "/v1/tool-calls/lookup": {"get"},
    "/healthz": {"get"},
    "/readyz": {"get"},
    "/metrics": {"get"},
}


def schema(api: Api) -> Any:
    return api.http.get("/openapi.json").json()


def test_all_paths_are_described(lite: Api) -> None:
    described = {path: set(methods) for path, methods in schema(lite)["paths"].items()}
    assert described.items() >= PATHS.items()


def test_every_operation_has_an_id_of_its_own(lite: Api) -> None:
    described = [one for methods in schema(lite)["paths"].values() for one in methods.values()]
    ids = [operation["operationId"] for operation in described]
    assert len(set(ids)) == len(ids)
    # What FastAPI makes up by itself is longer: it ends with the path and the method.
    assert [one for one in ids if not re.fullmatch(r"[a-z]+(_[a-z]+){1,2}", one)] == []


def test_every_operation_may_refuse_with_a_problem(lite: Api) -> None:
    described = [one for methods in schema(lite)["paths"].values() for one in methods.values()]
    for operation in described:
        for status in ("422", "503"):
            content = operation["responses"][status]["content"]
            assert list(content) == ["application/problem+json"], operation["operationId"]


def test_ids_in_paths_have_a_pattern_that_their_examples_keep(lite: Api) -> None:
    described = [one for methods in schema(lite)["paths"].values() for one in methods.values()]
    ids = [one for each in described for one in each.get("parameters", []) if one["in"] == "path"]
    assert {one["name"] for one in ids} == {"cid", "turn_id"}
    for one in ids:
        pattern = re.compile(one["schema"]["pattern"])
        assert all(map(pattern.fullmatch, one["schema"]["examples"]))
        assert not any(map(pattern.fullmatch, ["", ".", "..", "a/b", "a b", "x" * 129]))


def test_targets_are_listed_where_one_is_asked_for(lite: Api) -> None:
    paths = schema(lite)["paths"]
    for path in ("/v1/conversations/{cid}/replay", "/v1/conversations/{cid}/tools"):
        (provider,) = (p for p in paths[path]["get"]["parameters"] if p["name"] == "provider")
        assert provider["schema"]["enum"] == list(TARGETS)


@pytest.mark.parametrize("member", ["tool_choice", "tool_config", "toolConfig", "toolChoice"])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "kimi"])
def test_what_is_said_of_tools_may_be_null(lite: Api, member: str, provider: str) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    body = {"provider": provider, "messages": [message], member: None}
    assert lite.http.post("/v1/conversations/c1/turns", json=body).status_code == 201
    assert lite.http.post("/v1/conversations/c1/turns", json=body | {member: 1}).status_code == 422


def test_the_example_of_posting_turns_runs(lite: Api) -> None:
    body = schema(lite)["paths"]["/v1/conversations/{cid}/turns"]["post"]["requestBody"]
    example = body["content"]["application/json"]["schema"]["examples"][0]
    done = lite.http.post("/v1/conversations/c1/turns", json=example)
    assert done.status_code == 201
    assert len(done.json()["turns"][1]["tool_calls"]) == 2


def test_the_pages_are_served(lite: Api) -> None:
    assert "swagger" in lite.http.get("/docs").text.lower()


def test_streams_are_described_with_their_forms_and_retries(lite: Api) -> None:
    paths = lite.http.get("/openapi.json").json()["paths"]
    turns = "/v1/conversations/{cid}/turns"
    stream = paths[f"{turns}/stream"]["post"]
    assert set(stream["requestBody"]["content"]) == set(STREAMS)
    receipt = stream["responses"]["201"]["content"]["application/json"]["schema"]
    for operation in (stream, paths[turns]["post"]):
        assert operation["responses"]["200"]["content"]["application/json"]["schema"] == receipt
