"""What people install: a wheel, in an environment that knows nothing of this folder."""

import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import venv
import zipfile
from pathlib import Path

import httpx
import pytest

from app import __version__
from tests.e2e.server import ROOT

THEIRS = "this is somebody else's app"
_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
_BUILD = "import setuptools.build_meta as b; print(b.build_{kind}({out!r}))"


def build(kind: str, source: Path, out: Path) -> Path:
    """As `pip wheel --no-build-isolation` does it: with the setuptools that is pinned here."""
    code = _BUILD.format(kind=kind, out=str(out))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The archive of the sources, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("build")
    # A copy, so that nothing of an earlier build gets in and nothing is left behind.
    left_out = shutil.ignore_patterns(
        ".*", "__pycache__", "build", "dist", "node_modules", "*.egg-info", "*.db*"
    )
    shutil.copytree(ROOT, folder / "checkout", ignore=left_out)
    sources = build("sdist", folder / "checkout", folder)
    with tarfile.open(sources) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    wheel = build("wheel", folder / "unpacked" / sources.name.removesuffix(".tar.gz"), folder)
    return sources, wheel


@pytest.fixture(scope="module")
def program(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, installed from the wheel. Libraries are those of the tests: nothing is fetched.

    A path file leads to them. What path files inside that folder say does not count there, so the
    program of this folder cannot be imported.
    """
    folder = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = [*_PIP, "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, str(built[1])], check=True, capture_output=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    # Whoever installs the program has an `app` too, and it is never ours.
    (packages / "app").mkdir()
    (packages / "app" / "__init__.py").write_text(f"raise ImportError({THEIRS!r})\n")
    return folder / "bin" / "turnkeep"


def run(program: Path, *words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program, *words], cwd=cwd, env={}, capture_output=True, text=True, check=False
    )


def in_wheel(path: Path) -> str:
    """What a file of `app/` is called in a wheel."""
    return f"turnkeep/{path.relative_to(ROOT / 'app')}"


def test_the_wheel_holds_the_program_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        names = set(wheel.namelist())
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"turnkeep", f"turnkeep-{__version__}.dist-info"}
    modules = {in_wheel(path) for path in (ROOT / "app").rglob("*.py")}
    assert modules - names == set()
    migrations = {
        f"turnkeep/migrations/versions/{p.name}" for p in (ROOT / "alembic/versions").glob("*.py")
    }
    assert migrations - names == set()
    web = {in_wheel(path) for path in (ROOT / "app/pages/web").rglob("*.*")}
    assert web - names == set()
    inputs = {in_wheel(path) for path in (ROOT / "app/formats/inputs").glob("*.json")}
    assert inputs - names == set()


def test_the_command_of_a_checkout_has_the_name_that_its_tests_import() -> None:
    """Else there would be two copies of the program in one process, or tests of another one."""
    assert "from app.start import main" in Path(sys.executable).with_name("turnkeep").read_text()


def test_the_sources_hold_what_a_wheel_is_built_from(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {"pyproject.toml", "setup.py", "migrations.ini", "alembic/env.py", "LICENSE"}
    assert {name for name in names if name.startswith(("tests", "bench", ".venv"))} == set()


def test_the_installed_program_serves_from_an_empty_folder(program: Path, tmp_path: Path) -> None:
    assert run(program, "--version", cwd=tmp_path).stdout == f"turnkeep {__version__}\n"
    where = run(
        program.with_name("python"), "-c", "import turnkeep as t; print(t.__file__)", cwd=tmp_path
    )
    assert where.stdout.startswith(str(program.parents[1])), where.stderr
    assert THEIRS in run(program.with_name("python"), "-c", "import app", cwd=tmp_path).stderr
    by_name = run(program.with_name("python"), "-m", "turnkeep", "--version", cwd=tmp_path)
    assert by_name.stdout == f"turnkeep {__version__}\n"
    log = tmp_path / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [program, "serve", "--port", "0", "--workers", "2"],
            cwd=tmp_path,
            env={},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        url = address(process, log)
        body = {"provider": "kimi", "messages": [{"role": "user", "content": "hello"}]}
        posted = httpx.post(f"{url}/v1/conversations/c/turns", json=body, timeout=60)
        assert posted.status_code == 201
        replay = httpx.get(f"{url}/v1/conversations/c/replay?provider=anthropic").json()
        assert replay["request"]["messages"][0]["role"] == "user"
        assert httpx.get(f"{url}/docs/swagger-ui-bundle.js").status_code == 200
    finally:
        process.terminate()
        assert process.wait(30) == 0
    assert run(program, "verify", cwd=tmp_path).stdout == "1 conversations agree, 0 do not.\n"
    assert run(program, "migrate", cwd=tmp_path).returncode == 0


def address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    while "serves on" not in (told := log.read_text()) or "\n" not in told:
        assert process.poll() is None, told
        time.sleep(0.1)
    return told.split()[3]
