"""`turnkeep convert`: the codecs without storage, for files and pipes."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from ..convert.queries import convert_messages, convert_tool_id, convert_tools
from ..formats.registry import CODECS, TARGETS
from ..jsontext.fields import objects
from ..jsontext.reading import loads, loads_object
from ..jsontext.writing import dumps_utf8
from ..model.errors import NotJson, TooLarge
from ..model.json_values import Json, JsonObject
from ..model.limits import Limits
from ..model.repairs import CODES
from ..replay.options import REASONINGS
from ..settings import SettingsError
from .flags import settings_of
from .text import complain

_FLAGS = ("from", "to", "model", "reasoning", "ready", "required", "description", "strict")
_SHOWN = 80
_NOTICE = (
    "The outcome goes to standard output: the JSON that POST /v1/convert/%s gives. What had to be\n"
    "changed or left out is summed up on standard error. Exit status: 0 done; 2 a rule is broken,\n"
    "and one line on standard error says where.\n"
)
_MESSAGES = """\
FILE holds the messages of a request (a list), a whole request of the source
(messages, system text, tools), or the body of POST /v1/convert/messages.

example:
  turnkeep convert messages --from openai --to anthropic history.json > request.json
"""
_TOOLS = """\
FILE holds the definitions of a request, a request of the source with its tools and
tool choice, or the body of POST /v1/convert/tools.

example:
  turnkeep convert tools --from anthropic --to openai < tools.json | jq .tools
"""
_TOOL_ID = """\
Ids are given as arguments, or one a line on standard input; each gives a line {"id": …}.

example:
  turnkeep convert tool-id --to anthropic call_abc123
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "convert",
        description="Converts from one provider's shape to another's. Nothing is stored.",
    )
    kinds = parser.add_subparsers(dest="kind", metavar="WHAT", required=True)
    messages = _kind(kinds, "messages", "a request of one wire into one of another", _MESSAGES)
    messages.add_argument("--model", metavar="NAME", help="the model that is to read the result")
    messages.add_argument(
        "--reasoning",
        metavar="HOW",
        help="{} (default: native to its issuer, else left out), {} or {}".format(*REASONINGS),
    )
    ready = "add what the wire needs so that the request can be sent as it is"
    messages.add_argument("--ready", action="store_true", default=None, help=ready)
    tools = _kind(kinds, "tools", "tool definitions of one wire into those of another", _TOOLS)
    tools.add_argument(
        "--required",
        metavar="HOW",
        help="keep or filter: whether properties that are optional in truth stay required",
    )
    tools.add_argument(
        "--description",
        metavar="HOW",
        help="keep or filter (default): whether tools of OpenAI's shapes need a description",
    )
    strict = "refuse all definitions when one of them cannot be used"
    tools.add_argument("--strict", action="store_true", default=None, help=strict)
    tool_id = kinds.add_parser(
        "tool-id",
        help="swap the prefix of tool ids",
        description="Swaps the prefix of tool ids.",
        epilog=_TOOL_ID,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    tool_id.add_argument(
        "--to",
        required=True,
        metavar="WIRE",
        help="openai (call_…), history (hist_tool_…) or anthropic (toolu_…)",
    )
    tool_id.add_argument("ids", nargs="*", metavar="ID", help="ids (default: standard input)")
    tool_id.set_defaults(run=_run_tool_id)


def _kind(
    kinds: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str, more: str
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(
        name,
        help=what,
        description=f"Converts {what}.",
        epilog=f"{more}\n{_NOTICE % name}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = f"one of {', '.join(TARGETS)}"
    parser.add_argument("--from", metavar="WIRE", help=f"the shape of the input: {known}")
    parser.add_argument("--to", metavar="WIRE", help=f"the shape of the outcome: {known}")
    what_file = "what to convert (default -: standard input)"
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help=what_file)
    parser.set_defaults(run=_run)
    return parser


def _run(args: argparse.Namespace) -> int:
    limits = settings_of(args).limits
    given: JsonObject = {
        flag: value for flag in _FLAGS if (value := getattr(args, flag, None)) is not None
    }
    text = _read(args.file, limits)
    if args.kind == "messages":
        members, texts = loads_object(_as_object(text, limits), limits)
        outcome = convert_messages(members | given, texts, limits)
    else:
        outcome = convert_tools(_tool_members(loads(text, limits), given), limits)
    _write(outcome)
    for line in _summary(outcome):
        complain(line)
    return 0


def _as_object(text: str, limits: Limits) -> str:
    """A bare list as the body that it is short for; its elements keep their very text."""
    if not text.lstrip().startswith("["):
        return text
    loads(text, limits)
    return f'{{"messages":{text}}}'


def _tool_members(value: Json, given: JsonObject) -> JsonObject:
    """Definitions alone, or a body or request that holds them; the rest of a request is no tool."""
    source = given.get("from", value.get("from") if isinstance(value, dict) else None)
    codec = CODECS.get(source) if isinstance(source, str) else None
    own = codec.tools.members if codec else ()
    if not isinstance(value, dict) or not any(key in value for key in ("tools", *own)):
        return {"tools": value} | given
    if codec and codec.tools.config and codec.tools.choice[0] in value:
        return {codec.tools.config: value} | given
    beside = ("model", *(codec.keys if codec else ()))
    return {key: member for key, member in value.items() if key not in beside} | given


def _run_tool_id(args: argparse.Namespace) -> int:
    ids = args.ids
    if not ids:
        lines = _read("-", settings_of(args).limits).split("\n")
        ids = [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
    _write(*(convert_tool_id({"id": one, "to": args.to}) for one in ids))
    return 0


def _read(file: str, limits: Limits) -> str:
    """A file or standard input, up to the limit that bodies have."""
    most = limits.body_bytes
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as opened:
            content = opened.read(most + 1)
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    if len(content) > most:
        raise TooLarge("body_bytes", most)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotJson(f"The input is not UTF-8 at byte {error.start}.") from None


def _write(*outcomes: JsonObject) -> None:
    try:
        sys.stdout.buffer.write(b"".join(dumps_utf8(outcome) + b"\n" for outcome in outcomes))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has seen enough (`| head`); without this Python complains once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _summary(outcome: JsonObject) -> Iterator[str]:
    """A line for each tool that is left out, and one for each kind of change."""
    for dropped in objects(outcome.get("dropped")):
        name = "" if dropped["name"] is None else f" {str(dropped['name'])[:_SHOWN]!r}"
        yield f"tool {dropped['index']}{name} is left out: {dropped['reason']}"
    changes = [*objects(outcome.get("repairs")), *objects(outcome.get("notes"))]
    # Codes of repairs are explained; a note on what was read says itself what it is about.
    told = {str(change["code"]): str(change["detail"]) for change in changes} | CODES
    for code, count in Counter(str(change["code"]) for change in changes).items():
        yield f"{code} ({count}): {told[code]}"
