"""The seam holds: each codec is a value of one type, built like the others, and calls nobody."""

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import app.formats
from app.formats.registry import CODECS, _found
from app.formats.shared.codec import Assigned, Codec, Prefixed
from app.formats.shared.responses import Gathering, Replies
from tests.every import every
from tests.formats import family

HOME = Path(app.formats.__path__[0])


def functions() -> Iterator[Callable[..., Any]]:
    """All functions that a codec has to have, as the seam declares them and as each one is."""
    for kind in (Codec, Assigned, Prefixed, Gathering):
        yield from (
            one for name, one in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"
        )
    for codec in CODECS.values():
        for value in (codec, codec.ids, codec.replies):
            yield from (
                getattr(one, "func", one)
                for name, one in inspect.getmembers(value, callable)
                if name[0] != "_" and not isinstance(one, type)
            )


def parts(hint: Any) -> Iterator[Any]:
    yield typing.get_origin(hint) or hint
    for one in typing.get_args(hint):
        yield from (
            parts(one)
            if not isinstance(one, list)
            else (inner for each in one for inner in parts(each))
        )


@every("function", list(functions()))
def test_no_codec_takes_a_function(function: Callable[..., Any]) -> None:
    hints = [one.annotation for one in inspect.signature(function).parameters.values()]
    assert collections.abc.Callable not in [part for hint in hints for part in parts(hint)]


@pytest.mark.parametrize("kind", [Codec, Replies])
def test_no_member_of_a_codec_takes_a_function_either(kind: type) -> None:
    hints: list[Any] = list(kind.__annotations__.values())
    for hint in hints:
        if typing.get_origin(hint) is collections.abc.Callable:
            (taken, _) = typing.get_args(hint)
            assert collections.abc.Callable not in [part for one in taken for part in parts(one)]


@pytest.mark.parametrize("target", CODECS)
def test_all_wires_are_built_alike(target: str) -> None:
    files = {path.name for path in (HOME / family(target)).glob("*.py")}
    assert files >= {"__init__.py", "messages.py", "tools.py"}
    assert ("stream.py" in files) is (CODECS[target].replies is not None)


@pytest.mark.parametrize("text", ["", "CODEC = None", "CODEC = object()"])
def test_a_file_without_a_codec_is_no_wire(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"broken_{len(text)}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(app.formats, "__path__", [*app.formats.__path__, str(tmp_path)])
    with pytest.raises(TypeError, match=name):
        list(_found())
