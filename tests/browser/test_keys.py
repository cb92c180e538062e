"""Pages of a service that is used with keys."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.stories import tell_support
from tests.e2e.server import Server, serving, turnkeep


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server with two tenants, and keys of the first by what they allow; one of the other."""
    folder = tmp_path_factory.mktemp("closed")
    assert turnkeep("migrate", cwd=folder).returncode == 0
    keys = {
        name: turnkeep("keys", "create", name, *flags, cwd=folder).stdout.strip()
        for name, flags in (
            ("read", ("--scopes", "read")),
            ("admin", ("--scopes", "admin")),
            ("other", ("--tenant", "other")),
        )
    }
    with serving(folder) as server:
        headers = {"Authorization": f"Bearer {keys['admin']}"}
        with httpx.Client(base_url=server.url, headers=headers) as http:
            tell_support(http, "secret-1")
        yield server, keys


def test_who_has_no_key_is_asked_for_one(
    open_page: Opener, closed: tuple[Server, dict[str, str]]
) -> None:
    server, keys = closed
    page = open_page("/c/secret-1/identity", base=server.url)
    assert "/login?next=%2Fc%2Fsecret-1%2Fidentity" in page.url
    page.get_by_label("API key").fill(keys["read"])
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/c/secret-1/identity")
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    # What the pages ask of the API works with the cookie.
    page.goto("/c/secret-1")
    expect(page.locator("#live")).to_have_text("live")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    page.goto("/")
    assert page.url.endswith("/login?next=%2F")


def test_another_tenant_sees_nothing(
    open_page: Opener, closed: tuple[Server, dict[str, str]]
) -> None:
    server, keys = closed
    page = open_page("/login", base=server.url)
    page.get_by_label("API key").fill(keys["other"])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("No conversation yet")).to_be_visible()
    page.get_by_label("Any id").fill("toolu_01")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_text("Nothing is found.")).to_be_visible()


def test_the_cookie_only_reads_and_erasing_needs_a_key_that_may(
    open_page: Opener, closed: tuple[Server, dict[str, str]]
) -> None:
    server, keys = closed
    page = open_page("/login?next=/c/secret-1", base=server.url)
    page.get_by_label("API key").fill(keys["admin"])
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/c/secret-1")
    # Although the key of the cookie may do everything.
    answer = page.request.delete("/v1/conversations/secret-1")
    assert answer.status == 401
    page.get_by_role("button", name="Erase…").click()
    page.get_by_label("Type the id of the conversation").fill("secret-1")
    page.get_by_label("An API key with the scope admin").fill(keys["admin"])
    page.get_by_role("button", name="Erase", exact=True).click()
    page.wait_for_url(re.compile(r"/$"))


def test_no_page_holds_a_key(closed: tuple[Server, dict[str, str]], tmp_path: Path) -> None:
    server, keys = closed
    with httpx.Client(base_url=server.url, cookies={"turnkeep_key": keys["read"]}) as http:
        for path in ("/", "/c/gone", "/go?id=x", "/login"):
            assert keys["read"] not in http.get(path, follow_redirects=True).text
    assert keys["read"] not in server.log.read_text()
