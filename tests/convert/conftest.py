"""The service over HTTP, as the tests of tools know it."""

from tests.tools.conftest import api, lite, shared

__all__ = ["api", "lite", "shared"]
