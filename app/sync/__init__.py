"""A runtime posts its whole list of messages; what is new in it is appended.

`messagelist` reads the list, `recognising` compares it with the stored history by what it says,
`commands` appends the rest. Ids are not enough to compare, because runtimes rename and repeat them.
The route is that of `turns/` (`mode=sync`).
"""
