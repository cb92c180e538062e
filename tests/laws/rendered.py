"""Digests of rendered histories; run as a program, those of a sample in a file.

Imports no judge: another process must be able to start quickly.
"""

import hashlib
import json
import sys
from pathlib import Path

from app.formats.registry import TARGETS
from tests.histories import posted


def digests(sample: list[list[str]]) -> list[str]:
    """One digest for each history, over its renders for all targets with their repairs."""
    lines = []
    for bodies in sample:
        history = posted(*bodies)
        renders = [history.render(target) for target in TARGETS]
        facts = repr([(render.raw, render.repairs) for render in renders])
        lines.append(hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest())
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(digests(json.loads(Path(sys.argv[1]).read_text()))))
