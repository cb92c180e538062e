"""Conversations found by words, tools, providers and metadata.

`words` cuts text into words, `texts` takes the texts of a turn, `indexing` keeps both with a
conversation, `indexer` does that in the background, `sql` asks. Cutting and indexing takes longer
than an append, so it happens afterwards, and whoever searches waits until it is done.
"""
