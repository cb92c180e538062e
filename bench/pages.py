"""What a browser does to show a long conversation: `python -m bench.pages` (needs Chromium).

Opens a conversation of 5,000 turns, scrolls to its end, and prints how long scripts ran, how long
the layout took, and how many turns the browser holds. The times are the browser's own, of its main
thread.
"""

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.browser.conftest import FLAGS
from tests.browser.stories import tell_long
from tests.e2e.server import serving

_SHOWN = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration")


def _tell(page: Page, session: CDPSession, what: str) -> None:
    told: Any = session.send("Performance.getMetrics")
    found = {one["name"]: one["value"] for one in told["metrics"]}
    times = ", ".join(f"{name.removesuffix('Duration')} {found[name]:.2f} s" for name in _SHOWN)
    turns = page.locator(".turn").count()
    heap = found["JSHeapUsedSize"] / 1e6
    print(f"{what}: {times}; {turns} turns, {found['Nodes']:,.0f} nodes, {heap:.1f} MB of script")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5_000)
    turns = parser.parse_args().turns // 3 * 3 + 2
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        with httpx.Client(base_url=server.url, timeout=120) as http:
            tell_long(http, "long", turns)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=FLAGS
            )
            for what, address, scrolls in (
                ("opened", "/c/long", False),
                ("opened at the end", f"/c/long?at={turns}#turn-{turns}", False),
                ("scrolled through", "/c/long", True),
            ):
                page = browser.new_page(
                    base_url=server.url, viewport={"width": 1200, "height": 850}
                )
                # It counts from here on.
                session = page.context.new_cdp_session(page)
                session.send("Performance.enable")
                page.goto(address)
                page.wait_for_timeout(1_000)
                while scrolls and not page.locator(f"#turn-{turns}").count():
                    page.mouse.wheel(0, 2_500)
                    page.wait_for_timeout(16)
                _tell(page, session, what)
                page.close()
            browser.close()


if __name__ == "__main__":
    main()
