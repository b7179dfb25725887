"""What is found out about a dataset in the background."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs

pytest.importorskip("starlette", reason="the extra 'view' is not installed")

from recordsmith.viewer.data import examination
from recordsmith.viewer.data.opened import OpenedDataset


def test_a_file_that_disappears_is_an_error_of_the_examination(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(examination, "_FIRST_PAGE", 0)
    monkeypatch.setattr(examination, "_let_others_first", lambda: None)
    rs.make({"n": range(10)}, tmp_path / "data", progress=False)
    opened = OpenedDataset([str(tmp_path / "data")])
    for file in opened.layout.files:
        Path(file).unlink()
    background = examination.Examination(opened)
    background._run()
    assert background.error
    assert not background.asked
