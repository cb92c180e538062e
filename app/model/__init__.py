"""The values that everything else is made of: conversations, turns, blocks, errors, limits.

Start with `conversation` (what a turn is) and `errors` (what can be wrong with a request). `ids`
computes the names of calls and turns, `telling` has the wording of messages to callers, and
`json_values` the values of JSON, which keep numbers as they were written.

All of it is pure and imports nothing else of ours, so every other folder may use it.
"""
