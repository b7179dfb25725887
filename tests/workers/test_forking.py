"""A child process that continues its parent's iterators gets an error; what it starts itself works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import recordsmith as rs

# In a process of its own: forking one in which TensorFlow or JAX has threads is not safe.
PROGRAM = """
import json, os, signal, sys
import numpy as np
import recordsmith as rs

path, leave = sys.argv[1], sys.argv[2]
ds = rs.open(path)
reader = rs.RecordReader(path)
ragged = ds.map(lambda row: {"n": row["n"], "values": np.zeros(int(row["n"]) % 5)})
iterators = {
    "records": iter(reader),
    "rows": iter(ds),
    "slice": iter(ds[10:]),
    "batches in file order": iter(ds.batch(10, threads=2)),
    "shuffled": iter(ds.shuffle(seed=1).batch(10, threads=2)),
    "without threads": iter(ds.shuffle(seed=1).batch(10, threads=0)),
    "buffer": iter(ds.shuffle(seed=1, buffer=100).batch(10, threads=2)),
    "filtered": iter(ds.filter(bool).batch(10, threads=2)),
    "buckets": iter(ragged.bucket_batch("values", [2], size=4, threads=2)),
    "rows of a chain": iter(ds.shuffle(seed=1)),
}
for iterator in iterators.values():
    next(iterator)


def in_child(work):
    ours, theirs = os.pipe()
    child = os.fork()
    if child:
        os.close(theirs)
        with os.fdopen(ours) as pipe:
            said = pipe.read()
        return [said, os.waitpid(child, 0)[1]]
    signal.alarm(60)
    try:
        said = work()
    except rs.RecordsmithError as error:
        said = error.problem
    os.write(theirs, said.encode())
    if leave == "sys.exit":
        sys.exit(0)
    os._exit(0)


loaders = [chain.batch(100, threads=2) for chain in (ds, ds.shuffle(seed=1), ds.shuffle(seed=1, buffer=50))]
begun = [iter(loader) for loader in loaders]
for iterator in begun:
    next(iterator)


def own():
    return str([sum(len(batch["n"]) for batch in loader) for loader in loaders])


said = {name: in_child(lambda: str(next(iterator))) for name, iterator in iterators.items()}
rest = {name: sum(1 for _ in iterator) for name, iterator in iterators.items()}
loaders[2].plan.order._lock.acquire()  # as a thread that computes the order may hold it
print(json.dumps([said, rest, in_child(own)]), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("leave", ["os._exit", "sys.exit"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_iterators_stay_in_their_process(tmp_path: Path, compression: str | None, leave: str):
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path, compression=compression) as writer:
        writer.write_columns({"n": range(2000)}, rs.Schema({"n": rs.Scalar("int64")}))
    command = [sys.executable, "-c", PROGRAM, str(path), leave]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    said, rest, own = json.loads(done.stdout)
    for name, (message, status) in said.items():
        assert (name, status) == (name, 0)
        assert message == "This iterator was created in another process, before a fork, and cannot continue here."
    assert rest["records"] == rest["rows"] == rest["rows of a chain"] == 1999
    assert rest["shuffled"] == rest["batches in file order"] == 199
    assert own == ["[2000, 2000, 2000]", 0]
