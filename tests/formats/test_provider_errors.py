import pytest

from app.formats.shared.errors import error_type
from app.model.json_values import Json

ERRORS: dict[str, tuple[Json, str]] = {
    "openai": (
        {"error": {"message": "No.", "type": "invalid_request_error", "code": "too_long"}},
        "invalid_request_error",
    ),
    "openai without a type": ({"error": {"message": "No.", "type": None, "code": 401}}, "401"),
    "ollama": ({"error": "model 'x' not found"}, ""),
    "openrouter": ({"error": {"code": 429, "message": "No."}, "user_id": "u"}, "429"),
    "anthropic": (
        {"type": "error", "error": {"type": "overloaded_error", "message": "No."}},
        "overloaded_error",
    ),
    "gemini": ({"error": {"code": 400, "status": "INVALID_ARGUMENT"}}, "INVALID_ARGUMENT"),
    "gemini, streaming": ([{"error": {"code": 503, "status": "UNAVAILABLE"}}], "UNAVAILABLE"),
    "botocore": (
        {"Error": {"Code": "ThrottlingException", "Message": "No."}, "ResponseMetadata": {}},
        "ThrottlingException",
    ),
    "aws": ({"__type": "com.amazon.coral#AccessDenied:http", "Message": "No."}, "AccessDenied"),
    "aws behind a header": ({"message": "No."}, ""),
    "mistral": (
        {"object": "error", "message": "No.", "type": "invalid_model", "code": "1500"},
        "invalid_model",
    ),
    "mistral's validation": ({"detail": [{"loc": ["body"], "msg": "No.", "type": "missing"}]}, ""),
    "dashscope": (
        {"code": "InvalidParameter", "message": "No.", "request_id": "r"},
        "InvalidParameter",
    ),
    "a sentence for a type": ({"error": {"type": "You said: SECRET"}}, ""),
}
OTHERS: list[Json] = [
    None, "error", [], {}, {"error": None}, {"error": {}}, {"error": ""}, {"message": {}},
    {"role": "assistant", "message": "x"}, {"detail": "x", "content": []}, [{}, {}],
    {"type": "message", "content": []}, {"error": None, "choices": []},
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_known_by_its_shape_and_told_by_its_type(body: Json, kind: str) -> None:
    assert error_type(body) == kind


@pytest.mark.parametrize("body", OTHERS)
def test_anything_else_is_no_error(body: Json) -> None:
    assert error_type(body) is None
