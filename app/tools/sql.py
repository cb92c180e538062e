"""Tool definitions, by the version from which on they were in force."""

from sqlalchemy import bindparam, select

from ..database.rows import TOOL_SET
from ..database.scope import Scope, owned
from ..database.tables import tool_sets
from ..ledger.records import ToolSetRecord

_TOOL_SET = (
    select(*TOOL_SET)
    .where(owned(tool_sets), tool_sets.c.at_version <= bindparam("until"))
    .order_by(tool_sets.c.number.desc())
    .limit(1)
)
_TOOL_SETS = select(*TOOL_SET).where(owned(tool_sets)).order_by(tool_sets.c.number)


class ToolSets(Scope):
    """The stored tool definitions."""

    def at(self, cid: str, until: int) -> ToolSetRecord | None:
        """The tool definitions that were in force at a version of the conversation."""
        row = self._run(_TOOL_SET, cid, until=until).one_or_none()
        return ToolSetRecord(*row) if row else None

    def every(self, cid: str) -> list[ToolSetRecord]:
        """All tool definitions that were ever in force, oldest first."""
        return [ToolSetRecord(*row) for row in self._run(_TOOL_SETS, cid)]
