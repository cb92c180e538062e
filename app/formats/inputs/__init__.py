"""The input types of the providers' SDKs, as data: one JSON file per target.

`tests/home/generate.py` writes the files from the installed SDKs; the service needs none of them.
"""

import pkgutil
from functools import cache

import orjson

from ..shared.inputs import InputTypes


@cache
def input_types(target: str) -> InputTypes | None:
    """The input types of a target; None where its provider has no SDK of its own."""
    try:
        data = pkgutil.get_data(__name__, f"{target}.json")
    except FileNotFoundError:
        return None
    return InputTypes(orjson.loads(data)) if data else None
