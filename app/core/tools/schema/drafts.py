"""Words of older drafts of JSON Schema in those of draft 2020-12, which say the same.

Only what the present draft does not allow is rewritten: lists of `items` (now `prefixItems`) and
`exclusiveMinimum: true` (now the number itself). Such a schema does not say any longer that it is
of the older draft.
"""

from app.core.json.text import Json, JsonObject
from app.core.tools.schema.walk import mapped

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


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
    plain: JsonObject = {
        key: member for key, member in schema.items() if key not in ("items", "additionalItems")
    }
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
            kept: JsonObject = {key: value for key, value in schema.items() if key not in gone}
            schema = kept | ({word: schema[bound]} if len(gone) > 1 else {})
    return schema
