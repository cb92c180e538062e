"""JSON text in and out: nothing that was written changes, and nothing is read unnoticed.

`reading` reads what callers post, `plain` what is stored, `writing` writes both, and `fields` is
how a codec asks for the members of an object. Python's own reader is not enough: it changes
numbers, accepts members that are given twice, and holds the interpreter's lock while it reads a
long text.
"""
