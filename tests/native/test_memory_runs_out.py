"""Where memory runs out there is a MemoryError: never a crash, never a wait without end, never "damaged" data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cv2", reason="OpenCV is not installed")

# Each piece of work runs in children with so many MB to spare, and ends with success (.) or a MemoryError (M).
LIMITS = (1, 2, 4, 8, 12, 20, 35, 60)

PROGRAM = r"""
import ctypes, os, resource, signal, sys
import numpy as np
from pathlib import Path
import recordsmith as rs
from recordsmith import _core
from recordsmith.images import check_image, decode_image, encode_image
from recordsmith.records.index import build_index

folder = Path(sys.argv[1])
path = folder / "a.tfrecord"
random = np.random.default_rng(0)
with rs.RecordWriter(path) as writer, rs.RecordWriter(folder / "a.tfrecord.gz") as compressed:
    for n in range(2000):
        payload = rs.encode_example({"n": n, "b": random.bytes(2000), "f": np.arange(50, dtype="float32")})
        writer.write(payload)
        compressed.write(payload)
damaged = bytearray(path.read_bytes())
damaged[5000::100_000] = bytes(len(damaged[5000::100_000]))
(folder / "damaged.tfrecord").write_bytes(damaged)
many = rs.encode_example({f"feature {n}": n for n in range(60_000)})
steps = rs.encode_sequence_example({}, {"s": [[1.0, 2.0]] * 60_000})
large = rs.encode_example({"x": np.zeros(3_000_000, np.float32)})
with rs.RecordWriter(folder / "large.tfrecord") as writer:
    writer.write(large)
jpeg = encode_image(random.integers(0, 256, (1200, 1200, 3), np.uint8), "jpeg")
png = encode_image(np.zeros((3000, 3000, 3), np.uint8), "png")
with rs.RecordWriter(folder / "images.tfrecord") as writer:
    for _ in range(6):
        writer.write_example({"image": jpeg})
dataset = rs.open(path)
images = rs.open(folder / "images.tfrecord", schema=rs.Schema({"image": rs.Image()}))
wide = rs.Schema({"x": rs.Tensor("float32", (1000,))})
text = rs.Schema({"n": rs.Scalar("int64"), "t": rs.Text()})
columns = {"x": np.zeros((4000, 1000), np.float32)}
rows = [{"n": n, "t": "x" * 100} for n in range(20_000)]
rs.check(path)  # what is imported at first use is imported now
list(images.images((8, 8)).batch(4))
_core.trim_pool()
ctypes.CDLL(None).malloc_trim(0)

def everything(batches):
    for _ in batches:
        pass

def written(write):
    with rs.RecordWriter(folder / f"{os.getpid()}.tfrecord.gz") as writer:
        write(writer)

WORK = {
    "decode": lambda: rs.decode_example(many),
    "decode_steps": lambda: rs.decode_sequence_example(steps),
    "decode_large": lambda: rs.decode_example(large),
    "encode": lambda: rs.encode_example({f"k{n}": [n] * 50 for n in range(20_000)}),
    "records": lambda: everything(rs.RecordReader(folder / "a.tfrecord.gz")),
    "large_records": lambda: everything(rs.RecordReader(folder / "large.tfrecord")),
    "random_access": lambda: dataset[np.arange(0, 2000, 2)],
    "payloads": lambda: dataset.raw(np.arange(2000)),
    "batches": lambda: everything(dataset.batch(500, threads=0)),
    "batches_on_threads": lambda: everything(dataset.batch(500, threads=4)),
    "wide_batches": lambda: everything(rs.open(path, schema=dataset.schema).batch(2000, threads=2)),
    "loader": lambda: everything(dataset.shuffle(seed=1).batch(256)),
    "check": lambda: rs.check(path),
    "check_damaged": lambda: rs.check(folder / "damaged.tfrecord"),
    "repair": lambda: rs.repair(folder / "damaged.tfrecord", folder / f"{os.getpid()}.tfrecord"),
    "index": lambda: build_index(path),
    "verify": lambda: _core.verify_files([str(path)] * 3, ["none"] * 3, 4),
    "jpeg": lambda: decode_image(jpeg),
    "png": lambda: check_image(png),
    "images": lambda: everything(images.images((64, 64)).batch(2)),
    "write_columns": lambda: written(lambda writer: writer.write_columns(columns, wide)),
    "write_rows": lambda: written(lambda writer: writer.write_rows(rows, text)),
}

def end(work, megabytes):
    child = os.fork()
    if child == 0:
        answer = 1
        try:
            signal.alarm(60)
            now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            most = now + (megabytes << 20)
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            try:
                work()
                answer = 0
            except MemoryError:
                answer = 2
        except BaseException as error:
            os.write(2, repr(error).encode())
        finally:
            os._exit(answer)
    _, status = os.waitpid(child, 0)
    return {0: ".", 2 << 8: "M", signal.SIGALRM: "P"}.get(status, f"[{status}]")

for name in sys.argv[2].split():
    print(name, "".join(end(WORK[name], megabytes) for megabytes in map(int, sys.argv[3].split())), flush=True)
"""


def ends_of(work: str, limits: tuple[int, ...], folder: Path) -> dict[str, str]:
    """How each piece of work ended at each limit."""
    command = [sys.executable, "-c", PROGRAM, str(folder), work, " ".join(map(str, limits))]
    # Freed memory goes back at once: what the preparations leave behind would hide the limit.
    settings = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "16384", "MALLOC_TRIM_THRESHOLD_": "0"}
    environment = os.environ | settings
    ended = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, env=environment)
    # A new thread of Python that runs out of memory at its first step says so and ends, and Thread.start waits for it
    # without end: that is Python's own, and P stands for it.
    errors, unstarted = re.subn(r"Exception ignored in thread started by: .*\n(MemoryError: ?\n)?", "", ended.stderr)
    assert not errors, ended.stdout + ended.stderr
    ends = dict(line.split() for line in ended.stdout.splitlines())
    assert "".join(ends.values()).count("P") <= unstarted, ended.stdout
    return {name: end.replace("P", "M") for name, end in ends.items()}


READING = "decode decode_steps decode_large records large_records random_access payloads batches batches_on_threads"
REST = "encode wide_batches loader check check_damaged repair index verify jpeg png images write_columns write_rows"


@pytest.mark.usefixtures("memory_limit")
@pytest.mark.parametrize("work", [READING, REST])
def test_it_is_a_memory_error(tmp_path: Path, work: str) -> None:
    ends = ends_of(work, LIMITS, tmp_path)
    assert list(ends) == work.split()
    assert not {name: end for name, end in ends.items() if set(end) - set("M.")}
    assert any("M" in end for end in ends.values())  # or else nothing was tried


@pytest.mark.proof
@pytest.mark.usefixtures("memory_limit")
def test_it_is_a_memory_error_at_many_limits(tmp_path: Path) -> None:
    ends = ends_of(f"{READING} {REST}", tuple(range(1, 61)), tmp_path)
    assert not {name: end for name, end in ends.items() if set(end) - set("M.")}
