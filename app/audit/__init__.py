"""Tool calls and ids: the calls of a conversation, and where any id is known.

`http` has the routes, `queries` lists the calls with all their names and states, `lookup` says what
an id is, `sql` finds it by index. `excerpts` cuts what is long.

It uses `verify/` to say whether a conversation is damaged.
"""
