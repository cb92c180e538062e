"""The watch over responses sees what it must see (`tests/shapes.py`)."""

from typing import Any

import pytest
from fastapi import FastAPI, Response
from fastapi.testclient import TestClient
from pydantic import TypeAdapter

from app.edge.documented import refusals
from app.edge.problems import problem
from app.edge.shapes import Out, ProblemOut
from tests.http_api import Api, user
from tests.shapes import WrongShape


class _ShapeOut(Out):
    number: int


def answering(content: bytes, status: int = 200, **declared: Any) -> TestClient:
    """A service with one route, which answers with this."""
    app = FastAPI()

    @app.get("/", response_model=_ShapeOut, **declared)
    def answer() -> Response:
        return Response(content, status, media_type="application/json")

    @app.get("/problem", responses=refusals(404), response_model=_ShapeOut)
    def refuse() -> Response:
        return problem(status, "not_found", "Nothing", "Nothing is here.", {"stray": "fact"})

    return TestClient(app)


def test_what_the_model_says_passes() -> None:
    assert answering(b'{"number": 1}').get("/").status_code == 200


@pytest.mark.parametrize(
    "content", [b"{}", b'{"number": "1"}', b'{"number": null}', b'{"number": 1, "more": 2}', b"[]"]
)
def test_another_shape_fails(content: bytes) -> None:
    with pytest.raises(WrongShape, match="GET / 200"):
        answering(content).get("/")


def test_a_status_without_a_model_fails() -> None:
    with pytest.raises(WrongShape, match="no model for this status"):
        answering(b'{"number": 1}', 202).get("/")
    answering(b'{"number": 1}', 202, responses={202: {"model": _ShapeOut}}).get("/")


def test_a_fact_that_the_model_of_problems_does_not_name_fails() -> None:
    with pytest.raises(WrongShape, match="stray"):
        answering(b"", 404).get("/problem")


def test_an_error_that_is_no_problem_fails() -> None:
    with pytest.raises(WrongShape):
        answering(b'{"detail": "no"}', 404).get("/")


def test_the_page_promises_no_more_than_the_models(lite: Api) -> None:
    """Members may be added later; what may be left out has no default that nobody sends."""
    schemas = lite.http.get("/openapi.json").json()["components"]["schemas"]
    shown = {name: schema for name, schema in schemas.items() if name.endswith("Out")}
    assert len(shown) > 30
    for name, schema in shown.items():
        assert "additionalProperties" not in schema, name
        assert not any("default" in one for one in schema["properties"].values()), name


def test_every_error_has_facts_that_the_model_names(lite: Api) -> None:
    taken = lite.post(user("a"), turn_id="t1")
    assert taken.status_code == 201
    refused = lite.post(user("b"), turn_id="t1").json()
    assert TypeAdapter(ProblemOut).validate_python(refused).turn_ids == ["t1"]
