"""Import and export of whole histories.

`importers/` has one file per kind of session file, `planning` reads a history into turns,
`commands` stores it in batches and nothing twice, `queries` exports, `versions` keeps the order in
which things came. The same file imported again adds only what is new.
"""
