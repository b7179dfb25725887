"""`make demo` does what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "demo" / "first_dataset.py"


def test_the_demo_writes_shows_and_reads() -> None:
    done = subprocess.run([sys.executable, "-W", "error", str(DEMO)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Wrote 100,000 records to 4 files" in done.stdout
    assert "readings" in done.stdout  # what `recordsmith show` prints
    assert "Read 100,000 records back" in done.stdout
