"""Links between pages lead somewhere, and no page is forgotten in the index."""

import re
from pathlib import Path

import pytest

from tests.docs.reference import anchor
from tests.e2e.server import ROOT

DOCS = ROOT / "docs"
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = sorted([*DOCS.rglob("*.md"), *TOP])
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def links(page: Path) -> list[str]:
    """Those to other places of this repository."""
    found = _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in found if "://" not in link]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, place = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not place or not target.is_file():
        return target.exists() and not place
    text = re.sub(
        r"^```.*?^```$", "", target.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return place in {anchor(heading) for heading in _HEADING.findall(text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_its_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def test_the_index_names_every_page() -> None:
    index = links(DOCS / "README.md")
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert sorted(pages - set(index)) == []


@pytest.mark.parametrize("link", ["nowhere.md", "concepts.md#nowhere", "#nowhere", "x/concepts.md"])
def test_a_link_to_nowhere_is_seen(link: str) -> None:
    assert not leads_somewhere(DOCS / "trust.md", link)
