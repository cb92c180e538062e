"""The architecture as a test: imports go downward, and the pure parts stay pure."""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]
APP = ROOT / "app"
CONTRACTS = {
    contract["id"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
}
# Nothing here knows a clock, chance, a file, a network or a process. Of datetime only the type is
# used, of importlib and pkgutil only what finds the codecs.
PURE = {
    "abc",
    "base64",
    "binascii",
    "bisect",
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "hmac",
    "importlib",
    "itertools",
    "json",
    "math",
    "operator",
    "orjson",
    "pkgutil",
    "pydantic",
    "re",
    "string",
    "struct",
    "types",
    "typing",
    "unicodedata",
    "zlib",
}
OURS: tuple[str, ...] = tuple(CONTRACTS["pure"]["source_modules"])


def files_of(module: str) -> Iterator[Path]:
    """The file of a module, or all of a folder."""
    path = ROOT / module.replace(".", "/")
    yield from path.rglob("*.py") if path.is_dir() else [path.with_suffix(".py")]


PURE_FILES = sorted(path for module in OURS for path in files_of(module))
FILES = sorted(APP.rglob("*.py"))


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def parsed(path: Path) -> tuple[ast.AST, ...]:
    """Everything that stands in a file, wherever in it."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def absolute(path: Path, node: ast.ImportFrom) -> Iterator[str]:
    """The modules that a statement imports, by their whole names."""
    package = path.relative_to(ROOT).parent.parts if node.level else ()
    above = package[: len(package) - node.level + 1]
    module = ".".join([*above, *([node.module] if node.module else [])])
    for alias in node.names:
        inner = ROOT / f"{module}.{alias.name}".replace(".", "/")
        is_module = inner.is_dir() or inner.with_suffix(".py").exists()
        yield f"{module}.{alias.name}" if is_module else module


def imported(path: Path) -> set[str]:
    """The modules that a file imports."""
    found: set[str] = set()
    for node in parsed(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(absolute(path, node))
    return found


def used(path: Path) -> set[str]:
    """Names and attributes that a file uses."""
    nodes = parsed(path)
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def called(path: Path) -> set[str]:
    """What a file calls: functions by their name, methods with a dot before it."""
    calls = [node.func for node in parsed(path) if isinstance(node, ast.Call)]
    return {call.id for call in calls if isinstance(call, ast.Name)} | {
        f".{call.attr}" for call in calls if isinstance(call, ast.Attribute)
    }


def guilty(files: Iterable[Path], faults: Callable[[Path], Collection[str]]) -> dict[str, set[str]]:
    """The files with faults, and the faults of each."""
    assert files
    return {named(path): set(found) for path in files if (found := faults(path))}


def test_the_contracts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them over one graph; what it prints names the broken one and its imports."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT))
    # import-linter configures logging, and that switches off the loggers of other tests.
    monkeypatch.setattr("logging.config.dictConfig", lambda config: None)
    kept = lint_imports("pyproject.toml", no_cache=True, no_logo=True)
    assert kept == EXIT_STATUS_SUCCESS


def test_there_are_contracts_for_layers_purity_and_formats() -> None:
    assert {"layers", "pure", "formats", "database", "http"} <= set(CONTRACTS)


def test_pure_modules_import_no_library_that_is_not() -> None:
    def outside(path: Path) -> set[str]:
        return {name.partition(".")[0] for name in imported(path)} - {"app"} - PURE

    assert guilty(PURE_FILES, outside) == {}


def test_pure_modules_import_nothing_of_ours_but_pure_modules() -> None:
    def ours(path: Path) -> list[str]:
        found = [name for name in imported(path) if name.partition(".")[0] == "app"]
        pure = (*OURS, "app.formats")
        inside = tuple(f"{module}." for module in OURS)
        return [name for name in found if name not in pure and not name.startswith(inside)]

    assert guilty(PURE_FILES, ours) == {}


def test_inside_the_program_imports_are_relative() -> None:
    """A wheel installs it under another name, next to anybody's own `app`."""

    def by_name(path: Path) -> list[str]:
        nodes = parsed(path)
        named = [
            node.module or ""
            for node in nodes
            if isinstance(node, ast.ImportFrom) and not node.level
        ]
        named += [a.name for node in nodes if isinstance(node, ast.Import) for a in node.names]
        return [name for name in named if name.partition(".")[0] == "app"]

    def in_a_text(path: Path) -> list[str]:
        found = [node.value for node in parsed(path) if isinstance(node, ast.Constant)]
        return [one for one in found if isinstance(one, str) and one.startswith("app.")]

    assert guilty(FILES, by_name) == {}
    assert guilty(FILES, in_a_text) == {}


def test_no_folder_has_the_name_of_a_standard_module() -> None:
    folders = {path.parent.name for path in APP.glob("*/__init__.py")}
    assert folders & sys.stdlib_module_names == set()


def test_a_file_name_means_one_thing() -> None:
    """Only these occur in several folders; formats are built alike."""
    outside = [path for path in FILES if not path.is_relative_to(APP / "formats")]
    several = {"__init__", "http", "sql", "commands", "queries"}
    names = Counter(path.stem for path in outside)
    assert {name for name, count in names.items() if count > 1} <= several


def test_pure_modules_call_no_clock_no_hash_seed_and_no_files() -> None:
    forbidden = {"hash", "open", "print", "input", "eval", "exec", ".now", ".utcnow", ".today"}
    assert guilty(PURE_FILES, lambda path: called(path) & forbidden) == {}


def test_only_the_settings_read_the_environment() -> None:
    # `serve` writes there what its workers will read.
    allowed = {"app/settings.py", "app/cli/serve.py"}
    others = [path for path in FILES if named(path) not in allowed]
    assert guilty(others, lambda path: used(path) & {"environ", "getenv"}) == {}


def test_nothing_is_imported_inside_a_function() -> None:
    def inner(path: Path) -> list[str]:
        functions = [
            node
            for node in parsed(path)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        nodes = [node for function in functions for node in ast.walk(function)]
        return [ast.unparse(one) for one in nodes if isinstance(one, ast.Import | ast.ImportFrom)]

    assert guilty(FILES, inner) == {}


def test_no_module_has_a_name_that_means_nothing() -> None:
    nothing = {"utils", "util", "helpers", "common", "base", "misc"}
    assert guilty(FILES, lambda path: {path.stem.strip("_")} & nothing) == {}
