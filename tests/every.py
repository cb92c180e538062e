"""One test for many cases: to pytest a case of its own costs more than most of them ask."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import pytest

Test: TypeAlias = Callable[..., None]


def every(
    names: str | Sequence[str],
    cases: Iterable[Any],
    *,
    by: Callable[[Any], str] | None = None,
    label: Callable[[Any], str] = repr,
) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but all cases are one test, or one for each group of them.

    A failure names its case. `by` tells the group of a case. The other arguments of the test are
    the same for all cases of a group, fixtures too.
    """
    groups: dict[str, list[Any]] = {}
    for case in cases:
        groups.setdefault(by(case) if by else "", []).append(case)
    own = (names,) if isinstance(names, str) else tuple(names)

    def of(test: Test) -> Test:
        assert not inspect.iscoroutinefunction(test), "nobody would await it"

        @functools.wraps(test)
        def tried(group: str = "", **others: Any) -> None:
            skipped = []
            for case in groups[group]:
                values = (case,) if isinstance(names, str) else case
                try:
                    test(**dict(zip(own, values, strict=True)), **others)
                except pytest.skip.Exception as skip:
                    skipped.append(skip)
                # What `pytest.fail` raises is no Exception.
                except BaseException as failure:
                    failure.add_note(f"The case is {label(case)[:500]}")
                    raise
            if len(skipped) == len(groups[group]):
                raise skipped[-1]

        signature = inspect.signature(test)
        taken = [one for one in signature.parameters.values() if one.name not in own]
        if by:
            taken.append(inspect.Parameter("group", inspect.Parameter.KEYWORD_ONLY))
        vars(tried)["__signature__"] = signature.replace(parameters=taken)
        return pytest.mark.parametrize("group", groups)(tried) if by else tried

    return of
