"""A full disk, at any moment: a clear message, nothing half-written under a final name, and resumable."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.formats.made_sources import Columns, file_digests
from tests.mounted_disk import mounted_disk

ROOT = Path(__file__).resolve().parents[2]
STAGING = ".recordsmith-making"


def source(rows: int = 300) -> Columns:
    """About 320 kB of records that do not compress."""
    data = np.random.default_rng(0).bytes(rows * 1000)
    columns = {
        "data": [data[1000 * n : 1000 * n + 1000] for n in range(rows)],
        "n": [n if n % 60 else None for n in range(rows)],
        "who": np.arange(rows) // 2,
    }
    return Columns(columns, rs.Schema({"n": rs.Scalar("int64"), "data": rs.Bytes()}), chunk_rows=40)


OPTIONS: dict[str, Any] = {"name": "data", "split": "train=0.7,test=0.3", "group": "who", "shards": 4, "workers": 1}


@pytest.fixture
def expected(quick_path: Path) -> dict[str, str]:
    rs.make(source(), quick_path / "whole", **OPTIONS)
    return file_digests(quick_path / "whole")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted_disk(tmp_path / "small", "1m") as folder:
        yield folder


def assert_nothing_half_written(out: Path, expected: dict[str, str]) -> None:
    for name, digest in file_digests(out).items():
        if not name.startswith("."):
            assert digest == expected[name], f"{name} is half-written"


def assert_clear(error: BaseException, out: Path) -> None:
    text = str(error) + "\n".join(getattr(error, "__notes__", []))
    assert "space" in text.lower()
    assert str(out) in text, "it says where"
    assert "resume" in text, "and how to go on"


@pytest.mark.parametrize("free", [4, 60, 150, 330, 350, 420, 500, 640, 690], ids="{} kB free".format)
def test_a_full_disk(free: int, expected, small_disk: Path):
    """Filled up by something else, up to different points of the run: staging, ordering, shards, publishing."""
    out = small_disk / "out"
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1024 * (1000 - free)))
    try:
        rs.make(source(), out, **OPTIONS)
    except (OSError, rs.RecordsmithError) as error:
        assert_clear(error, out)
        assert_nothing_half_written(out, expected)
    else:
        assert free > 500, "it cannot have fitted"
    ballast.unlink()
    rs.make(source(), out, **OPTIONS, resume=True)
    assert file_digests(out) == expected


def test_a_full_disk_while_rows_are_given_their_splits(expected, small_disk: Path):
    """In a process of its own: writing to a file that is mapped into memory would end it without a word."""
    program = """
import os, sys
from pathlib import Path
import recordsmith as rs
from tests.making.test_full_disk import OPTIONS, source
out, ballast = Path(sys.argv[1]), Path(sys.argv[2])
def fill(progress):
    if progress.phase == "ordering":
        with ballast.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
try:
    rs.make(source(), out, **OPTIONS, on_progress=fill)
except (OSError, rs.RecordsmithError) as error:
    print("error:", error, *getattr(error, "__notes__", []))
"""
    out, ballast = small_disk / "out", small_disk / "ballast"
    ended = subprocess.run(
        [sys.executable, "-c", program, str(out), str(ballast)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert ended.returncode == 0, f"it died of signal {-ended.returncode}: {ended.stderr}"
    assert "space" in ended.stdout.lower(), ended.stdout + ended.stderr
    assert_nothing_half_written(out, expected)
    ballast.unlink()
    rs.make(source(), out, **OPTIONS, resume=True)
    assert file_digests(out) == expected


def test_a_file_that_may_not_grow(expected, quick_path: Path):
    """A limit on the size of files (ulimit -f) is met while records are staged."""
    program = """
import resource, signal, sys
import recordsmith as rs
from tests.making.test_full_disk import OPTIONS, source
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
given = source()
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    rs.make(given, sys.argv[1], **OPTIONS)
except (OSError, rs.RecordsmithError) as error:
    print("error:", getattr(error, "errno", None), error, *getattr(error, "__notes__", []))
"""
    out = quick_path / "out"
    ended = subprocess.run(
        [sys.executable, "-c", program, str(out)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "error:" in ended.stdout
    assert str(errno.EFBIG) in ended.stdout or "large" in ended.stdout
    assert os.listdir(out) == [STAGING]
    rs.make(source(), out, **OPTIONS, resume=True)
    assert file_digests(out) == expected


# --- rs.write ---


def test_a_full_disk_while_writing_rows_leaves_nothing(small_disk: Path):
    schema = rs.Schema({"data": rs.Bytes()})
    rows = [np.random.default_rng(n).bytes(50_000) for n in range(40)]

    def write() -> None:
        with rs.write(small_disk / "out", schema, shards=3) as writer:
            for data in rows:
                writer.add({"data": data})

    with pytest.raises(OSError, match="space") as caught:
        write()
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(small_disk / "out") == [], "nothing is left"


def test_a_full_disk_at_the_very_end_leaves_nothing(small_disk: Path):
    """The last bytes of the shards find no room, after the first of them were finished."""
    schema = rs.Schema({"data": rs.Bytes()})

    def write(free: int) -> None:
        with rs.write(small_disk / "out", schema, shards=8) as writer:
            for number in range(8):
                writer.add({"data": bytes([number]) * 6000})
            (small_disk / "ballast").write_bytes(bytes(1024 * 1024 - free))

    with pytest.raises(OSError, match="space"):
        write(30_000)
    assert os.listdir(small_disk / "out") == []
