"""What an audit shows of calls and results: whole while they are short, else their beginning.

The rest stands in the turn. A cut always says so, and how long the whole is.
"""

from ..formats.neutral.blocks import block_json
from ..formats.shared.placeholders import value_text
from ..jsontext.arguments import as_given
from ..jsontext.writing import dumps_utf8
from ..model.conversation import Text, ToolResult
from ..model.json_values import JsonObject

# Characters of a call's arguments, and of a result, that are shown.
SHOWN = 16_384


def given_excerpt(arguments: str) -> JsonObject:
    """`parameters` or `arguments`; of long ones the beginning of the text and the size."""
    if len(arguments) <= SHOWN:
        return as_given(arguments)
    return {"arguments": arguments[:SHOWN], "arguments_size": len(arguments), "arguments_cut": True}


def result_excerpt(result: ToolResult) -> JsonObject:
    """`result` or `content` as stored; of long ones `text`, the beginning of their words.

    `size` counts the characters of a text, or of the JSON of anything else.
    """
    shown: JsonObject
    if result.parts is None:
        said = words = value_text(result.result)
        shown = {"result": result.result}
    else:
        shown = {"content": [block_json(part) for part in result.parts]}
        said = dumps_utf8(shown["content"]).decode()
        words = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    error = result.error or ""
    cut = len(said) > SHOWN or len(error) > SHOWN
    if len(said) > SHOWN:
        shown = {"text": words[:SHOWN]}
    if error:
        shown["error"] = error[:SHOWN]
    return {**shown, "size": len(said), "cut": cut}
