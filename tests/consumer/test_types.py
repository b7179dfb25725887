"""A user's program has types for mypy and for pyright, and wrong uses are errors for both."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "--strict", "--config-file", "pyproject.toml", "tests/consumer"],
        ["pyright", "--project", "tests/consumer", "--pythonpath", sys.executable],
    ],
    ids=["mypy", "pyright"],
)
def test_types(command: list[str]):
    pytest.importorskip(command[0])
    checked = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
