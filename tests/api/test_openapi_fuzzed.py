"""schemathesis asks every operation for what the OpenAPI page allows, and for what it forbids.

All its checks must hold but one: that whatever the schema allows is accepted. The page leaves to
words what it cannot say in a schema (messages are those of their format, providers have names), and
such requests are refused with a 422 that the page declares.
"""

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from fastapi.testclient import TestClient
from schemathesis.checks import positive_data_acceptance

from app.main import create_app
from app.settings import Settings

EXAMPLES = 6
POSTED = {
    "provider": "openai",
    "turn_id": "t1",
    "messages": [{"role": "user", "content": "hello"}],
}
# What is asked for: what is stored, where an example has room for it, or anything at all.
STORED = {"cid": "c1", "turn_id": "t1"}
MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
PAGE = create_app(Settings(database_url="sqlite://")).openapi()
OPERATIONS = [
    (method, path)
    for path, item in PAGE["paths"].items()
    for method in item
    if method != "parameters"
]


@pytest.fixture
def page(sqlite_database_url: str) -> Iterator[Any]:
    # It asks for a host of its own.
    app = create_app(Settings(database_url=sqlite_database_url, allowed_hosts="*"))
    with TestClient(app) as http:
        assert http.post("/v1/conversations/c1/turns", json=POSTED).status_code == 201
        loaded = schemathesis.openapi.from_asgi("/openapi.json", app)
        # A condition that does not hold, and a body that is too large, are told before the rest.
        rejected = loaded.config.checks.negative_data_rejection
        rejected.expected_statuses = [*rejected.expected_statuses, "412", "413"]
        # Events go on for ever.
        loaded.config.max_stream_events = 1
        yield loaded


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_the_page_says_what_happens(page: Any, method: str, path: str) -> None:
    operation = page[path][method.upper()]
    takes_something = bool(operation.definition.raw.get("parameters")) or "{" in path
    takes_something = takes_something or "requestBody" in operation.definition.raw
    for mode in MODES if takes_something else MODES[:1]:
        for known in (STORED, {}) if "{" in path else ({},):
            _asked(operation, mode, known)


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
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    ask()
