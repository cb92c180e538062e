"""Names of members: Google's REST says camelCase, its Python SDK snake_case; both are read."""

import re

from ...model.json_values import Json, JsonObject
from ..shared.reading import names

# google-genai's Candidate: its content, and what is said about it.
CANDIDATE = names(
    "content citation_metadata finish_message token_count finish_reason grounding_metadata"
    " avg_logprobs index logprobs_result safety_ratings url_context_metadata continuation_token"
)
_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")


def member(members: JsonObject, name: str) -> Json:
    """A member under its snake_case or camelCase name."""
    value = members.get(name)
    return value if value is not None else members.get(camel(name))


def both(name: str) -> tuple[str, str]:
    """A name as the SDK and as the wire writes it."""
    return name, camel(name)


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def snake(name: str) -> str:
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def snake_keys(value: Json) -> Json:
    """The same value with its members' names in snake_case, at any depth."""
    match value:
        case list():
            return [snake_keys(one) for one in value]
        case dict():
            return {snake(key): snake_keys(one) for key, one in value.items()}
        case _:
            return value
