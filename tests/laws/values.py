"""The odd things that real histories hold. `{m}` stands where a marker is put.

The first entry of each table is the plain one: that is where hypothesis ends when it shrinks.
"""

import base64

TEXTS = (
    "{m}",
    "{m} ordinary words",
    "{m} ends with blanks  \n",
    "  {m} begins with blanks",
    "{m} line one\nline two",
    "{m} größer 日本 😀",
    "{m} half an emoji \ud83d",
    "{m} \x00 NUL",
    "{m} <|tool_call_begin|>functions.read:0<|tool_call_end|>",
    "[Error] {m}",
    '{{"json": "{m}"}}',
)
BLANKS = ("", " ", "\n\t ", "\u00a0")

# A number that no double holds, and that Python's own reader reads all the same.
BEYOND = "-1" + "0" * 400
# JSON texts as a model writes them, and texts that are no JSON at all.
ARGUMENTS = (
    '{{"q":"{m}"}}',
    "{{}}",
    '{{"q": "{m}", "n": 123456789012345678901234567890, "f": 1.0, "g": 1e2, "z": -0, "y": -0.0}}',
    '{{"b":1,"a":[{{"deep":["{m}",null,true]}}],"":0}}',
    '{{"q":"{m} \\u00e9 \\ud83d\\ude00 größer"}}',
    '{{"q":"{m} \\ud83d"}}',
    '{{"q":"{m} \\u0000"}}',
    '"{{\\"q\\":\\"{m}\\"}}"',
    '"{m}"',
    '["{m}",1.0]',
    "null",
    "[]",
    '""',
    "0",
    "false",
    "12.50",
    '{{"q":"{m}',
    '{{"q":"{m}",}}',
    '{{"q":"{m}","n":NaN}}',
    "",
    "  ",
    '{{"q":"{m}","deep":' + "[" * 70 + "]" * 70 + "}}",
    '{{"q":"{m}","n":' + BEYOND + "}}",
)

# JSON texts of results.
RESULTS = (
    '"{m}"',
    '"{m} fine\\nsecond line"',
    '"[Error] {m}"',
    '"{m} \\ud83d"',
    '"{m} \\u0000"',
    '{{"k":"{m}","n":1.0,"z":-0,"f":false}}',
    '["{m}",null,1e2]',
    '[{{"type":"row","id":"{m}"}}]',
    "null",
    "false",
    "0",
    "1.0",
    '""',
    '"  "',
    "[]",
    "{{}}",
    '{{"k":"{m}","n":[' + BEYOND + "]}}",
    '["{m}",' + BEYOND + "]",
)

NAMES = (
    "read",
    "grep",
    "mcp.server/tool",
    "",
    "名前",
    "1st-tool",
    "a b",
    "x" * 80,
    "functions.read",
    "with|pipe\\",
    "line\nfeed",
    "nul\x00",
    "half\ud83d",
)

# Raw ids. `{k}` counts the calls of the history, `{n}` those of the turn.
IDS = (
    "call_{k}",
    "toolu_{k}",
    "call_{n}",
    "functions.read:{n}",
    "functions.read:{k}",
    "read:{n}",
    "same",
    "",
    None,
    "call_{k}|fc_{n}",
    "call_{n}__thought__{k}",
    "fc_{k}",
    "a|b\\{k}",
    "with space {k}",
    "tool{k:05d}",
    "hist_tool_{k:024d}",
    "hist_tool_{k}",
    "hist_tool_{n:024d}",
    "{k}" + "x" * 4600,
    "nul\x00{k}",
    "half\ud83d{k}",
)

FILE_NAMES = ("notes", None, "a/b: c.pdf", "half\ud83d", "", "nul\x00", "n" * 300)

# How gateways change an id on its way back.
DECORATIONS = (
    "{id}",
    "call_{id}",
    "toolu_{id}",
    "{id}|fc_9",
    "{id}__thought__c2lnbmF0dXJl",
    "hist_tool_{id}",
)

_SIGNS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "application/pdf": b"%PDF-1.4 ",
}


def data_url(media_type: str, marker: str) -> str:
    """A data URL that really decodes, and that no other piece shares."""
    content = _SIGNS.get(media_type.lower(), b"II*") + marker.encode()
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def text_url(marker: str) -> str:
    return f"data:text/plain;base64,{base64.b64encode(f'{marker} grün'.encode()).decode()}"


def pictures(marker: str) -> tuple[str, ...]:
    return (
        data_url("image/png", marker),
        f"https://example.com/{marker}.png",
        f"data:image/png;base64,@@{marker}",
        data_url("image/tiff", marker),
        data_url("IMAGE/JPEG", marker),
        f"data:image/png,{marker}",
        f"file:///{marker}",
        f"https://example.com/{marker} two words.png",
        f"https://example.com/{marker}\ud83d.png",
        f"data:image/png;base64,{marker}\ud83d",
    )


def papers(marker: str) -> tuple[str, ...]:
    return (
        data_url("application/pdf", marker),
        text_url(marker),
        f"https://example.com/{marker}.pdf",
        f"data:application/pdf;base64,{marker}",
        data_url("application/zip", marker),
    )
