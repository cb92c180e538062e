"""Calls and results that a provider takes back together or not at all.

The provider runs its own tools, and the caller runs some for it (a shell, a computer); neither are
calls of the ledger. Both halves may be in one turn or in two:

    assistant: shell_call(a)   user: shell_call_output(a)    both are shown
    assistant: shell_call(a)   user: "wait"                  the call is left out until a comes
    assistant: web_search(b)   user: "wait"                  left out: its result cannot come now

Code that the provider runs may call tools of the caller. It waits for their results, and the
provider wants to see it with them:

    assistant: code(c), read(by c)   user: result of read    both are shown, as long as c waits
"""

from collections.abc import Iterator, Sequence

from ..ledger.pairing import Step
from ..model.conversation import Opaque
from .blocks import Showing


class OpenCalls:
    """The calls whose results have not come, while steps go by."""

    def __init__(self, showing: Showing) -> None:
        self._showing = showing
        self._calls: dict[str, Opaque] = {}
        self._by_client: set[str] = set()
        # Those that wait for the results of calls that they made.
        self._waiting: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, step: Step) -> Iterator[tuple[Opaque, Opaque]]:
        """Goes on to a step. Returns the pairs that it completes."""
        has_opaque = any(isinstance(one.block, Opaque) for one in step.items)
        if not has_opaque and not self._calls:
            return
        if step.role == "human" and not has_opaque:
            self._calls = {key: self._calls[key] for key in self._calls if key in self._by_client}
        for item in step.items:
            block = item.block
            if not isinstance(block, Opaque):
                continue
            half = self._showing.profile.half(block)
            if half is None or not self._showing.may_return(block, item, step.role):
                continue
            if not half.is_result:
                self._calls[half.key] = block
                if half.by_client:
                    self._by_client.add(half.key)
            elif (call := self._calls.pop(half.key, None)) is not None:
                yield call, block
        if step.items and not self._showing.options.is_flat:
            made = {self._showing.caller(item) for item in step.items if step.role == "ai"}
            self._waiting = {key for key in made if key in self._calls}

    def waiting(self) -> Iterator[Opaque]:
        """The calls that wait for the results of calls that they made."""
        return (self._calls[key] for key in self._waiting)


def whole_pairs(steps: Sequence[Step], showing: Showing) -> set[int]:
    """The ids of all opaque blocks in these steps whose other half is there too, or yet to come."""
    calls = OpenCalls(showing)
    pairs = {id(half) for step in steps for pair in calls.take(step) for half in pair}
    return pairs.union(map(id, calls.waiting()))
