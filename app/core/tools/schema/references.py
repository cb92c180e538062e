"""References inside a schema. None is ever fetched: what leads out of the schema stays open."""

from app.core.json.text import Json, JsonObject
from app.core.tools.schema.walk import inner_schemas


def resolved(root: JsonObject, reference: str) -> JsonObject | None:
    """What a pointer into the same schema leads to; nothing is ever fetched."""
    if not reference.startswith("#/"):
        return None
    found: Json = root
    for step in reference.removeprefix("#/").split("/"):
        if not isinstance(found, dict):
            return None
        found = found.get(step.replace("~1", "/").replace("~0", "~"))
    # A schema with an address of its own has references of its own.
    return found if isinstance(found, dict) and "$id" not in found else None


def open_references(schema: JsonObject) -> list[str]:
    """References that lead nowhere in the schema itself, each once."""
    parts = list(inner_schemas(schema))
    said = (one.get(key) for one in parts for key in ("$ref", "$dynamicRef"))
    found = dict.fromkeys(reference for reference in said if isinstance(reference, str))
    if not found or any("$id" in one for one in parts):
        return []
    anchors = {one.get("$anchor", one.get("$dynamicAnchor")) for one in parts}
    return [
        reference
        for reference in found
        if reference != "#"
        and resolved(schema, reference) is None
        and reference.removeprefix("#") not in anchors
    ]
