"""A header may claim any length. Nothing is allocated for it before it was compared with what is really there.

Each case runs in a process whose address space is limited to little more than it has at the start: taking the claimed
memory, even without touching it, would fail there.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.made_records import file_bytes, framed, header

LENGTHS = {
    "2^31": 2**31,
    "2^32": 2**32,
    "2^40": 2**40,
    "2^56": 2**56,
    "2^63": 2**63,
    "2^64-17": 2**64 - 17,  # with its framing it would be 2^64 - 1
    "2^64-16": 2**64 - 16,  # with its framing it would be 0
    "2^64-1": 2**64 - 1,
}
PAYLOAD = rs.encode_example({"n": 7})

# Reads the file given by its name in every way, and prints what came of it.
PROGRAM = """
import json, resource, sys
import numpy, recordsmith as rs
from recordsmith import errors
from recordsmith.records import index
from recordsmith.dataset import inference

path, spare, left_out = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
schema = rs.Schema({"n": rs.Scalar("int64")})
ways = {
    "reader": lambda: [len(payload) for payload in rs.RecordReader(path)],
    "reader without verification": lambda: list(rs.RecordReader(path, verify=False)),
    "rows": lambda: [row for row in rs.open(path, schema=schema)],
    "batches": lambda: [len(batch["n"]) for batch in rs.open(path, schema=schema).batch(10, threads=0)],
    "batches on threads": lambda: [len(batch["n"]) for batch in rs.open(path, schema=schema).batch(10, threads=2)],
    "index": lambda: index.build_index(path).records,
    "verify": lambda: rs.open(path).verify(1),
    "verify on threads": lambda: rs.open(path).verify(2),
    "inference": lambda: list(rs.infer_schema(path)),
}
# Whatever is set up once (modules, thread stacks) is set up before the limit.
warm = path + ".warm"
with rs.RecordWriter(warm) as writer:
    writer.write_example({"n": 1})
path, suspect = warm, path
for way in ways.values():
    way()
path = suspect
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + spare
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
outcomes = {}
for name, way in ways.items():
    if name in left_out:
        continue
    try:
        outcomes[name] = ["nothing", way()]
    except Exception as error:
        outcomes[name] = [type(error).__name__, str(error)]
print(json.dumps(outcomes))
"""
SPARE = 200 << 20


VERIFYING = ("verify", "verify on threads")


def outcomes(path: Path, *, left_out: Sequence[str] = ()) -> dict[str, list[Any]]:
    command = [sys.executable, "-c", PROGRAM, str(path), str(SPARE), *left_out]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    found: dict[str, list[Any]] = json.loads(finished.stdout)
    return found


@pytest.mark.parametrize("compression", ["plain", "gzip"])
@pytest.mark.parametrize("name", LENGTHS)
def test_a_claimed_length(name: str, compression: str, tmp_path: Path):
    path = tmp_path / "claims.tfrecord"
    content = framed(PAYLOAD) + header(LENGTHS[name]) + b"some bytes, but not that many"
    path.write_bytes(content if compression == "plain" else gzip.compress(content))
    expected = "TruncatedFileError" if LENGTHS[name] <= 2**56 else "CorruptRecordError"
    for way, (error, message) in outcomes(path).items():
        assert error == expected, (way, message)
        assert "record 1, byte" in message, way
        assert str(path) in message, way


@pytest.mark.parametrize("name", LENGTHS)
def test_a_claimed_length_in_a_pipe(name: str, tmp_path: Path):
    """How much is left in a pipe is not known: memory grows with what really arrives."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = framed(PAYLOAD) + header(LENGTHS[name]) + bytes(100_000)
    feeder = threading.Thread(target=pipe.write_bytes, args=(content,))
    feeder.start()
    reader = rs.RecordReader(pipe)
    assert next(reader) == PAYLOAD
    with pytest.raises((rs.TruncatedFileError, rs.CorruptRecordError), match="record 1"):
        next(reader)
    reader.close()
    feeder.join()


@pytest.mark.usefixtures("memory_limit")
@pytest.mark.parametrize("name", ["2^31", "2^40"])
def test_a_length_that_the_file_really_has_and_the_memory_does_not(name: str, tmp_path: Path):
    """A sparse file takes no room on the disk and is as long as it says. Not enough memory is an error like others."""
    path = tmp_path / "sparse.tfrecord"
    content = file_bytes([PAYLOAD]) + header(LENGTHS[name])
    try:
        with path.open("wb") as file:
            file.write(content)
            file.truncate(len(content) + LENGTHS[name] + 4)
    except OSError as error:
        pytest.skip(f"this file system holds no file of that size: {error}")
    # Verification takes no memory for it, but reading 2^40 bytes takes minutes.
    found = outcomes(path, left_out=VERIFYING if name == "2^40" else ())
    # The index needs the headers alone.
    assert found.pop("index") == ["nothing", 2]
    for way in found.keys() & VERIFYING:
        raised, message = found.pop(way)
        assert raised == "CorruptRecordError", message
        assert "record 1, byte" in message
    for way, (raised, message) in found.items():
        assert raised in ("MemoryError", "OSError"), (way, raised, message)
