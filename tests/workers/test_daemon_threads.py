"""A program may end while daemon threads are in the native core: it ends as if they were not there.

Python does not wait for such threads. Before 3.14 it ends them where they ask for the GIL again, by unwinding their
stacks, which C++ does not survive (cpp/bindings/python/gil.h).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image

# What a daemon thread does, again and again. `folder` has a plain and a compressed file of the same rows, a damaged
# file, and one of images.
WORK = {
    "records": "for _ in rs.RecordReader(folder / 'a.tfrecord.gz'): pass",
    "random_access": "dataset[numpy.random.default_rng(1).integers(0, len(dataset), 500)]",
    "payloads": "dataset.raw(numpy.arange(0, 1000, 3))",
    "batches": "for _ in dataset.batch(64, threads=2): pass",
    "loader": "for _ in dataset.shuffle(seed=1).batch(32): pass",
    "images": "for _ in images.images((32, 32)).batch(4): pass",
    "check": "rs.check(folder / 'a.tfrecord')",
    "repair": "rs.repair(folder / 'damaged.tfrecord', folder / f'repaired-{next(numbers)}.tfrecord')",
    "index": "build_index(folder / 'a.tfrecord')",
    "decode": "rs.decode_example(payload)",
    "encode": "rs.encode_example({'a': numpy.arange(50, dtype='int16'), 'b': [1.5, 2]})",
    "write_rows": "rs.RecordWriter(folder / f'new-{next(numbers)}.tfrecord').write_rows(rows, schema)",
    "refusals": "refused()",
}

PROGRAM = """
import itertools, sys, threading, time, numpy
from pathlib import Path
import recordsmith as rs
from recordsmith.records.index import build_index

folder, numbers = Path(sys.argv[1]), itertools.count(int(time.time() * 1000))
dataset = rs.open(folder / "a.tfrecord")
payload = next(iter(rs.RecordReader(folder / "a.tfrecord")))
rows = [{"n": numpy.int16(n), "x": numpy.arange(3, dtype="int8")} for n in range(200)]
schema = rs.Schema({"n": rs.Scalar("int64"), "x": rs.Tensor("float32", (None,))})
images = rs.open(folder / "images.tfrecord", schema=rs.Schema({"image": rs.Image()}))

def refused():
    try:
        rs.decode_example(b"not a record")
    except rs.CorruptRecordError:
        pass

def work():
    while True:
        WORK

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.15)
print("the end")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("daemons")
    for name in ("a.tfrecord", "a.tfrecord.gz"):
        with rs.RecordWriter(folder / name) as writer:
            for number in range(1000):
                writer.write_example({"n": number, "b": bytes(200)})
    damaged = bytearray((folder / "a.tfrecord").read_bytes())
    damaged[5000] ^= 1
    (folder / "damaged.tfrecord").write_bytes(damaged)
    with rs.RecordWriter(folder / "images.tfrecord") as writer:
        for shade in range(40):
            writer.write_example({"image": encode_image(np.full((64, 64, 3), shade, np.uint8), "jpeg")})
    return folder


def end_of(program: str, folder: Path) -> tuple[int, str, str]:
    command = [sys.executable, "-c", program, str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def test_other_threads_continue_after_the_main_thread(folder: Path) -> None:
    # Python's own pools take no more work once the main thread has ended, though other threads still run.
    program = """
import sys, threading, time, recordsmith as rs
dataset = rs.open(sys.argv[1] + "/a.tfrecord")

def train():
    threading.main_thread().join()
    print(sum(len(batch["n"]) for _ in range(2) for batch in dataset.shuffle(seed=1).batch(32)))

threading.Thread(target=train).start()
"""
    assert end_of(program, folder) == (0, "2000\n", "")


@pytest.mark.parametrize("work", WORK)
def test_the_program_ends_well_while_daemon_threads_work(folder: Path, work: str) -> None:
    assert end_of(PROGRAM.replace("WORK", WORK[work]), folder) == (0, "the end\n", "")


@pytest.mark.proof
@pytest.mark.parametrize("work", WORK)
def test_the_program_ends_well_again_and_again(folder: Path, work: str) -> None:
    assert {end_of(PROGRAM.replace("WORK", WORK[work]), folder) for _ in range(10)} == {(0, "the end\n", "")}
