"""schemathesis asks every operation for what the OpenAPI page allows, and for what it forbids.

All its checks must hold. The page leaves to words what it cannot say in a schema (`IN_WORDS`):
there, what the schema allows may be refused with a 422 that the page declares.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.edge.openapi import PAGE
from tests.long import IS_LONG

# More where there is time (`make test-long`).
EXAMPLES = 20 if IS_LONG else 3
WALKS = 200 if IS_LONG else 20
POSTED = {
    "provider": "openai",
    "turn_id": "t1",
    "messages": [{"role": "user", "content": "hello"}],
}
# What is asked for: what is stored, where an example has room for it, or anything at all.
STORED = {"cid": "c1", "turn_id": "t1"}
MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
OPERATIONS = [
    (method, path)
    for path, item in PAGE["paths"].items()
    for method in item
    if method != "parameters"
]


_MESSAGES = "messages and tools are those of their format, providers have names"
_CURSOR = "a cursor is one that a page before gave"
IN_WORDS = {
    "create_conversation": "ids have a form, and 1.0 is an integer for JSON Schema",
    "change_conversation": "1.0 is an integer for JSON Schema",
    "list_conversations": _CURSOR,
    "list_tool_calls": _CURSOR,
    "lookup_tool_calls": _CURSOR,
    "append_turns": _MESSAGES,
    "append_stream": _MESSAGES,
    "put_tools": _MESSAGES,
    "convert_messages": _MESSAGES,
    "convert_tools": _MESSAGES,
    "replay_conversation": "`since` is a version that there is",
}


@pytest.fixture
def http(sqlite_database_url: str) -> Iterator[TestClient]:
    # It asks for a host of its own.
    app = create_app(Settings(database_url=sqlite_database_url, allowed_hosts="*"))
    with TestClient(app) as client:
        yield client


@pytest.fixture
def page(http: TestClient) -> Any:
    assert http.post("/v1/conversations/c1/turns", json=POSTED).status_code == 201
    loaded = schemathesis.openapi.from_asgi("/openapi.json", http.app)
    # A condition that does not hold, and a body that is too large, are told before the rest.
    rejected = loaded.config.checks.negative_data_rejection
    rejected.expected_statuses = [*rejected.expected_statuses, "412", "413"]
    # Events go on for ever.
    loaded.config.max_stream_events = 1
    accepted = loaded.config.checks.positive_data_acceptance
    accepted.expected_statuses = [*accepted.expected_statuses, "412"]
    return loaded


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_the_page_says_what_happens(page: Any, method: str, path: str) -> None:
    operation = page[path][method.upper()]
    if name_of(operation) in IN_WORDS:
        accepted = page.config.checks.positive_data_acceptance
        # A stream may be of a kind that its format does not have.
        accepted.expected_statuses = [*accepted.expected_statuses, "422", "415"]
    takes_something = bool(operation.definition.raw.get("parameters")) or "{" in path
    takes_something = takes_something or "requestBody" in operation.definition.raw
    for mode in MODES if takes_something else MODES[:1]:
        for known in (STORED, {}) if "{" in path else ({},):
            _asked(operation, mode, known)


def name_of(operation: Any) -> str:
    name: str = operation.definition.raw["operationId"]
    return name


def test_what_stands_in_words_is_of_operations_that_there_are() -> None:
    named = {PAGE["paths"][path][method]["operationId"] for method, path in OPERATIONS}
    assert IN_WORDS.keys() < named


def _asked(operation: Any, mode: Any, known: dict[str, str]) -> None:
    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        for name in known.keys() & case.path_parameters.keys():
            case.path_parameters[name] = known[name]
        case.call_and_validate()

    ask()


# What can be asked for once a conversation is there; `append_turns` and `get_turn` come in between.
LINKED = {
    "get_conversation",
    "change_conversation",
    "append_turns",
    "list_turns",
    "get_turn",
    "replay_conversation",
    "list_tool_calls",
    "get_tools",
    "verify_conversation",
    "erase_conversation",
}


def test_the_page_says_what_happens_next(page: Any, http: TestClient) -> None:
    followed: Counter[str] = Counter()
    # A conversation that was erased may be made again, and other examples do.
    page.config.checks.use_after_free.enabled = False
    page.config.checks.ensure_resource_availability.enabled = False
    accepted = page.config.checks.positive_data_acceptance
    # A stream may be of a kind that its format does not have.
    accepted.expected_statuses = [*accepted.expected_statuses, "422", "415"]

    class Machine(page.as_state_machine()):  # type: ignore[misc]
        """Goes from response to response, along the links of the page, from an empty service."""

        def setup(self) -> None:
            for one in http.get("/v1/conversations").json()["data"]:
                http.delete(f"/v1/conversations/{one['id']}")

        def after_call(self, response: Any, case: Any) -> None:
            if response.status_code < 300:
                followed[name_of(case.operation)] += 1
            super().after_call(response, case)

    settings = hypothesis.settings(
        max_examples=WALKS,
        stateful_step_count=8,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    # Which links are followed is chance; most are in the first walks.
    for number in range(15):
        hypothesis.seed(number)(Machine)
        Machine.run(settings=settings)
        if followed.keys() >= LINKED:
            break
    assert followed.keys() >= LINKED, followed
