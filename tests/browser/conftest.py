"""A real server, a real Chromium, and pages that complain of whatever a browser complains of."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    ViewportSize,
    sync_playwright,
)

from tests.browser.stories import tell_support
from tests.e2e.server import Server, serving

# As root there is no sandbox; the rest would ask hosts on the network for updates.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESK: ViewportSize = {"width": 1200, "height": 850}
PHONE: ViewportSize = {"width": 390, "height": 844}
_ASKED = "TURNKEEP_BROWSER"


collect_ignore_glob = [] if os.environ.get(_ASKED) else ["test_*.py"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.exit("make test-pages needs Chromium: apt-get install chromium", returncode=2)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests, which have conversations of their own."""
    with serving(tmp_path_factory.mktemp("pages")) as running:
        yield running


@pytest.fixture(scope="session")
def http(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def support(http: httpx.Client) -> str:
    """A conversation that began on Kimi and went on with others; its id."""
    return tell_support(http, "support-4711")


Opener = Callable[..., Page]


@pytest.fixture
def open_page(chromium: Browser, server: Server) -> Iterator[Opener]:
    """Opens a path of the server. Whatever the browser complains of fails the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        # A page that is not there is answered with 404, and that is told, too.
        if message.type in ("error", "warning") and "status of 404" not in message.text:
            complaints.append(message.text)

    def opened(
        path: str, *, scheme: Any = "light", size: Any = None, base: str | None = None
    ) -> Page:
        context = chromium.new_context(
            base_url=base or server.url,
            color_scheme=scheme,
            viewport=size or DESK,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
