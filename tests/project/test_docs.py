"""The code in README.md and docs/ runs.

Each document is one session: its ```python blocks run in order, in an empty folder, with what the blocks before them
have defined. A block that cannot run here says so in the document, in the line above it: `<!-- skip: next -->`, or
with its reason `<!-- skip: next "needs a GPU" -->`.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from unittest import SkipTest

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

from recordsmith.demonstration.drawing import draw_images

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(path for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if path.exists())
PARSERS = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()])


@pytest.mark.parametrize("document", [str(path.relative_to(ROOT)) for path in DOCUMENTS])
def test_the_code_of_a_document_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if document == "README.md":  # begins with a folder of images
        draw_images("photos")
    for example in PARSERS.parse(ROOT / document).examples():
        # A skip with a reason leaves out that block, not the rest of the document.
        with contextlib.suppress(SkipTest):
            example.evaluate()
