"""Other stores of conversations, each in its own process and without HTTP.

They run in an environment of their own (`requirements-bench.lock`), so nothing here imports
Turnkeep. A peer has `append(session, message)` and `load(session)`, plain or async functions; what
`load` gives is what its own library hands to a model, as Python objects. All sync at commit:
SQLite's `synchronous` is FULL unless somebody changes it, and none of them does.
"""
