"""The zoo: every way in which a stored history is known to break, and the proof that ours does not.

`cases/` has one module per failure class, `spoken` the words to tell a history in, `expecting` the
words to say what must come of it, `laws` what must hold for all of them.
"""
