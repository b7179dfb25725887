"""Datasets that the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs
from tests.dataset.numbered_rows import write


@pytest.fixture(params=[None, "gzip", "mixed"], ids=["plain", "gzip", "mixed"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Two splits in three files: 100 records in all, numbered in file order."""
    second = "zlib" if request.param == "mixed" else request.param
    write(tmp_path / "pets-train.tfrecord-00000-of-00002", 0, 40, request.param if second == request.param else None)
    write(tmp_path / "pets-train.tfrecord-00001-of-00002", 40, 35, second)
    write(tmp_path / "pets-validation.tfrecord-00000-of-00001", 75, 25, None if request.param == "mixed" else second)
    return tmp_path


@pytest.fixture
def ds(folder: Path) -> rs.Dataset:
    return rs.open(folder)


@pytest.fixture
def one_file(tmp_path: Path) -> Path:
    return write(tmp_path / "one.tfrecord", 0, 10)
