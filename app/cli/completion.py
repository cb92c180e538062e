"""`turnkeep completion`: a script that lets a shell complete the commands and their flags.

It is written from the parsers, so it knows what they know.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import COMMANDS, GROUPS, parser_of

SHELLS = ("bash", "zsh", "fish")
_USE = """\
  bash   source <(turnkeep completion bash)                in ~/.bashrc
  zsh    source <(turnkeep completion zsh)                 in ~/.zshrc, behind compinit
  fish   turnkeep completion fish > ~/.config/fish/completions/turnkeep.fish
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "completion",
        description=f"Prints a script that lets a shell complete all this:\n\n{_USE}",
        epilog="Exit status: 0 done; 2 a wrong argument.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]
    for line in write(list(levels(parser_of(COMMANDS)))):
        print(line)
    return 0


@dataclass(frozen=True, slots=True)
class Word:
    """Something that can be typed, and what follows it: nothing, anything, or one of a few."""

    names: Sequence[str]
    what: str
    takes: bool = False
    values: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """What can be typed behind a command: its flags, the commands below it, or a few values."""

    so_far: str
    words: Sequence[Word]


def levels(parser: argparse.ArgumentParser, so_far: str = "") -> Iterator[Level]:
    """The tree of a parser, level by level. Each word of `so_far` has a blank before it."""
    words, below = list[Word](), dict[str, argparse.ArgumentParser]()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below |= action.choices
        elif action.option_strings:
            words.append(_word(action))
        else:
            words += [Word([value], "") for value in _values(action)]
    helps = {name: what for group in GROUPS.values() for name, (_, what) in group.items()}
    words += [Word([name], "" if so_far else helps[name]) for name in below]
    yield Level(so_far, words)
    for name, inner in below.items():
        yield from levels(inner, f"{so_far} {name}")


def _word(action: argparse.Action) -> Word:
    takes = action.nargs != 0
    return Word(action.option_strings, action.help or "", takes, _values(action) if takes else ())


def _values(action: argparse.Action) -> list[str]:
    """The few values that an argument can have, where they are few."""
    found: Any = action.choices or getattr(action.type, "names", ())
    return [str(one) for one in found]


def _bash(tree: list[Level]) -> Iterator[str]:
    yield "_turnkeep() {"
    yield '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} so_far="" at'
    yield "    local offered="
    yield "    for ((at = 1; at < COMP_CWORD; at++)); do"
    yield f'        case "$so_far ${{COMP_WORDS[at]}}" in {_alternatives(tree)})'
    yield '            so_far="$so_far ${COMP_WORDS[at]}" ;;'
    yield "        esac"
    yield "    done"
    yield '    case "$so_far $before" in'
    for at, values in _after_flags(tree):
        yield f'        {at}) offered="{" ".join(values)}" ;;'
    yield '        *) case "$so_far" in'
    for level in tree:
        names = " ".join(name for word in level.words for name in word.names)
        yield f'            "{level.so_far}") offered="{names}" ;;'
    yield "        esac ;;"
    yield "    esac"
    yield '    COMPREPLY=($(compgen -W "$offered" -- "$word"))'
    yield "}"
    yield "complete -o default -F _turnkeep turnkeep"


def _zsh(tree: list[Level]) -> Iterator[str]:
    yield "#compdef turnkeep"
    yield "_turnkeep() {"
    yield '    local so_far="" at'
    yield "    local -a offered"
    yield "    for ((at = 2; at < CURRENT; at++)); do"
    yield f'        case "$so_far ${{words[at]}}" in ({_alternatives(tree)})'
    yield '            so_far="$so_far ${words[at]}" ;;'
    yield "        esac"
    yield "    done"
    yield '    case "$so_far ${words[CURRENT-1]}" in'
    for at, values in _after_flags(tree):
        offer = f"compadd -- {' '.join(values)}" if values else "_files"
        yield f"        ({at}) {offer}; return ;;"
    yield "    esac"
    yield '    case "$so_far" in'
    for level in tree:
        said = ((name, word.what) for word in level.words for name in word.names)
        described = [_quoted(f"{name}:{what}" if what else name) for name, what in said]
        yield f'        ("{level.so_far}") offered=({" ".join(described)}) ;;'
    yield "    esac"
    yield "    _describe turnkeep offered || _files"
    yield "}"
    yield "compdef _turnkeep turnkeep"


def _fish(tree: list[Level]) -> Iterator[str]:
    yield "function __turnkeep_at"
    yield '    set -l so_far ""'
    yield "    for one in (commandline -opc)[2..-1]"
    yield '        switch "$so_far $one"'
    yield f"            case {' '.join(_quoted(level.so_far) for level in tree[1:])}"
    yield '                set so_far "$so_far $one"'
    yield "        end"
    yield "    end"
    yield '    test "$so_far" = "$argv[1]"'
    yield "end"
    for level in tree:
        here = f"complete -c turnkeep -n \"__turnkeep_at '{level.so_far}'\""
        for word in level.words:
            yield f"{here} {_fish_word(word)}"


def _fish_word(word: Word) -> str:
    described = f"-d {_quoted(word.what)}" if word.what else ""
    if not word.names[0].startswith("-"):
        return f"-f -a {word.names[0]} {described}".rstrip()
    flags = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in word.names]
    takes = "-r" if word.takes else "-f"
    values = f"-f -a {_quoted(' '.join(word.values))}" if word.values else ""
    return " ".join(filter(None, [*flags, takes, values, described]))


def _alternatives(tree: Iterable[Level]) -> str:
    return "|".join(f'"{level.so_far}"' for level in tree if level.so_far)


def _after_flags(tree: Iterable[Level]) -> Iterator[tuple[str, Sequence[str]]]:
    """Where a flag has a few values: what was typed up to it, and the values. A flag with any value
    offers nothing, so that files are completed."""
    for level in tree:
        for word in level.words:
            if word.takes:
                at = "|".join(f'"{level.so_far} {name}"' for name in word.names)
                yield at, word.values


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "").replace("'", "’") + "'"
