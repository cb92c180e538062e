"""What can be read of conversations, as records, by noun. It cannot write: no noun has a method
for that."""

from sqlalchemy import Connection

from ..audit.sql import Lookup
from ..conversations.sql import Conversations
from ..ledger.book import Book, whole_book
from ..ledger.slice import History
from ..ledger.sql import Ledger
from ..search.sql import Finder
from ..tools.sql import ToolSets
from ..turns.sql import Turns
from ..verify.sql import Stored
from .damage import Damage


class ReadStore:
    """One tenant's conversations, in one snapshot. `searches`: words are kept and can be asked.
    `short`: long histories are not read."""

    def __init__(
        self,
        connection: Connection,
        tenant_id: str,
        *,
        searches: bool = True,
        short: bool = False,
    ) -> None:
        self.searches = searches
        self.tenant_id = tenant_id
        self._connection = connection
        self.conversations = Conversations(connection, tenant_id)
        self.turns = Turns(connection, tenant_id, short=short)
        self.ledger = Ledger(connection, tenant_id)
        self.tools = ToolSets(connection, tenant_id)
        self.lookup = Lookup(connection, tenant_id)
        self.finder = Finder(connection, tenant_id)
        self.damage = Damage(connection, tenant_id)
        self.stored = Stored(connection, tenant_id)

    def history(self, cid: str) -> History:
        """The whole conversation, if there is one."""
        head = self.conversations.head(cid)
        if head is None:
            return History(b"", (), {}, Book())
        return History(
            head.head_hash,
            self.turns.page(cid, payloads=False),
            self.ledger.links(cid),
            whole_book(record.call for record in self.ledger.calls(cid)),
        )
