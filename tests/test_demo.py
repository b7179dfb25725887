"""`make demo` does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import recordsmith as rs

DEMO = Path(__file__).resolve().parents[1] / "demo" / "first_dataset.py"


def test_the_demo_writes_shows_reads_and_learns(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    command = [sys.executable, "-W", "error", str(DEMO), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert "Wrote 3,000 records to 4 files" in done.stdout
    assert "PNG 24×24" in done.stdout  # what `recordsmith show` prints
    assert "Read 2,400 records back" in done.stdout
    assert "error: The data of record 149 does not match its checksum" in done.stdout
    shares = [int(share) for share in re.findall(r"^ +\d   .* (\d+)%$", done.stdout, re.MULTILINE)]
    assert len(shares) == 7
    assert shares[0] < 45
    assert shares[-1] > 85
    assert len(rs.open(folder, split="train")) == 2400
    assert str(folder) in done.stdout


def test_the_demo_needs_no_more_than_the_package_does() -> None:
    imported = re.findall(r"^(?:from|import) (\w+)", DEMO.read_text(), re.MULTILINE)
    assert set(imported) - set(sys.stdlib_module_names) == {"numpy", "rich", "recordsmith"}
