"""Every id, hash and mapping of a conversation, computed again and compared.

`queries.verify` is the way in; `rowchecks` compares the rows that the chain of hashes does not
hold, `sql` reads them column by column, because they may be damaged. The route is that of
`conversations/`. It uses `search/` to compute the words that must be there.
"""
