"""What is wrong with a text that is not JSON, and where."""

from json import JSONDecodeError

# By how the words of Python's decoder begin.
_WORDS = {
    "Expecting value": "a value is missing",
    "Expecting property name": "a member name in double quotes is missing",
    "Expecting ':'": "a colon is missing",
    "Expecting ','": "a comma or a closing bracket is missing",
    "Expecting '{'": "an object must begin",
    "Unterminated string": "a string begins here and does not end",
    "Invalid control character": "a control character must be escaped",
    "Invalid \\": "an escape is wrong",
    "Illegal trailing comma": "a comma must not stand before a closing bracket",
    "Extra data": "nothing may follow the JSON value",
}


def told(error: JSONDecodeError) -> str:
    """One sentence with line and column."""
    why = next((ours for theirs, ours in _WORDS.items() if error.msg.startswith(theirs)), error.msg)
    place = f"line {error.lineno}, column {error.colno}"
    if error.pos >= len(error.doc.rstrip()):
        return f"The JSON breaks off at {place}: {why}."
    return f"The JSON is broken at {place}: {why}."
