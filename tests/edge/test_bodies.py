"""What the OpenAPI page says of bodies is what is read: names and types, both ways.

Bodies are read by our own reader of JSON, which keeps numbers and half characters as they were
written, so no model validates most of them. This table holds the two together: for every body a
request that is taken, and for every documented member a value that is taken as well.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import pytest

from app.formats.registry import CODECS
from app.formats.shared.members import MESSAGE_MEMBERS
from tests.http_api import Api, user

TOOL = {"name": "f", "description": "Does.", "parameters": {"type": "object", "properties": {}}}
CHAT_TOOLS = [{"type": "function", "function": TOOL}]
CHOICE = {"tools": CHAT_TOOLS}
GEMINI = [{"functionDeclarations": [TOOL]}]
GEMINI_CHOICE = {"functionCallingConfig": {"mode": "ANY"}}
AI_SDK = {"f": {"description": "Does.", "inputSchema": TOOL["parameters"]}}
OF_TOOLS: dict[str, dict[str, Any]] = {
    "tools": {"tools": CHAT_TOOLS},
    "tool_choice": CHOICE | {"tool_choice": "auto"},
    "parallel_tool_calls": CHOICE | {"parallel_tool_calls": False},
}


def in_format(name: str, **members: Any) -> dict[str, Any]:
    """Members that only one format has."""
    return {"*format": name, **members}


OF_OTHERS = {
    "tool_config": in_format("gemini", tools=GEMINI, tool_config=GEMINI_CHOICE),
    "toolConfig": in_format("gemini", tools=GEMINI, toolConfig=GEMINI_CHOICE),
    "toolChoice": in_format("vercel", tools=AI_SDK, toolChoice="auto"),
}
RESPONSE = {"id": "r", "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}]}


@dataclass(frozen=True)
class Body:
    """`taken`: a body that is. `format`: the member that names its format. `members`: for each
    documented one what to add to that body; None in there takes a member away."""

    method: str
    path: str
    taken: dict[str, Any]
    members: dict[str, dict[str, Any]]
    format: str = "provider"
    takes_settings: bool = False


MESSAGES: dict[str, dict[str, Any]] = {
    "openai": {"messages": [user("hi")]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "vercel": {"messages": [{"role": "user", "content": "hi"}]},
    "anthropic": {"messages": [user("hi")]},
    "openai-responses": {"input": [{"role": "user", "content": "hi"}]},
    "neutral": {"turns": [{"speaker": "human", "blocks": []}]},
}
OF_MESSAGES: dict[str, dict[str, Any]] = {
    "messages": {"messages": [user("ho")]},
    **OF_TOOLS,
    **OF_OTHERS,
    "system": in_format("anthropic", system="Be brief."),
    "contents": in_format("gemini"),
    "system_instruction": in_format("gemini", system_instruction={"parts": [{"text": "x"}]}),
    "systemInstruction": in_format("gemini", systemInstruction={"parts": [{"text": "x"}]}),
    "input": in_format("openai-responses"),
    "instructions": in_format("openai-responses", instructions="Be brief."),
    "turns": in_format("neutral"),
}
BODIES = {
    "append": Body(
        "POST",
        "/v1/conversations/{cid}/turns",
        {"provider": "openai", **MESSAGES["openai"]},
        {
            "provider": {"provider": "kimi"},
            "format": {"format": "kimi"},
            "model": {"model": "m"},
            "turn_id": {"turn_id": "t1"},
            "turn_ids": {"turn_ids": ["t1"]},
            "response": {"response": RESPONSE, "messages": None},
            "metadata": {"metadata": {"a": 1}},
            **OF_MESSAGES,
        },
        takes_settings=True,
    ),
    "create": Body(
        "POST",
        "/v1/conversations",
        {},
        {
            "id": {"id": "c9"},
            "title": {"title": "x"},
            "metadata": {"metadata": {"a": 1}},
            "expires_after": {"expires_after": 60},
        },
    ),
    "change": Body(
        "PATCH",
        "/v1/conversations/{cid}",
        {},
        {
            "title": {"title": "x"},
            "metadata": {"metadata": {"a": 1}},
            "expires_after": {"expires_after": 60},
        },
    ),
    "tools": Body(
        "PUT",
        "/v1/conversations/{cid}/tools",
        {"provider": "openai", "tools": CHAT_TOOLS},
        {
            "provider": {"provider": "kimi", "format": "kimi"},
            "format": {"format": "kimi", "provider": None},
            "strict": {"strict": True},
            **OF_TOOLS,
            **OF_OTHERS,
        },
    ),
    "convert messages": Body(
        "POST",
        "/v1/convert/messages",
        {"from": "openai", "to": "anthropic", **MESSAGES["openai"]},
        {
            "from": {"from": "kimi"},
            "to": {"to": "kimi"},
            "model": {"model": "m"},
            "reasoning": {"reasoning": "text"},
            "ready": {"ready": True},
            **OF_MESSAGES,
        },
        format="from",
        takes_settings=True,
    ),
    "convert tools": Body(
        "POST",
        "/v1/convert/tools",
        {"from": "openai", "to": "anthropic", "tools": CHAT_TOOLS},
        {
            "from": {"from": "kimi"},
            "to": {"to": "kimi"},
            "required": {"required": "keep"},
            "description": {"description": "keep"},
            "strict": {"strict": True},
            **OF_TOOLS,
            **OF_OTHERS,
        },
        format="from",
    ),
    "convert tool id": Body(
        "POST",
        "/v1/convert/tool-id",
        {"id": "call_1", "to": "anthropic"},
        {"id": {"id": "call_2"}, "to": {"to": "openai"}},
    ),
}

NUMBERS = itertools.count()
# A value of each type that JSON has.
VALUES: dict[str, Any] = {
    "string": "x y",
    "integer": 7,
    "boolean": True,
    "array": [7],
    "object": {"unheard": 7},
    "null": None,
}
each_body = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


def schema_of(api: Api, body: Body) -> dict[str, Any]:
    operation = api.http.get("/openapi.json").json()["paths"][body.path][body.method.lower()]
    schema: dict[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]
    return schema


def send(api: Api, body: Body, members: dict[str, Any]) -> Any:
    """To a conversation of its own, since a turn id is taken once."""
    cid = f"c{next(NUMBERS)}"
    if body.method == "PATCH":
        api.post(user("first"), cid=cid)
    given = {key: value for key, value in members.items() if not key.startswith("*")}
    return api.http.request(body.method, body.path.format(cid=cid), json=given)


def with_member(body: Body, name: str) -> dict[str, Any]:
    """The body that has a member, in a format that reads it."""
    added = body.members[name]
    base = dict(body.taken)
    if wire := added.get("*format"):
        base[body.format] = wire
        if body.takes_settings:
            base.pop("messages")
            base |= MESSAGES[wire]
    merged = {key: value for key, value in (base | added).items() if key[0] != "*"}
    return {key: value for key, value in merged.items() if value is not None}


def types(schema: dict[str, Any]) -> set[str]:
    """The types that a schema takes; none where it says nothing of them."""
    told = [schema, *schema.get("anyOf", ())]
    found = {one["type"] for one in told if "type" in one}
    found |= {"string" for one in told if "enum" in one or "const" in one}
    return found | ({"null"} if None in schema.get("enum", ()) else set())


@each_body
def test_each_documented_member_is_in_the_table_and_is_taken(lite: Api, body: Body) -> None:
    assert schema_of(lite, body)["properties"].keys() == body.members.keys()
    for name in body.members:
        members = with_member(body, name)
        assert name in members
        answer = send(lite, body, members)
        assert answer.is_success, (name, answer.text)


@each_body
def test_a_member_that_is_not_documented_is_refused(lite: Api, body: Body) -> None:
    answer = send(lite, body, body.taken | {"unheard": 1})
    assert (answer.status_code, answer.json()["pointer"]) == (422, "/unheard")


@each_body
def test_a_value_of_a_type_that_is_not_documented_is_refused(lite: Api, body: Body) -> None:
    for name, schema in schema_of(lite, body)["properties"].items():
        documented = types(schema)
        for kind, value in VALUES.items():
            if documented and kind not in documented:
                answer = send(lite, body, with_member(body, name) | {name: value})
                told = (name, kind, answer.text)
                assert answer.status_code == 422, told
                assert answer.json()["pointer"].startswith(f"/{name}"), told


@each_body
def test_null_is_taken_where_it_is_documented(lite: Api, body: Body) -> None:
    for name, schema in schema_of(lite, body)["properties"].items():
        # Without these there is nothing to read.
        if "null" in types(schema) and name not in ("tools", "response"):
            members = with_member(body, name) | {name: None}
            if body.path.endswith("/tools") and name == "format":
                members |= {"provider": "openai"}
            answer = send(lite, body, members)
            assert answer.is_success, (name, answer.text)


@each_body
def test_a_required_member_is_required(lite: Api, body: Body) -> None:
    for name in schema_of(lite, body).get("required", ()):
        answer = send(lite, body, {key: body.taken[key] for key in body.taken if key != name})
        assert (answer.status_code, answer.json()["pointer"]) == (422, f"/{name}")


def test_the_members_of_every_format_are_documented(lite: Api) -> None:
    for name in ("append", "convert messages"):
        documented = schema_of(lite, BODIES[name])["properties"]
        assert MESSAGE_MEMBERS.keys() <= documented.keys()


def test_settings_of_a_format_are_ignored_in_its_requests_alone(lite: Api) -> None:
    """They are what `additionalProperties` stands for."""
    for body in BODIES.values():
        schema = schema_of(lite, body)
        assert bool(schema["additionalProperties"]) == body.takes_settings
    body = BODIES["append"]
    for setting in sorted(CODECS["openai"].settings):
        answer = send(lite, body, body.taken | {setting: 1})
        assert answer.is_success, (setting, answer.text)
