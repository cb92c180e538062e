"""Conversion of messages, tools and tool ids between formats, without storage.

`http` has the routes, `queries` the conversions, which `turnkeep convert` uses too. They run the
same ledger and pipeline as a stored conversation (`replay.unstored`).
"""
