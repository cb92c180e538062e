"""Where the command begins.

While modules are loaded hardly anything becomes garbage, and to look for it takes a sixth of the
time. So it is not looked for until they are.
"""

import gc
from importlib import import_module


def main() -> int:
    gc.disable()
    cli = import_module("app.cli")
    gc.enable()
    status: int = cli.main()
    return status
