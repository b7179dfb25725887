"""The native module exports nothing but its entry, so that no other library of the process is mixed with its own."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from recordsmith import _core


def test_the_module_exports_its_entry_alone() -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm of binutils is not installed")
    printed = subprocess.run([nm, "-D", "--defined-only", _core.__file__], check=True, capture_output=True, text=True)
    assert [line.split()[-1] for line in printed.stdout.splitlines()] == ["PyInit__core"]
