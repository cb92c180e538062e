"""The tables of docs/providers.md, written from what the codecs say of their wires."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from app.formats.registry import CODECS
from app.formats.shared.codec import Codec, Prefixed
from app.formats.shared.profile import Profile
from app.formats.shared.tool_rules import ToolRules
from app.formats.shared.walk import COMBINATIONS
from app.model.ids import CANONICAL_PREFIX
from tests.histories import said

Row: TypeAlias = tuple[str, Callable[[str, Codec], str], str]

_RESULTS = {
    "each": "a message each",
    "together": "all in one message",
    "user": "first in the next user message",
}
_LAST = {"anybody": "any", "user": "user or tool", "prefix": "user, tool, or a marked prefix"}


def glance() -> str:
    """One line for each target."""
    head = (
        *("target", "posted members", "… for tools", "members of `request`", "ids", "results"),
        *("first message", "last message, when sent", "system turns inside"),
    )
    return _table(head, (_glance(target, codec) for target, codec in CODECS.items()))


def _glance(target: str, codec: Codec) -> list[str]:
    profile = codec.profile
    inside = "in line" if profile.inner_system == "inline" else "user text"
    return [
        f"`{target}`",
        _names(codec.keys),
        _names(codec.tools.members),
        _names([*codec.keys[: profile.system == "beside"], codec.messages]),
        _ids(codec),
        "as recorded" if profile.verbatim else _RESULTS[profile.results],
        "user" if profile.first_user else "any",
        _LAST[profile.last],
        "as recorded" if profile.verbatim else inside,
    ]


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _ids(codec: Codec) -> str:
    if not isinstance(codec.ids, Prefixed):
        return codec.ids.form
    return "canonical" if codec.ids.prefix == CANONICAL_PREFIX else f"`{codec.ids.prefix}…`"


def blocks() -> str:
    """What becomes of each block; targets with the same column share it."""
    return _by_target(_BLOCKS, last="code")


def definitions() -> str:
    """What becomes of tool definitions, likewise."""
    return _by_target(_DEFINITIONS)


def _all(text: str) -> Callable[[str, Codec], str]:
    return lambda target, codec: text


def _of(holds: Callable[[Profile], object], yes: str, no: str) -> Callable[[str, Codec], str]:
    return lambda target, codec: yes if holds(codec.profile) else no


def _takes(*media_types: str) -> Callable[[str, Codec], str]:
    wanted = set(media_types)
    return _of(lambda one: wanted <= (one.images | one.files), "native", "text")


def _image_address(target: str, codec: Codec) -> str:
    return "native" if "url" in codec.profile.images else "text"


def _file_address(target: str, codec: Codec) -> str:
    return "native" if "url" in codec.profile.files else "text"


def _in_result(media_type: str) -> Callable[[str, Codec], str]:
    def fate(target: str, codec: Codec) -> str:
        if media_type not in codec.profile.images | codec.profile.files:
            return "text"
        return "native" if codec.profile.result_media else "moved"

    return fate


def _value(target: str, codec: Codec) -> str:
    """Looked up in a render: a wire may have a place for values, but not for all of them."""
    turns: list[dict[str, object]] = [
        {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "c", "name": "f"}]},
        {"speaker": "tool", "blocks": [{"type": "tool_result", "call_id": "c", "result": [7, 8]}]},
    ]
    done = said(*turns).render(target)
    if "RESULT_WRAPPED" in done.codes:
        return "wrapped"
    return "JSON text" if b'"[7,8]"' in done.raw else "native"


_SHEETS = ("text/csv", "application/msword", "text/html", "text/markdown")
_OMITTED = "`BLOCK_OMITTED`, `SERVER_TOOL_DROPPED`"
_BLOCKS: tuple[Row, ...] = (
    ("text", _all("native"), ""),
    ("leading system text", _all("native"), ""),
    (
        "system text inside",
        _of(lambda one: one.inner_system == "inline", "native", "text"),
        "`SYSTEM_DEMOTED`",
    ),
    ("image PNG, JPEG", _takes("image/png", "image/jpeg"), "`IMAGE_OMITTED`"),
    ("image WebP", _takes("image/webp"), "`IMAGE_OMITTED`"),
    ("image GIF", _takes("image/gif"), "`IMAGE_OMITTED`"),
    ("image address", _image_address, "`IMAGE_OMITTED`"),
    ("image said by the model", _all("text"), "`IMAGE_OMITTED`"),
    ("image in a result", _in_result("image/png"), "`IMAGE_RELOCATED`"),
    ("file PDF", _takes("application/pdf"), "`FILE_OMITTED`"),
    ("file plain text", _takes("text/plain"), "`FILE_OMITTED`"),
    ("file CSV, Word, Excel, HTML, Markdown", _takes(*_SHEETS), "`FILE_OMITTED`"),
    ("file address", _file_address, "`FILE_OMITTED`"),
    ("PDF in a result", _in_result("application/pdf"), "`IMAGE_RELOCATED`"),
    ("thinking, own ¹", _of(lambda one: one.thinking, "native", "out"), "`THINKING_DROPPED`"),
    ("thinking, others' ²", _all("out"), "`THINKING_DROPPED`"),
    ("tool_call", _all("native"), ""),
    ("tool_result, text", _all("native"), ""),
    ("… an object", _of(lambda one: one.value_results, "native", "JSON text"), ""),
    ("… another value", _value, "`RESULT_WRAPPED`"),
    (
        "… empty",
        _of(lambda one: one.blank_results, "native", "text"),
        "`EMPTY_RESULT_PLACEHOLDER`",
    ),
    ("… failed", _of(lambda one: one.error_flag, "native", "`[Error] `"), ""),
    ("… denied, interrupted, unknown, missing", _all("text"), "`SYNTH_RESULT`"),
    ("… without its call", _all("text"), "`ORPHAN_RESULT`"),
    (
        "opaque, own ³",
        _of(
            lambda one: one.home or one.keeps_opaque is not Profile().keeps_opaque, "native", "out"
        ),
        _OMITTED,
    ),
    ("opaque, others'", _all("out"), _OMITTED),
)


def _if(holds: Callable[[ToolRules], object], yes: str, no: str) -> Callable[[str, Codec], str]:
    return lambda target, codec: yes if holds(codec.tools) else no


def _most(target: str, codec: Codec) -> str:
    return "any" if codec.tools.most is None else str(codec.tools.most)


_DEFINITIONS: tuple[Row, ...] = (
    ("a tool that another provider runs itself", _if(lambda one: one.hosted, "kept", "out"), ""),
    ("members that only another wire knows", _if(lambda one: one.hosted, "kept", "out"), ""),
    (
        "`required`, from Anthropic definitions",
        _if(lambda one: one.exacting, "filtered", "kept"),
        "",
    ),
    (
        "unknown `format`s, from Anthropic definitions",
        _if(lambda one: one.exacting, "out", "kept"),
        "",
    ),
    (
        "`oneOf`, `anyOf`, `allOf` at the top of a schema ¹",
        _if(lambda one: set(COMBINATIONS) <= set(one.refused_top), "joined", "kept"),
        "",
    ),
    (
        "`enum`, `not` at the top of a schema ¹",
        _if(lambda one: {"enum", "not"} <= set(one.refused_top), "out", "kept"),
        "",
    ),
    (
        "a missing `type: object`, or a `$ref`, at the top ¹",
        _if(lambda one: one.object_type, "filled in", "kept"),
        "",
    ),
    ("words beside a `$ref`", _if(lambda one: one.lone_refs, "around it", "kept"), ""),
    (
        "`type` beside `anyOf`, `oneOf`",
        _if(lambda one: one.typed_branches, "inside them", "kept"),
        "",
    ),
    ("`strict` ²", _if(lambda one: one.strict, "kept", "out"), ""),
    ("how many tools; those beyond are out", _most, ""),
    (
        "a property at the top whose name is not `[a-zA-Z0-9_.-]`, 1 to 64",
        _if(lambda one: one.keys, "the tool is out", "kept"),
        "",
    ),
    ('choice "none"', _if(lambda one: one.none, "kept", "as auto"), ""),
    ("a narrowed list of tools", _if(lambda one: one.allowed, "kept", "all offered"), ""),
    ("parallel calls on or off", _if(lambda one: one.parallel, "kept", "unsaid"), ""),
)


def _by_target(rows: tuple[Row, ...], last: str = "") -> str:
    columns: dict[tuple[str, ...], list[str]] = {}
    for target, codec in CODECS.items():
        if not codec.profile.verbatim:
            column = tuple(cell(target, codec) for _, cell, _ in rows)
            columns.setdefault(column, []).append(target)
    ends = [last] if last else []
    head = ["", *(", ".join(targets) for targets in columns.values()), *ends]
    lines = (
        [name, *(column[at] for column in columns), *([code] if last else [])]
        for at, (name, _, code) in enumerate(rows)
    )
    return _table(head, lines)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("|  |", "| |")


TABLES: Mapping[str, Callable[[], str]] = {
    "at a glance": glance,
    "blocks": blocks,
    "tool definitions": definitions,
}
