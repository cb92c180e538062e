"""Where the command begins.

While modules are loaded hardly anything becomes garbage, and to look for it takes a sixth of the
time. So it is not looked for until they are, and what they are made of is not looked at later.
"""

import gc
from importlib import import_module
from typing import Any


def loaded(name: str) -> Any:
    """A module that is loaded when it is needed, by its name inside this package: `.cli`."""
    gc.disable()
    try:
        return import_module(name, __package__)
    finally:
        gc.freeze()
        gc.enable()


def main() -> int:
    status: int = loaded(".cli").main()
    return status
