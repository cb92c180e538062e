"""Which call a result belongs to, and the ids of both.

`append.enter` gives the calls of a turn their ids and finds the calls of its results; `book` has
the calls and results of a conversation, `rules` the order in which a result looks for its call, and
`pairing` puts results behind their calls for a replay. `slice` has what a command sees of a
conversation and the change that it decides on; `records` are the rows as values.

POST, import, sync, convert and verify use the same procedure, so that they agree.
"""
