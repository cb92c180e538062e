"""The pages at `/docs` work without any other host."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.http_api import Api

WEB = Path(__file__).parents[2] / "app" / "pages" / "web" / "docs"


class Page(HTMLParser):
    """What a page refers to, and the scripts and styles that stand inside of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inside: list[str] = []
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self._open = tag
        self.addresses += [found for key in ("src", "href") if (found := named.get(key))]
        self.inside += [key for key in named if key == "style" or key.startswith("on")]

    def handle_data(self, data: str) -> None:
        if self._open in ("script", "style") and data.strip():
            self.inside.append(data)


def test_the_page_refers_to_no_other_host_and_all_it_needs_is_served(lite: Api) -> None:
    shown = lite.http.get("/docs")
    page = Page(shown.text)
    assert len(page.addresses) >= 4
    assert [address for address in page.addresses if "//" in address or address[0] == "/"] == []
    for address in page.addresses:
        assert lite.http.get(f"/{address}").status_code == 200
    assert lite.http.get("/docs/start.js").headers["content-type"].startswith("text/javascript")
    assert lite.http.get("/docs/swagger-ui.css").headers["content-type"].startswith("text/css")


def test_its_policy_allows_no_other_host_and_no_script_inside(lite: Api) -> None:
    shown = lite.http.get("/docs")
    rules = dict(
        rule.strip().split(" ", 1) for rule in shown.headers["content-security-policy"].split(";")
    )
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert {source for rule in rules.values() for source in rule.split()} <= {
        "'none'",
        "'self'",
        "data:",
    }
    assert Page(shown.text).inside == []


def test_the_script_asks_no_other_host(lite: Api) -> None:
    script = lite.http.get("/docs/start.js").text
    assert not re.search(r"https?:", script)
    assert 'url: "openapi.json"' in script
    # Left alone, Swagger UI would send the description's address to a public server.
    assert "validatorUrl: null" in script


def test_the_style_sheet_fetches_nothing(lite: Api) -> None:
    style = lite.http.get("/docs/swagger-ui.css").text
    fetched = re.findall(r"url\(\s*['\"]?(?!['\"]?data:)([^)]{0,60})|@import", style)
    assert fetched == []


@pytest.mark.parametrize("name", ["index.html", "README.md", "..%2Findex.html", "nothing"])
def test_other_files_are_not_served(lite: Api, name: str) -> None:
    assert lite.http.get(f"/docs/{name}").status_code == 404


def test_what_is_not_ours_comes_with_its_licence() -> None:
    beside = {path.name for path in (WEB / "swagger-ui").iterdir()}
    assert beside >= {"LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"}
    assert re.search(r"swagger-ui-dist \d+\.\d+\.\d+", (WEB / "swagger-ui/README.md").read_text())


def test_there_is_no_second_page_from_elsewhere(lite: Api) -> None:
    assert lite.http.get("/redoc").status_code == 404


def test_they_can_be_switched_off(sqlite_database_url: str) -> None:
    settings = Settings(database_url=sqlite_database_url, docs=False)
    with TestClient(create_app(settings)) as http:
        for path in ("/docs", "/openapi.json", "/docs/start.js"):
            assert http.get(path).status_code == 404
        # What is wrong is still told.
        assert "did you mean" in http.get("/v1/conversation").json()["detail"]
