"""Links in README.md and docs/ lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(document: Path) -> set[str]:
    """What can stand after a #, as GitHub makes it from headings."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for path, anchor in LINK.findall(document.read_text()):
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{document.name} links to {path}"
        if anchor:
            assert anchor in anchors(target), f"{document.name} links to {path}#{anchor}"


def test_every_page_is_listed() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    assert not [
        page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md" and page.name not in index
    ]
