"""Folders in memory: a dataset is synced to disk file by file, which is most of the time that a small one takes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = "/dev/shm"


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """A folder like tmp_path, in memory where there is such a place."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="recordsmith-test-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def quick_folders(quick_path: Path) -> Iterator[Path]:
    """New folders, one after the other, for tests that generate their own cases."""
    return (quick_path / f"case-{number}" for number in range(10**6))
