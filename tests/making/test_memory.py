"""Memory stays bounded, and does not grow with the data."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 500e6  # what the documentation promises

PROGRAM = """
import json, sys
from collections.abc import Iterator
import numpy as np
import recordsmith as rs
from recordsmith.formats.source import Chunk, Loaded, Source
from tests.formats.made_sources import NumberedPlaces

# mypy and the reader: everything about a row follows from its number, and nothing is kept.
class Made(Chunk):
    def __init__(self, first, rows, width):
        self.first, self.rows, self.width = first, rows, width
        self.source_bytes = rows * width

    def load(self):
        rng = np.random.default_rng(self.first)
        numbers = np.arange(self.first, self.first + self.rows)
        columns = {"n": numbers, "label": numbers % 10 // 9, "user": numbers // 5}
        columns["data"] = rng.integers(0, 255, (self.rows, self.width), np.uint8)
        return Loaded(columns, self.rows, NumberedPlaces(self.first))

class Endless(Source):
    kind = "made"
    label = "label"

    def __init__(self, rows, width):
        self.rows, self.width = rows, width

    def schema(self):
        return rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(2), "data": rs.Tensor("uint8", (self.width,))})

    def describe(self):
        return {"kind": "made", "rows": self.rows}

    def chunks(self):
        size = min(65_536, 8_000_000 // (self.width + 24))
        for first in range(0, self.rows, size):
            yield Made(first, min(size, self.rows - first), self.width)

rows, width, options = int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
made = rs.make(Endless(rows, width), sys.argv[1], workers=2, **options)
assert made.source_rows == rows
# Not getrusage: what it says begins with the memory of the process that started this one.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
peak = 1024 * int(status["VmHWM"].split()[0])
print(json.dumps({"peak": peak, "bytes": made.bytes, "rows": made.rows}))
"""


def measured(folder: Path, rows: int, width: int, **options: object) -> dict[str, float]:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / f"{rows}-{width}"), str(rows), str(width), json.dumps(options)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert ended.returncode == 0, ended.stderr
    result: dict[str, float] = json.loads(ended.stdout)
    return result


def test_large_rows(quick_path: Path):
    """Three times the data, the same memory."""
    one, three = (measured(quick_path, rows, 2000, split="train=0.9,test=0.1") for rows in (60_000, 180_000))
    assert three["bytes"] > 360e6
    assert three["peak"] < LIMIT
    assert three["peak"] < one["peak"] + 70e6, f"{one['peak'] / 1e6:.0f} MB grew to {three['peak'] / 1e6:.0f} MB"


def test_compressed_shards(quick_path: Path):
    result = measured(quick_path, 60_000, 2000, compression="gzip", shard_size="20MB")
    assert result["rows"] == 60_000
    assert result["peak"] < 300e6


def test_many_small_rows(quick_path: Path):
    """Split by classes and balanced: what is kept of a row is counted in bytes."""
    options = {"split": "train=0.8,test=0.2", "stratify": "label", "balance": "oversample"}
    one, three = (measured(quick_path, rows, 1, **options) for rows in (400_000, 1_200_000))
    assert three["rows"] > 1_200_000
    assert three["peak"] < LIMIT
    growth = (three["peak"] - one["peak"]) / 800_000
    assert growth < 150, f"{growth:.0f} bytes a row"


def test_many_groups(quick_path: Path):
    """A million rows of two hundred thousand users."""
    result = measured(quick_path, 1_000_000, 1, split="train=0.8,test=0.2", group="user")
    assert result["peak"] < LIMIT
