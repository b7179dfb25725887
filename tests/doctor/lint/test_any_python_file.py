"""No Python file makes the doctor fail: those of the standard library and of the installed packages are read."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterable
from pathlib import Path

import pytest

import recordsmith as rs

LIBRARY = Path(sysconfig.get_path("stdlib"))
PACKAGES = Path(sysconfig.get_path("purelib"))


def failures(paths: Iterable[Path]) -> list[str]:
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


def test_some_files_of_python() -> None:
    assert failures([*sorted(LIBRARY.glob("*.py"))[::40], *sorted((LIBRARY / "asyncio").glob("s*.py"))]) == []


@pytest.mark.proof
def test_every_file_of_python_and_of_its_packages() -> None:
    assert failures(path for folder in (LIBRARY, PACKAGES) for path in sorted(folder.rglob("*.py"))) == []
