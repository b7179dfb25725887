"""No Python file makes the doctor fail: those of the standard library and of the installed packages are read."""

from __future__ import annotations

import itertools
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

import recordsmith as rs

_EVERY = 1511  # of the files, in the quick test


def python_files() -> Iterator[Path]:
    for name in ("stdlib", "purelib"):
        yield from sorted(Path(sysconfig.get_path(name)).rglob("*.py"))


def failures(paths: Iterator[Path]) -> list[str]:
    """What went wrong in which file; that a file is refused in words is no failure."""
    found = []
    for path in paths:
        try:
            report = rs.lint(path)
        except rs.RecordsmithError:
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what this test looks for
            found.append(f"{path}: {error!r}")
            continue
        found += [f"{path}: {one.message}" for one in report.findings if one.code == "X001"]
    return found


def test_some_files_of_python_and_of_its_packages() -> None:
    small = (path for path in python_files() if path.stat().st_size < 40_000)
    assert failures(itertools.islice(small, 0, None, _EVERY)) == []


@pytest.mark.proof
def test_every_file_of_python_and_of_its_packages() -> None:
    assert failures(python_files()) == []
