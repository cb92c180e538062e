"""Conversations: create, list, read, change, erase.

`http` has the routes, `commands` the changes, `queries` the lists with their filters and pages,
`sql` the heads. A conversation is made by the first turn that is posted to it, or by hand.
"""
