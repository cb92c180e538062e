"""The service over HTTP: `api` on both databases, `lite` on SQLite."""

from tests.http_api import api, as_by_a_process, lite

__all__ = ["api", "as_by_a_process", "lite"]
