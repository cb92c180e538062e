"""The application with its OpenAPI page, which is made once, however many ask for it at once.

FastAPI makes it on first use, and two threads that make it together trip over each other.
"""

from threading import Lock
from typing import Any

from fastapi import FastAPI

_MAKING = Lock()


class Described(FastAPI):
    """Its page is made by one thread; the others wait for it."""

    def openapi(self) -> dict[str, Any]:
        with _MAKING:
            return super().openapi()
