"""JSON Schema between wires: what is rewritten never refuses an input that was accepted before.

`required` is filtered as agents' definitions need it (many mark everything as required), formats a
target does not know are taken out, combinations it refuses at the top are loosened. Each change is
reported by a note; properties are never lost.

Words of older drafts are put in those of draft 2020-12, which say the same, and only where that
does not allow them: lists of `items` (now `prefixItems`) and `exclusiveMinimum: true` (now the
number itself). Such a schema does not say any longer that it is of the older draft.
"""

from typing import Final, cast

from ..formats.shared.walk import CONDITIONS, inner_schemas, mapped
from ..model.json_values import Json, JsonObject

# The formats that OpenAI documents for function schemas.
OPENAI_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
OPTIONAL_WORDS: Final = (
    "optional",
    "defaults to",
    "if not specified",
    "set to true to",
    "set to false to",
    "if provided",
    "when provided",
    "can be omitted",
    "not required",
    "only provide if",
)
# OpenAI's answers to strict tools: "In context=(…), 'allOf' is not permitted", "$ref cannot have
# keywords {'description'}".
_NEVER_STRICT: Final = (*CONDITIONS, "allOf", "oneOf", "dependentRequired", "dependentSchemas")
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def with_filtered_required(schema: JsonObject) -> JsonObject:
    """`required` without what is optional in truth, at every depth, in the order it had."""
    words = ("not", "if", "oneOf", "contains")
    turned = any(word in one for one in inner_schemas(schema) for word in words)
    # Without such words definitions are only used where looser ones make a looser whole.
    return mapped(schema, _filter_required, loosens=turned)


def _filter_required(schema: JsonObject) -> JsonObject:
    required = schema.get("required")
    properties = schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return schema
    kept: list[Json] = [
        name
        for name in required
        if not isinstance(name, str) or not is_optional(properties.get(name))
    ]
    return schema | {"required": kept}


def is_optional(schema: Json) -> bool:
    """Whether a property that is marked as required is a flag, has a default, or says so."""
    if not isinstance(schema, dict):
        return False
    if "default" in schema or schema.get("nullable") is True or schema.get("type") == "boolean":
        return True
    description = schema.get("description")
    said = description.lower() if isinstance(description, str) else ""
    return any(words in said for words in OPTIONAL_WORDS)


def without_formats(schema: JsonObject, known: frozenset[str]) -> JsonObject:
    """The schema without formats that a target does not know."""

    def change(inner: JsonObject) -> JsonObject:
        unknown = isinstance(inner.get("format"), str) and inner["format"] not in known
        return without_top(inner, ("format",)) if unknown else inner

    return mapped(schema, change)


def without_top(schema: JsonObject, words: tuple[str, ...]) -> JsonObject:
    """The schema without some of the words at its top: it then accepts more than before."""
    return {key: value for key, value in schema.items() if key not in words}


def lone_reference(schema: JsonObject) -> JsonObject:
    """A reference stands alone; what stood beside it stands around it and says the same."""
    words = [key for key in schema if not key.startswith("$")]
    if "$ref" not in schema or not words or "anyOf" in schema:
        return schema
    return without_top(schema, ("$ref",)) | {"anyOf": [{"$ref": schema["$ref"]}]}


def typed_branches(schema: JsonObject) -> JsonObject:
    """`type` inside every branch of anyOf and oneOf instead of beside them."""
    words = [word for word in ("anyOf", "oneOf") if isinstance(schema.get(word), list)]
    if "type" not in schema or not words:
        return schema
    moved: JsonObject = {}
    for word in words:
        branches = [_typed(one, schema["type"]) for one in cast("list[Json]", schema[word])]
        if None in branches:
            return schema
        moved[word] = branches
    return without_top(schema, ("type",)) | moved


def _typed(branch: Json, kind: Json) -> Json:
    """The branch with the type; None where that cannot be said by adding it."""
    if branch is True:
        return {"type": kind}
    if not isinstance(branch, dict):
        return None
    own = branch.get("type", kind)
    kinds = [*kind] if isinstance(kind, list) else [kind]
    if "number" in kinds:
        kinds.append("integer")
    fits = all(one in kinds for one in (own if isinstance(own, list) else [own]))
    return {"type": own, **branch} if fits else None


def is_strict(schema: JsonObject) -> bool:
    """OpenAI's rules for strict tools: objects are closed, require all, and are not combined.

    They must hold of the schema, and of every schema inside it.
    """
    if any(word in schema for word in _NEVER_STRICT) or ("$ref" in schema and len(schema) > 1):
        return False
    properties = schema.get("properties")
    if schema.get("type") != "object" and not isinstance(properties, dict):
        return True
    names = list(properties) if isinstance(properties, dict) else []
    required = schema.get("required", [])
    if schema.get("additionalProperties") is not False or not isinstance(required, list):
        return False
    return set(names) == {name for name in required if isinstance(name, str)}


def in_present_draft(schema: JsonObject) -> JsonObject:
    """The schema itself, unless it has words of older drafts."""
    changed = mapped(schema, _changed)
    if changed != schema and "$schema" in changed:
        changed["$schema"] = _DRAFT
    return changed


def _changed(schema: JsonObject) -> JsonObject:
    schema = _with_bounds(schema)
    items = schema.get("items")
    if not isinstance(items, list):
        return schema
    rest = schema.get("additionalItems")
    plain = without_top(schema, ("items", "additionalItems"))
    if items:
        plain["prefixItems"] = [_inner(one) for one in items]
    return plain if rest is None else plain | {"items": _inner(rest)}


def _inner(value: Json) -> Json:
    return mapped(value, _changed) if isinstance(value, dict) else value


def _with_bounds(schema: JsonObject) -> JsonObject:
    for word, bound in _BOUNDS:
        said = schema.get(word)
        if isinstance(said, bool):
            gone = (word, bound) if said and bound in schema else (word,)
            moved: JsonObject = {word: schema[bound]} if len(gone) > 1 else {}
            schema = without_top(schema, gone) | moved
    return schema
