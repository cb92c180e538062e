"""Turns: append them from messages, responses or streams; list and read them.

`http` reads headers and body, `posting` makes drafts of them, `turnform` encodes and hashes these
before the writer's turn comes, `commands` decides on ids and results, `receipts` says what was
stored. `streaming` and `responses` make a turn of what a provider sent. `queries` and `sql` read.

What takes long is done before the command reaches the writer, because commands wait for each other.
"""
