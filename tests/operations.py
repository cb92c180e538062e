"""How much work something is, whatever the machine: the function calls that it takes."""

from collections.abc import Callable
from cProfile import Profile


def operations(work: Callable[[], object]) -> int:
    """The calls, those of built-in functions too."""
    profile = Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
