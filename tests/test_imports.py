"""The architecture as a test: imports go downward, and the pure parts stay pure."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]
APP = ROOT / "app"
CONTRACTS = [
    contract["id"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
]
# Nothing here knows a clock, chance, a file, a network or a process. Of datetime only the type is
# used, of importlib and pkgutil only what finds the codecs.
PURE = {
    "base64",
    "binascii",
    "bisect",
    "collections",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "importlib",
    "itertools",
    "json",
    "math",
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
PURE_FILES = sorted(
    path for package in ("core", "codecs", "formats") for path in (APP / package).rglob("*.py")
)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def used(path: Path) -> set[str]:
    """Names and attributes that a file uses."""
    nodes = list(ast.walk(parsed(path)))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_contract_is_kept(contract: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT))
    kept = lint_imports("pyproject.toml", (contract,), no_cache=True, no_logo=True)
    assert kept == EXIT_STATUS_SUCCESS


def test_there_are_contracts_for_layers_purity_and_codecs() -> None:
    assert {"layers", "pure", "codecs", "database", "http"} <= set(CONTRACTS)


@pytest.mark.parametrize("path", PURE_FILES, ids=named)
def test_core_and_codecs_import_nothing_but_pure_modules(path: Path) -> None:
    outside = {name.partition(".")[0] for name in imported(path)} - {"app"}
    assert outside - PURE == set()


@pytest.mark.parametrize("path", sorted((APP / "core").rglob("*.py")), ids=named)
def test_core_imports_nothing_of_ours_but_core(path: Path) -> None:
    ours = [name for name in imported(path) if name.partition(".")[0] == "app"]
    assert all(name.startswith("app.core") for name in ours)


@pytest.mark.parametrize("path", PURE_FILES, ids=named)
def test_core_and_codecs_call_no_clock_no_hash_seed_and_no_files(path: Path) -> None:
    calls = [node.func for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    clocks = {call.attr for call in calls if isinstance(call, ast.Attribute)}
    assert names & {"hash", "open", "print", "input", "eval", "exec"} == set()
    assert clocks & {"now", "utcnow", "today"} == set()


@pytest.mark.parametrize("path", sorted(APP.rglob("*.py")), ids=named)
def test_only_the_settings_read_the_environment(path: Path) -> None:
    # `serve` writes there what its workers will read.
    allowed = {"app/settings.py", "app/cli/serve.py"}
    assert named(path) in allowed or not used(path) & {"environ", "getenv"}


@pytest.mark.parametrize("path", sorted(APP.rglob("*.py")), ids=named)
def test_nothing_is_imported_inside_a_function(path: Path) -> None:
    functions = [
        node
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    inner = [node for function in functions for node in ast.walk(function)]
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in inner)


@pytest.mark.parametrize("path", sorted(APP.rglob("*.py")), ids=named)
def test_no_module_has_a_name_that_means_nothing(path: Path) -> None:
    assert path.stem.strip("_") not in {"utils", "util", "helpers", "common", "base", "misc"}
