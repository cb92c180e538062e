"""`dataclass` for the values on the way of every turn: frozen for the type checker alone.

A class that is frozen at run time too takes four times as long to be made: each field is set by a
call. mypy refuses whoever changes one, in the program and in the tests.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses

    def dataclass(*, frozen: bool = False, **options: object) -> object:
        return dataclasses.dataclass(unsafe_hash=frozen, **options)


__all__ = ["dataclass"]
