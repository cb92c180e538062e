"""What the tests know about each target: a folder each, named as its module in `app/formats`.

cases/          golden cases: what is posted, what is stored, what is rendered
judge.py        the provider's own rules; `JUDGE`, or the module itself, is a `tests.judges.Judge`
specimens.py    a healthy request, and the single faults that the judge must name
recordings.py   RECORDINGS: streams, each with the finished response that it stands for
writer.py       WRITER: how the laws write down in this format what was said

What a folder does not have is its family's: `chat` for a `chat_codec`. Whoever has no family has to
have it.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from app.formats.registry import CODECS

ROOT = Path(__file__).parent


def folder(target: str) -> Path:
    return ROOT / target.replace("-", "_")


def family(target: str) -> str:
    """The folder of `app/formats` that reads what is posted to the target."""
    parse = CODECS[target].parse
    return getattr(parse, "func", parse).__module__.split(".")[2]


def of(target: str, what: str) -> ModuleType:
    """A target's own module of this name, or that of its family."""
    own = folder(target).name
    found = own if (ROOT / own / f"{what}.py").exists() else family(target)
    return import_module(f"{__name__}.{found}.{what}")
