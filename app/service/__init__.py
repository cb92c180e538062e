"""Commands and queries, a file for each, and what they share.

A command changes one conversation: `keys` says what it must know, `decide` turns the slice that the
writer has loaded into a change. It sees no connection, and may be asked to decide again. A query is
a plain function of a `ReadStore`.
"""
