"""The threads that decode batches: none is left behind, and none takes the process with it.

Each case is a process of its own: other libraries start threads when they like, and a crash must be seen as one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LEAKS = """
import os, sys, time
import recordsmith as rs

path, way = sys.argv[1], sys.argv[2]
schema = rs.Schema({"n": rs.Scalar("int64")})
with rs.RecordWriter(path) as writer:
    writer.write_columns({"n": range(200_000)}, schema)
ds = rs.open(path, schema=schema)
next(iter(ds.batch(100, threads=4)))


def threads():
    return len(os.listdir("/proc/self/task"))


def files():
    return len(os.listdir("/proc/self/fd"))


def settled():  # the system lists a thread a little longer than it runs
    least = threads()
    for _ in range(20):
        time.sleep(0.01)
        least = min(least, threads())
    return least, files()


before = settled()
for _ in range(30):
    if way == "break":
        for batch in ds.batch(100, threads=4):
            break
    elif way == "close":
        batches = iter(ds.batch(100, threads=3))
        next(batches)
        assert threads() > before[0]
        batches.close()
    elif way == "whole":
        assert sum(len(batch["n"]) for batch in ds.batch(5000, threads=4)) == 200_000
    elif way == "unused":
        iter(ds.batch(100, threads=4))
    elif way == "raises":
        try:
            for batch in ds.batch(100, threads=4):
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
after = settled()
assert after == before, (after, before)
"""


@pytest.mark.parametrize("way", ["break", "close", "whole", "unused", "raises"])
def test_no_thread_and_no_file_is_left(way: str, tmp_path: Path):
    finished = subprocess.run(
        [sys.executable, "-c", LEAKS, str(tmp_path / "data.tfrecord"), way], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr


AT_EXIT = """
import sys
import recordsmith as rs

schema = rs.Schema({"n": rs.Scalar("int64")})
with rs.RecordWriter(sys.argv[1]) as writer:
    writer.write_columns({"n": range(200_000)}, schema)
batches = iter(rs.open(sys.argv[1], schema=schema).batch(10, threads=4))
next(batches)
print("end")
"""


def test_a_process_ends_with_threads_at_work(tmp_path: Path):
    finished = subprocess.run(
        [sys.executable, "-c", AT_EXIT, str(tmp_path / "data.tfrecord")], capture_output=True, text=True, check=False
    )
    assert (finished.returncode, finished.stdout) == (0, "end\n"), finished.stderr


NO_ROOM = """
import resource, sys
import numpy, recordsmith as rs

schema = rs.Schema({"n": rs.Scalar("int64")})
with rs.RecordWriter(sys.argv[1]) as writer:
    writer.write_columns({"n": range(200_000)}, schema)
ds = rs.open(sys.argv[1], schema=schema)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (300 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    if sys.argv[2] == "verify":
        assert ds.verify(threads=500) == 200_000
    else:
        assert sum(len(batch["n"]) for batch in ds.batch(100, threads=500)) == 200_000
except (rs.RecordsmithError, RuntimeError, OSError, MemoryError) as error:
    print(repr(error))
# Whatever came of it, the process is alive and well.
assert sum(len(batch["n"]) for batch in ds.batch(100, threads=1)) == 200_000
"""


# Each thread asks for 64 MB: one too many is refused while there is memory left for all else.
LARGE_STACKS = ["sh", "-c", 'ulimit -s 65536 && exec "$@"', "sh"]


@pytest.mark.parametrize("way", ["batches", "verify"])
def test_threads_that_cannot_be_started(way: str, tmp_path: Path):
    finished = subprocess.run(
        [*LARGE_STACKS, sys.executable, "-c", NO_ROOM, str(tmp_path / "data.tfrecord"), way],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
