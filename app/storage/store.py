"""What can be read of conversations, as records, by noun. It cannot write: no noun has a method
for that."""

from sqlalchemy import Connection

from app.core.ledger.book import Book, whole_book
from app.core.ledger.slice import History
from app.storage.conversations import Conversations
from app.storage.damage import Damage
from app.storage.finding import Finder
from app.storage.ledger import Ledger
from app.storage.lookup import Lookup
from app.storage.stored import Stored
from app.storage.tools import ToolSets
from app.storage.turns import Turns


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
