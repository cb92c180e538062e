"""The reference of docs/command-line.md, written from the parsers; and its examples."""

import argparse
from collections.abc import Iterator

from app.cli import COMMANDS, GROUPS, parser_of

# They run one after the other, in a folder with a database that knows the conversation `trip`.
EXAMPLES = {
    "list": ["turnkeep list --q paris --limit 5", "turnkeep list --tool weather --json"],
    "show": ["turnkeep show trip --last 4", "turnkeep show trip --turn 3 --raw"],
    "find": ["turnkeep find weather:0"],
    "replay": ["turnkeep replay trip --provider anthropic --last 4"],
    "audit": ["turnkeep audit trip --state open", "turnkeep audit trip --csv"],
    "diff": ["turnkeep diff trip --between anthropic,openai"],
    "tail": ["turnkeep tail trip -n 3"],
    "verify": ["turnkeep verify trip"],
    "serve": ["turnkeep serve --port 9000"],
    "migrate": ["turnkeep migrate"],
    "doctor": ["turnkeep doctor --port 9000"],
    "keys": ["turnkeep keys create laptop --scopes read --expires-in 90d", "turnkeep keys list"],
    "sweep": ["turnkeep sweep"],
    "reindex": ["turnkeep reindex trip"],
    "import": ["turnkeep import history.json --provider openai --conversation old"],
    "export": ["turnkeep export trip --output trip.jsonl"],
    "backup": ["turnkeep backup copy.db"],
    "restore": ["turnkeep restore copy.db --database-url sqlite:///restored.db"],
    "convert": ["turnkeep convert tool-id --to anthropic call_abc123"],
    "completion": ["turnkeep completion bash"],
}
# Told once, above the reference.
_TOLD = ("--database_url", "--tenant", "--url", "--key")
_FLAGS = ", ".join(f"`{flag.replace('_', '-')}`" for flag in _TOLD)
_ABOVE = "see [whom it asks](#whom-it-asks)"


def reference() -> str:
    """All commands, by group."""
    lines: list[str] = []
    for heading, group in GROUPS.items():
        lines += [f"## {heading.capitalize()}", ""]
        for name in group:
            lines += [f"### `turnkeep {name}`", "", *_command(name), *_example(name)]
    return "\n".join(lines)


def _command(name: str) -> Iterator[str]:
    [commands] = [one for one in parser_of([name])._actions if _is_tree(one)]
    assert isinstance(commands.choices, dict)
    yield from _parser(commands.choices[name])


def _parser(parser: argparse.ArgumentParser) -> Iterator[str]:
    told = (parser.description or "").partition("\n\n")[0]
    yield from ([told, ""] if told else [])
    shown = [one for one in parser._actions if not _is_tree(one) and one.dest != "help"]
    asks = any(one.dest == "url" for one in shown)
    rows = [_row(one) for one in shown if not (asks and f"--{one.dest}" in _TOLD)]
    told_above = [f"| {_FLAGS} | {_ABOVE} |"] if asks else []
    if shown:
        yield from ("| | |", "| --- | --- |", *rows, *told_above, "")
    if parser.epilog and "Exit status" in parser.epilog:
        at = parser.epilog.index("Exit status")
        yield from (" ".join(parser.epilog[at:].split()), "")
    for tree in filter(_is_tree, parser._actions):
        assert isinstance(tree.choices, dict)
        for inner in tree.choices.values():
            yield from (f"#### `{inner.prog}`", "", *_parser(inner))


def _row(action: argparse.Action) -> str:
    name = action.metavar or action.dest.upper().replace("_", "-")
    takes = "" if action.nargs == 0 else f" {name}"
    flags = ", ".join(f"`{one}{takes}`" for one in action.option_strings)
    many = " …" if action.nargs in ("*", "+") else ""
    what = action.help or "the conversation"
    if action.choices and not all(one in what for one in action.choices):
        what += f": {', '.join(action.choices)}"
    return f"| {flags or f'`{name}{many}`'} | {what.replace('|', chr(92) + '|')} |"


def _example(name: str) -> list[str]:
    return ["```", *EXAMPLES[name], "```", ""]


def _is_tree(action: argparse.Action) -> bool:
    return isinstance(action, argparse._SubParsersAction)


assert EXAMPLES.keys() == COMMANDS.keys()
