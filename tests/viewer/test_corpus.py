"""Real files of other projects: each opens, and shows something sensible."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.viewer.conftest import Viewing

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"


def test_every_file_of_the_corpus_opens(viewing: Viewing, tmp_path: Path) -> None:
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real files is not on this machine")
    shutil.copytree(CORPUS, tmp_path / "corpus")  # indexes are written beside the files
    every = (path.relative_to(CORPUS) for path in CORPUS.rglob("*") if path.is_file() and path.suffix != ".md")
    paths = [tmp_path / "corpus" / path for path in sorted(every)]
    assert len(paths) > 30
    client = viewing(*map(str, paths))
    for number, path in enumerate(paths):
        grid = client.get(f"/d/{number}/")
        assert grid.status == 200, path
        assert re.search(r'data-at="0"', grid.text), path
        record = client.get(f"/d/{number}/r/0")
        assert record.status == 200, path
        assert "Raw bytes" in record.text, path
        for source in re.findall(r'<img src="([^"]+)"', grid.text)[:3]:
            image = client.get(source.replace("&amp;", "&"))
            assert (image.status, image.headers["content-type"].split("/")[0]) == (200, "image"), path
