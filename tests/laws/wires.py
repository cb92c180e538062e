"""How each wire writes down what was said: `writer.py` in its folder, or in that of its family.

A piece that a wire cannot carry is left out by its function; what was really posted is read from
the bodies.
"""

from collections.abc import Mapping

from app.formats.registry import CODECS
from tests.formats import of
from tests.laws.said import Writer

WRITERS: Mapping[str, Writer] = {target: of(target, "writer").WRITER for target in CODECS}
