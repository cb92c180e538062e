"""All pages in both colour schemes, at a desk and on a phone: nothing axe-core objects to, nothing
wider than the screen. The screenshots lie in `build/pages` for people to look at."""

import os
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import DESK, PHONE, Opener
from tests.browser.stories import tell_long

SHOTS = Path(__file__).parents[2] / "build" / "pages"
DOCS = Path(__file__).parents[2] / "docs" / "pictures"
# The pictures of README and docs are made here when this is set.
REWRITE = "TURNKEEP_REWRITE_PICTURES"
PAGES = {
    "conversations": "/",
    "conversation": "/c/support-4711",
    "identity": "/c/support-4711/identity",
    "replay": "/c/support-4711/replay",
    "picture": "/c/looked-at/picture",
    "verify": "/c/support-4711/verify",
    "found": "/go?id=call_1",
    "nothing": "/?q=nothingofthekind",
    "login": "/login",
    "problem": "/c/nobody",
}
PICTURES = ("conversation", "identity", "replay", "picture")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_page_can_be_read_by_everybody(
    open_page: Opener, http: httpx.Client, support: str, name: str, scheme: str, size: str
) -> None:
    if name in ("picture", "found") and not http.get("/v1/conversations/looked-at").is_success:
        tell_long(http, "looked-at", 602)
        tell_long(http, "looked-at-2", 11)
    page = open_page("/healthz", scheme=scheme, size=DESK if size == "desk" else PHONE)
    page.goto(PAGES[name])
    page.wait_for_load_state()
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}-{scheme}-{size}.png")
    if os.environ.get(REWRITE) and name in PICTURES and (scheme, size) == ("light", "desk"):
        DOCS.mkdir(exist_ok=True)
        page.screenshot(path=DOCS / f"{name}.png")
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true })")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    # With everything open, too, only tables and pictures scroll sideways, by themselves.
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
